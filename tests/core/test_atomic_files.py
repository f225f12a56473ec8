"""Files are replaced atomically, and input files are never overwritten."""

from __future__ import annotations

import os

import pytest

from fenchel.core.atomic_files import checked_place, replacing


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes need a POSIX system")
def test_a_named_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="not a regular file"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_an_input_file_is_not_overwritten_under_any_of_its_names(tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    (tmp_path / "link").symlink_to(tmp_path / "data.csv")
    for name in ("data.csv", "./data.csv", "link"):
        with pytest.raises(FileExistsError, match="is an input file"):
            checked_place(tmp_path / name, tmp_path / "data.csv")
