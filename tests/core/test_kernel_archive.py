"""Kernels that come with the package: what was compiled for something else, or is damaged, counts as absent and never raises."""

from __future__ import annotations

import os

import pytest

from fenchel.core import cpu_levels, kernel_archive
from fenchel.core.kernel_archive import KernelArchive, compiled_for, file_of, places_in, write_archive
from fenchel.core.stored_code import entry_name, packed

KEYS = [("signature", number) for number in range(5)]
SOURCES = "hash of the sources"


def code_of(key):
    return {"machine code": bytes(range(256)) * 20, "of": key}


@pytest.fixture
def levels(monkeypatch):
    """Two levels of processors, of which this computer has both."""
    found = {"high": frozenset(), "low": frozenset()}
    monkeypatch.setattr(cpu_levels, "LEVELS", dict.fromkeys(cpu_levels.LEVELS, found))
    monkeypatch.setattr(kernel_archive, "levels_of_host", lambda: list(found))
    return list(found)


def write(folder, level, changed=()):
    """Write the file of a level, compiled for what it should be but for what is changed."""
    kernels = {entry_name("kernel", key): packed(key, {**code_of(key), "level": level}) for key in KEYS}
    write_archive(file_of(folder, level), {**compiled_for(level, SOURCES), **dict(changed)}, kernels)


def test_every_kernel_is_found_by_its_key_alone(tmp_path, levels):
    write(tmp_path, "low")
    archive = KernelArchive.for_this_computer(tmp_path, SOURCES)
    for key in KEYS:
        assert archive.load("kernel", key) == {**code_of(key), "level": "low"}
    assert archive.load("kernel", ("signature", 5)) is None
    assert archive.load("another", KEYS[0]) is None


def test_the_highest_level_of_the_computer_is_taken(tmp_path, levels, monkeypatch):
    for level in levels:
        write(tmp_path, level)
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0])["level"] == "high"
    monkeypatch.setattr(kernel_archive, "levels_of_host", lambda: ["low"])
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0])["level"] == "low"
    monkeypatch.setattr(kernel_archive, "levels_of_host", list)
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0]) is None


@pytest.mark.parametrize("what", compiled_for("high", SOURCES))
def test_kernels_for_something_else_are_absent(tmp_path, levels, what):
    write(tmp_path, "high", {what: "another"})
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0]) is None
    write(tmp_path, "low")
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0])["level"] == "low"


def test_without_a_folder_there_are_none(tmp_path):
    assert KernelArchive.for_this_computer(tmp_path / "absent", SOURCES).load("kernel", KEYS[0]) is None


def test_a_truncated_file_has_the_kernels_before_its_end_or_none(tmp_path, levels):
    write(tmp_path, "high")
    path = file_of(tmp_path, "high")
    whole = path.read_bytes()
    places = places_in(path, compiled_for("high", SOURCES))
    for size in [*range(0, 400, 3), *range(400, len(whole), 23)]:
        path.write_bytes(whole[:size])
        archive = KernelArchive.for_this_computer(tmp_path, SOURCES)
        for key in KEYS:
            start, length = places[entry_name("kernel", key)]
            found, whole_code = archive.load("kernel", key), {**code_of(key), "level": "high"}
            assert found == whole_code if start + length <= size else found in (None, whole_code)


def test_a_file_with_any_byte_changed_gives_what_was_stored_or_nothing(tmp_path, levels):
    write(tmp_path, "high")
    path = file_of(tmp_path, "high")
    whole = path.read_bytes()
    lost = 0
    for place in range(0, len(whole), 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        archive = KernelArchive.for_this_computer(tmp_path, SOURCES)
        for key in KEYS:
            found = archive.load("kernel", key)
            assert found in (None, {**code_of(key), "level": "high"})
            lost += found is None
    assert lost > 0


def test_a_kernel_that_expands_beyond_all_bounds_is_absent(tmp_path, levels, monkeypatch):
    write(tmp_path, "high")
    monkeypatch.setattr(kernel_archive, "LARGEST_KERNEL", 1000)
    assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0]) is None


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_an_installation_that_cannot_be_written_to_is_read(tmp_path, levels):
    write(tmp_path, "high")
    file_of(tmp_path, "high").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert KernelArchive.for_this_computer(tmp_path, SOURCES).load("kernel", KEYS[0])["level"] == "high"
    finally:
        tmp_path.chmod(0o755)
