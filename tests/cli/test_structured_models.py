"""Commands for structures, and the sentence that names them to those who used another."""

from __future__ import annotations

import pytest

import fenchel as fl
from fenchel.cli import app
from tests.cli.shell import runner


@pytest.mark.slow
def test_commands_for_rows_name_the_command_for_structures(tagger, tmp_path):
    fl.save(tagger, tmp_path / "m.fenchel")
    (tmp_path / "a.svm").write_text("1 1:0.5\n0 1:0.1\n")
    for command in ("predict", "evaluate"):
        result = runner.invoke(app, [command, str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
        assert result.exit_code == 2
        assert "use fenchel tag" in result.stderr
    result = runner.invoke(app, ["rank", "predict", str(tmp_path / "m.fenchel"), str(tmp_path / "a.svm")])
    assert result.exit_code == 2
    assert "use fenchel tag" in result.stderr
