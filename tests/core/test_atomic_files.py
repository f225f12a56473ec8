"""Files are replaced atomically, and input files are never overwritten."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from fenchel.core.atomic_files import THIS_HOST, checked_place, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="links, permissions and signals of POSIX systems")


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


@posix
def test_a_link_stays_a_link_and_permissions_are_kept(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    with replacing(tmp_path / "link.txt") as path:
        path.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == 0o640


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "file.txt").write_text("old")

    def fail():
        with replacing(tmp_path / "file.txt") as path:
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("file.txt", "old")]


@posix
def test_the_temporary_file_of_a_killed_process_is_removed_by_the_next_write(tmp_path):
    code = f"""
import os, signal
from fenchel.core.atomic_files import replacing
with replacing({str(tmp_path / "[a].txt")!r}) as path:
    path.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    [leftover] = tmp_path.iterdir()
    running = leftover.with_name(f".[a].txt.{THIS_HOST}-{os.getpid()}-abc.tmp")
    elsewhere = leftover.with_name(leftover.name.replace(THIS_HOST, "0" * len(THIS_HOST)))
    other = leftover.with_name(leftover.name.replace("[a]", "b"))
    for path in (running, elsewhere, other):
        path.touch()
    with replacing(tmp_path / "[a].txt") as path:
        path.write_text("whole")
    assert set(tmp_path.iterdir()) == {tmp_path / "[a].txt", running, elsewhere, other}


def test_an_error_while_writing_names_the_file_and_not_its_temporary_name(tmp_path):
    def fail(filename):
        with replacing(tmp_path / "file.txt") as path:
            raise OSError(errno.ENOSPC, "No space left on device", *([str(path)] if filename else []))

    for filename in (False, True):
        with pytest.raises(OSError, match="No space left") as caught:
            fail(filename)
        assert caught.value.filename == str(tmp_path / "file.txt")
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "file.txt"):
        (tmp_path / "other.txt").read_text()
    assert caught.value.filename == str(tmp_path / "other.txt")
