"""fenchel evaluate: the words of its report."""

from __future__ import annotations

from tests.cli.shell import fenchel, told


def test_accuracy_is_told_in_percent(at_home):
    share = told("evaluate", "text.fenchel", "train.svm")["accuracy"]
    assert f"{100.0 * share:.2f} %" in fenchel("evaluate", "text.fenchel", "train.svm").stdout
