"""Runs of the papers' experiments: their files, interruptions, and verdicts that can be no."""

from __future__ import annotations

import csv
import functools
import json
from dataclasses import replace

import pytest

from fenchel.core.errors import InputError
from fenchel.experiments import course
from fenchel.experiments.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Part, Table, judged
from fenchel.experiments.papers_page import write_page
from fenchel.experiments.reproduction import experiments, reproduce
from fenchel.plots.panel_figure import Curve, Panel
from fenchel.regularizers import L2

# ---- a small experiment ----


class Counted:
    """Parts that count how often they are measured, one of which may be interrupted."""

    def __init__(self) -> None:
        self.calls = []
        self.interrupted = ""

    def measure(self, name):
        self.calls.append(name)
        if name == self.interrupted:
            raise KeyboardInterrupt
        return [{"m": k, "seconds": k / 3.0, "method": name} for k in (1, 2)]

    def parts(self, quick):
        return [Part(name, functools.partial(self.measure, name)) for name in "abc"]


@pytest.fixture
def counted():
    return Counted()


@pytest.fixture
def small(counted):
    claims = (
        Claim(
            "More rows take longer.",
            "section 1",
            "Seconds grow.",
            lambda rows: judged({"yes": rows["seconds"][1] > rows["seconds"][0]}, {}),
        ),
        Claim(
            "Nothing does.",
            "section 2",
            "Never.",
            lambda rows: judged({"no": False}, {"seconds": float(rows["seconds"].sum())}),
            "We looked.",
        ),
    )

    def panels(rows):
        return [Panel("times", "m", "seconds", [Curve(name, (r := rows.where(method=name))["m"], r["seconds"]) for name in "abc"])]

    return Experiment("small", "A small one", "Figure 0", "pgs", "Nothing.", counted.parts, claims, panels)


def test_data_figure_and_verdicts_are_written(small, tmp_path):
    found = reproduce(small, tmp_path, quick=True)
    folder = tmp_path / "small"
    assert sorted(path.name for path in folder.iterdir()) == ["figure.png", "figure.svg", "progress.json", "rows.csv", "verdicts.json"]
    assert json.loads((folder / "verdicts.json").read_text()) == found
    assert [claim["verdict"] for claim in found["claims"]] == [HOLDS, FAILS]
    assert found["claims"][1]["numbers"] == {"seconds": 3.0}
    assert found["claims"][1]["investigation"] == "We looked."
    assert "investigation" not in found["claims"][0]
    with open(folder / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["part"], row["m"]) for row in rows] == [(name, str(m)) for name in "abc" for m in (1, 2)]
    assert (folder / "figure.svg").read_text().startswith("<?xml")


def test_an_interrupted_run_goes_on_where_it_was(small, counted, tmp_path):
    counted.interrupted = "b"
    with pytest.raises(KeyboardInterrupt):
        reproduce(small, tmp_path, quick=True)
    counted.interrupted = ""
    whole = reproduce(small, tmp_path, quick=True)
    assert counted.calls == ["a", "b", "b", "c"]
    again = reproduce(small, tmp_path, quick=True)
    assert counted.calls == ["a", "b", "b", "c"]
    assert again == whole


def test_verdicts_depend_on_the_file_alone(small, tmp_path):
    reproduce(small, tmp_path, quick=True)
    rows = tmp_path / "small" / "rows.csv"
    rows.write_text(rows.read_text().replace("0.666667", "0.1"))
    assert reproduce(small, tmp_path, quick=True)["claims"][0]["verdict"] == FAILS


def test_quick_and_full_runs_do_not_mix(small, tmp_path):
    reproduce(small, tmp_path, quick=True)
    with pytest.raises(InputError, match="has a quick run of small"):
        reproduce(small, tmp_path, quick=False)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"quick": true}', '{"quick": true, "seconds of the parts": [1]}', '{"seconds of the parts": {}}']
)
def test_a_damaged_record_of_progress_is_reported(small, tmp_path, text):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "progress.json").write_text(text)
    with pytest.raises(InputError, match="is damaged: remove the folder"):
        reproduce(small, tmp_path, quick=True)


def test_the_page_has_every_claim_and_verdict(small, tmp_path, monkeypatch):
    monkeypatch.setattr("fenchel.experiments.papers_page.experiments", lambda: {"small": small})
    reproduce(replace(small, table=lambda rows: Table(["data", "printed / ours"], [["a", "1 / 2"]])), tmp_path / "out", quick=True)
    write_page(tmp_path / "page.md", tmp_path / "out")
    page = (tmp_path / "page.md").read_text()
    for text in ("> More rows take longer.", "**Holds.** Seconds grow.", "**Does not hold.** Never.", "We looked.", "| a | 1 / 2 |"):
        assert text in page
    assert "(out/small/figure.png)" in page
    assert "| [small](#small) | Figure 0: A small one | 1 | 0 | 1 |" in page


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no experiments to write a page of"):
        write_page(tmp_path / "page.md", tmp_path)


# ---- the papers' ----


def test_names_are_distinct_and_claims_say_where_they_stand():
    known = experiments()
    assert len(known) == 22
    for name, experiment in known.items():
        assert experiment.name == name
        assert experiment.claims
        for claim in experiment.claims:
            assert claim.sentence.endswith((".", ")"))
            assert claim.source
            assert claim.rule.endswith(".")
        for quick in (True, False):
            names = [part.name for part in experiment.parts(quick)] if not (name.startswith("pgs") and not quick) else ["one"]
            assert len(set(names)) == len(names) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments())
def test_every_experiment_runs_quickly_and_is_judged(name, tmp_path, monkeypatch):
    monkeypatch.delenv("FENCHEL_DATA", raising=False)
    found = reproduce(experiments()[name], tmp_path, quick=True)
    assert len(found["claims"]) == len(experiments()[name].claims)
    for claim in found["claims"]:
        assert claim["verdict"] in (HOLDS, IN_PART, FAILS)
        assert claim["numbers"]
    for ending in ("png", "svg"):
        assert (tmp_path / name / f"figure.{ending}").stat().st_size > 1000


def with_large_steps(solver, factor):
    """The points of a solver whose steps are too large by a factor, for solvers with steps of 1/(λt)."""
    right = course.points

    def points(problem, name, most, **options):
        if name != solver:
            return right(problem, name, most, **options)
        taken = problem.replace(regularizer=L2(problem.regularizer.l2 / factor))
        return [point._replace(objective=problem.objective(point.w)) for point in right(taken, name, most, **options)]

    return points


def with_rate(solver, rate):
    """The points of a solver with another step size than the theorem's."""
    right = course.points

    def points(problem, name, most, **options):
        if name == solver:
            options = {name: value for name, value in options.items() if name not in ("norm", "steps")} | {"eta": rate}
        return right(problem, name, most, **options)

    return points


BROKEN = {  # experiment, the module that calls the solver, its broken points, and the claim
    "SMIDAS": ("l1-theory", "l1_paper.expected_bounds", with_rate("smidas", 1e4), "E[P(w_o)]"),
    "Proximal": ("prox-table1", "prox_paper.online_runs", with_large_steps("optimistic", 1e4), "… while consistently"),
    "PGS": ("pgs-theory", "pgs_paper.guarantees", with_large_steps("pgs", 1e4), "With probability of at least"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_solver_turns_a_verdict(case, tmp_path, monkeypatch):
    monkeypatch.delenv("FENCHEL_DATA", raising=False)
    name, module, points, claim = BROKEN[case]

    def verdict(out):
        return next(c["verdict"] for c in reproduce(experiments()[name], out, quick=True)["claims"] if c["claim"].startswith(claim))

    right = verdict(tmp_path / "right")
    monkeypatch.setattr(f"fenchel.experiments.{module}.points", points)
    assert right == HOLDS
    assert verdict(tmp_path / "wrong") != HOLDS
