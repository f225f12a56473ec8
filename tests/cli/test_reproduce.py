"""``fenchel reproduce``: its list, its files, its page and its error messages."""

from __future__ import annotations

import json

import pytest

from fenchel.cli import app
from fenchel.experiments import reproduction
from fenchel.experiments.experiment import HOLDS, Claim, Experiment, Part, judged
from fenchel.plots.panel_figure import Curve, Panel
from tests.cli.shell import fenchel, json_of, runner

pytest.importorskip("matplotlib")


@pytest.fixture
def small(monkeypatch):
    """A single experiment that takes no time."""
    claim = Claim("One is one.", "section 1", "Always.", lambda rows: judged({"one": rows["x"][0] == 1}, {"x": 1}))
    experiment = Experiment(
        "small",
        "A small one",
        "Figure 0",
        "pgs",
        "Nothing.",
        lambda quick: [Part("all", lambda: [{"x": 1, "quick": str(quick)}])],
        (claim,),
        lambda rows: [Panel("a", "x", "x", [Curve("x", rows["x"], rows["x"])])],
    )
    monkeypatch.setattr(reproduction, "experiments", lambda: {"small": experiment})
    monkeypatch.setattr("fenchel.experiments.papers_page.experiments", lambda: {"small": experiment})


def test_all_experiments_are_listed():
    listed = json_of("reproduce", "--list", "--json")
    assert [one["experiment"] for one in listed] == list(reproduction.experiments())
    assert fenchel("reproduce", "--list").output.splitlines()[0].startswith("pgs-fig5 ")


@pytest.mark.parametrize("words", [("small",), ("--all",), ("small", "small")])
def test_verdicts_are_printed_and_written(small, tmp_path, words):
    output = fenchel("reproduce", *words, "--quick", "--out", str(tmp_path / "out"), "--page", str(tmp_path / "page.md")).output
    assert f"{HOLDS:14s}One is one." in output
    verdicts = json.loads((tmp_path / "out" / "small" / "verdicts.json").read_text())
    assert verdicts["command"] == "fenchel reproduce small --quick --out DIR"
    assert "(out/small/figure.png)" in (tmp_path / "page.md").read_text()


def test_json_is_what_is_written(small, tmp_path):
    (found,) = json_of("reproduce", "small", "--quick", "--out", str(tmp_path), "--json")
    assert found == json.loads((tmp_path / "small" / "verdicts.json").read_text())


def test_quiet_prints_nothing(small, tmp_path):
    assert fenchel("reproduce", "small", "--quick", "--out", str(tmp_path), "--quiet").output == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "No experiment was named"),
        (("small",), "A folder is missing: give --out DIR"),
        (("smal", "--out", "x"), "smal"),
    ],
)
def test_what_is_missing_is_said(small, words, message):
    result = runner.invoke(app, ["reproduce", *words])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
