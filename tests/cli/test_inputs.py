"""The task that is guessed from the labels."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.cli import inputs


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classify"),
        ([0.0, 1.0, 1.0], "classify"),
        ([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], "classify"),
        ([1.0, 2.0, 3.0, 4.0], "regress"),
        ([0.5, 1.0] * 10, "regress"),
        (list(range(25)) * 10, "regress"),
    ],
)
def test_the_task_is_guessed_by_the_rule_in_the_help(y, task):
    assert inputs.guessed_task(np.array(y)) == task
