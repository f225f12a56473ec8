"""The numbers of scikit-learn's tests that are run against fenchel's estimators, and that are skipped for each reason

python -m tests.estimators.sklearn_own.counts
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest


class Borrowed(NamedTuple):
    """One test with its parameters; ``reason`` is None if it is run."""

    module: str
    name: str
    reason: str | None


class Collector:
    def __init__(self) -> None:
        self.tests: list[Borrowed] = []
        self.elsewhere = 0

    def pytest_deselected(self, items):
        self.elsewhere += len(items)

    def pytest_collection_finish(self, session):
        for item in session.items:
            mark = item.get_closest_marker("skip")
            self.tests.append(Borrowed(item.path.stem, item.name, mark.kwargs.get("reason") if mark else None))


def collected() -> list[Borrowed]:
    """All of scikit-learn's tests that involve fenchel's estimators."""
    collector = Collector()
    folder = Path(__file__).parent
    files = [str(file) for file in sorted(folder.glob("test_*.py")) if file.stem != "test_table"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files], plugins=[collector])
    assert status == 0, output.getvalue()
    return collector.tests


def main() -> None:
    tests = collected()
    for reason, count in Counter(test.reason for test in tests).most_common():
        print(f"{count:5}  {reason or 'run'}")
    for module, count in Counter(test.module for test in tests if test.reason is None).items():
        print(f"{count:5}  run of {module}")


if __name__ == "__main__":
    main()
