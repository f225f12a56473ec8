"""fenchel evaluate: the format of its report."""

from __future__ import annotations

from tests.cli.shell import fenchel, json_of


def test_accuracy_is_reported_in_percent(at_home):
    share = json_of("evaluate", "text.fenchel", "train.svm")["accuracy"]
    assert f"{100.0 * share:.2f} %" in fenchel("evaluate", "text.fenchel", "train.svm").stdout
