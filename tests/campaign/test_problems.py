"""A fixed part of the campaign of random problems, as plain Python: compiling every combination would take hours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fenchel.losses import losses
from fenchel.solvers import solvers
from tests.campaign.problems import REGULARIZERS, combinations

SCRIPT = """
from tests.campaign.problems import case, combinations, judge
known = combinations()
chosen = [case(0, 16 * k + k % 16, known) for k in range(90)]
found = [judge(one) for one in chosen if one is not None]
assert sum(proven for proven, _ in found) > 40
print([failures for _, failures in found if failures])
"""


@pytest.mark.slow
def test_no_bound_is_false_and_nothing_fails():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_every_solver_loss_and_regularizer_is_drawn():
    known = combinations()
    assert {found.solver for found in known} == {*solvers()} - {"block-frank-wolfe"}, "which takes structured problems only"
    assert {found.loss for found in known} == {*losses()}
    assert {found.regularizer for found in known} == {*REGULARIZERS}
