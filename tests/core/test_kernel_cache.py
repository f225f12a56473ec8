"""The cache of machine code: damaged and foreign files count as absent, and nothing that goes wrong with it stops a fit."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fenchel.core import kernel_cache
from fenchel.core.compiled import JIT
from fenchel.core.kernel_cache import KernelFiles
from fenchel.core.stored_code import CHECKSUM_BYTES

posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions of POSIX systems")
KEY, DATA = ("signature", 1), {"code": b"machine code" * 50}


@pytest.fixture
def files(tmp_path):
    made = KernelFiles(tmp_path, "kernel")
    made.save(KEY, DATA)
    return made


def test_what_is_saved_is_loaded_by_its_key_alone(files):
    assert files.load(KEY) == DATA
    assert files.load(("signature", 2)) is None
    assert KernelFiles(files.directory, "another").load(KEY) is None


def test_two_keys_with_the_same_file_name_are_distinguished(files, monkeypatch):
    monkeypatch.setattr(KernelFiles, "path", lambda self, key: self.directory / "same.nbc")
    files.save(("other",), "other code")
    assert files.load(KEY) is None
    assert files.load(("other",)) == "other code"


@pytest.mark.parametrize("size", [0, 1, CHECKSUM_BYTES - 1, CHECKSUM_BYTES, CHECKSUM_BYTES + 10, -1])
def test_a_truncated_file_is_absent_and_can_be_replaced(files, size):
    path = files.path(KEY)
    path.write_bytes(path.read_bytes()[:size])
    assert files.load(KEY) is None
    files.save(KEY, DATA)
    assert files.load(KEY) == DATA


def test_a_file_with_any_byte_changed_is_absent(files):
    path = files.path(KEY)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert files.load(KEY) is None


@posix
def test_a_file_of_another_user_or_behind_a_link_is_absent(files, monkeypatch):
    path = files.path(KEY)
    moved = path.with_name("elsewhere")
    path.rename(moved)
    path.symlink_to(moved)
    assert files.load(KEY) is None
    path.unlink()
    moved.rename(path)
    assert files.load(KEY) == DATA
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert files.load(KEY) is None


def test_a_failed_save_gives_one_warning_and_leaves_nothing(files, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    kernel_cache._warn_once.cache_clear()
    monkeypatch.setattr(Path, "write_bytes", full)
    with caplog.at_level(logging.WARNING, "fenchel"):
        for number in range(3):
            files.save(("new", number), DATA)
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text
    assert list(files.directory.iterdir()) == [files.path(KEY)]


@posix
def test_a_directory_of_another_user_is_not_used(tmp_path, monkeypatch, caplog):
    foreign, home = tmp_path / "foreign", tmp_path / "home"
    (foreign / "kernels").mkdir(parents=True)
    monkeypatch.setenv("FENCHEL_CACHE", str(foreign))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    inode = (foreign / "kernels").stat().st_ino
    monkeypatch.setattr(kernel_cache, "_is_own", lambda status: status.st_ino != inode)
    kernel_cache.cache_directory.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "fenchel"):
            found = kernel_cache.cache_directory()
    finally:
        kernel_cache.cache_directory.cache_clear()
    assert found is not None
    assert found.is_relative_to(home)
    assert len(caplog.records) == 1
    assert "belongs to another user" in caplog.text


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_can_write_to_is_refused(tmp_path, monkeypatch, caplog, mode):
    shared, home = tmp_path / "shared", tmp_path / "home"
    (shared / "kernels").mkdir(parents=True)
    (shared / "kernels").chmod(mode)
    monkeypatch.setenv("FENCHEL_CACHE", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    kernel_cache.cache_directory.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "fenchel"):
            found = kernel_cache.cache_directory()
    finally:
        kernel_cache.cache_directory.cache_clear()
    assert found is not None
    assert found.is_relative_to(home)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (found, found.parent)] == [0o700, 0o700]
    assert len(caplog.records) == 1
    assert "other users can write to it" in caplog.text


OBJECTIVE = """
import numpy as np, fenchel as fl
problem = fl.Problem(np.eye(2), np.array([1.0, 2.0]), fl.Squared(), fl.L2(1.0))
print(problem.objective(np.zeros(2)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_a_fit_survives_a_cache_whose_files_are_all_damaged(tmp_path):
    def run():
        environment = {**os.environ, "FENCHEL_CACHE": str(tmp_path)}
        return subprocess.run([sys.executable, "-c", OBJECTIVE], env=environment, capture_output=True, text=True, check=True).stdout

    expected = run()
    damaged = {path: path.read_bytes()[: -1 - number] for number, path in enumerate(tmp_path.rglob("*.nbc"))}
    assert damaged
    for path, part in damaged.items():
        path.write_bytes(part)
    assert run() == expected
    assert all(path.read_bytes() != part for path, part in damaged.items()), "damaged files are written again"
