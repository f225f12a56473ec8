"""The table of skipped tests: no pattern is stale, most tests are run, and the docs list every reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.estimators.sklearn_own.skips import REPEATED, SKIPS, SLOW, matches

ROOT = Path(__file__).parents[3]
LEAST = 500  # a lower limit on the number of tests run; scikit-learn 1.9.1 has more that involve fenchel's estimators


@pytest.fixture(scope="module")
def tests():
    """Module, name and reason of every test, from a separate process, because a nested pytest would share its state."""
    code = "import json; from tests.estimators.sklearn_own.counts import collected; print('\\n' + json.dumps(collected()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("module", SKIPS)
def test_every_pattern_matches_a_test(tests, module):
    names = [name for home, name, _ in tests if home == module]
    patterns = [*SLOW.get(module, ()), *(pattern for group in SKIPS[module].values() for pattern in group)]
    assert names
    assert [pattern for pattern in patterns if not any(matches(name, pattern) for name in names)] == []


@pytest.mark.slow
def test_most_tests_are_run(tests):
    assert sum(reason is None for _, _, reason in tests) >= LEAST


def test_the_docs_list_every_reason():
    page = (ROOT / "docs" / "scikit-learn.md").read_text(encoding="utf-8")
    reasons = {REPEATED, *(reason for groups in SKIPS.values() for reason in groups)}
    assert [reason for reason in reasons if reason not in page] == []
