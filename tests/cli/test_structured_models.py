"""The error message for a structured model given to another command names the right command."""

from __future__ import annotations

import pytest

import fenchel as fl
from fenchel.cli import app
from tests.cli.shell import runner


@pytest.mark.slow
def test_other_commands_name_the_command_for_a_structured_model(tagger, tmp_path):
    fl.save(tagger, tmp_path / "m.fenchel")
    (tmp_path / "a.svm").write_text("1 1:0.5\n0 1:0.1\n")
    for command in ("predict", "evaluate"):
        result = runner.invoke(app, [command, str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
        assert result.exit_code == 2
        assert "use fenchel tag" in result.stderr
    result = runner.invoke(app, ["rank", "predict", str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
    assert result.exit_code == 2
    assert "use fenchel tag" in result.stderr
