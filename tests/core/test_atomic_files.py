"""Files are replaced whole, and never those that are read."""

from __future__ import annotations

import os

import pytest

from fenchel.core.atomic_files import checked_place, replacing


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX systems")
def test_what_is_no_ordinary_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="no ordinary file"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_what_is_read_is_not_overwritten_by_any_name(tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    (tmp_path / "link").symlink_to(tmp_path / "data.csv")
    for name in ("data.csv", "./data.csv", "link"):
        with pytest.raises(FileExistsError, match="is the file to be read"):
            checked_place(tmp_path / name, tmp_path / "data.csv")
