"""Hostile files: a fixed part of the campaign, and its own detection of failures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.campaign import file_cases, file_worker, files

SEED, CASES = 15, 500


def test_hostile_files_are_read_or_refused(tmp_path):
    failures = []
    for k in range(CASES):
        if file_cases.case(SEED, k).kind != "structured model":  # whose kernels take long to compile
            kind, failure = file_worker.failure_of(SEED, k, tmp_path)
            failures += [(k, kind, failure)] if failure else []
    assert failures == []


def test_a_case_is_determined_by_its_seed_and_number():
    assert file_cases.case(3, 40).contents == file_cases.case(3, 40).contents
    assert len({file_cases.case(3, k).contents for k in range(50)}) > 40


def raising(path: Path) -> None:
    raise ZeroDivisionError(path.name)


def allocating(path: Path) -> None:
    np.ones(2 * file_cases.SLACK // 8).sum()


@pytest.mark.parametrize(("use", "failure"), [(raising, "raw errors"), (allocating, "over the memory bound"), (Path.read_bytes, None)])
def test_failures_are_detected(tmp_path, monkeypatch, use, failure):
    monkeypatch.setattr(file_worker, "case", lambda seed, k: file_cases.Case("mine", "a", b"1", use))
    _, found = file_worker.failure_of(0, 0, tmp_path)
    assert (found or {}).get("failure") == failure


def test_reproducers_are_kept(tmp_path):
    entry = {"case": 7, "failure": "raw errors", "error": "ZeroDivisionError"}
    folder = files.kept(SEED, entry, tmp_path)
    made = file_cases.case(SEED, 7)
    assert (folder / made.name).read_bytes() == made.contents
    assert f"case({SEED}, 7)" in (folder / "error.txt").read_text()
