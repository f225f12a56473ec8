"""fenchel compare: the order of solvers, the certificate, and the results after an interrupt."""

from __future__ import annotations

from tests.cli.shell import fenchel, json_of


def test_compare_sorts_by_time_to_the_tolerance_and_lists_refused_solvers(at_home, tmp_path):
    facts = json_of("compare", "train.svm", "--solvers", "sdca,lbfgs,working-set", "--plot", tmp_path / "c.png")
    assert {run["solver"] for run in facts["runs"]} == {"sdca", "lbfgs"}
    assert "L1 or L1L2" in facts["refused"]["working-set"]
    assert all(run["converged"] for run in facts["runs"])
    seconds = [run["seconds"] for run in facts["runs"]]
    assert seconds == sorted(seconds)
    low = max(run["dual_objective"] for run in facts["runs"])
    assert all(run["objective"] >= low - 1e-12 for run in facts["runs"])


def test_an_interrupted_comparison_reports_the_finished_solvers(at_home, monkeypatch):
    from fenchel.driver.run import Run

    evaluate = Run.evaluate

    def interrupted(self, iterate):
        if self.solver == "fista":
            raise KeyboardInterrupt
        return evaluate(self, iterate)

    monkeypatch.setattr(Run, "evaluate", interrupted)
    words = ["compare", "train.svm", "--solvers", "newton,fista,sdca"]
    result = fenchel(*words, code=130)
    assert "newton" in result.stdout
    assert result.stderr == "Interrupted: fista, sdca did not finish.\n"
    facts = json_of(*words, code=130)
    assert ([run["solver"] for run in facts["runs"]], facts["interrupted"]) == (["newton"], True)
    assert fenchel("compare", "train.svm", "--solvers", "fista", code=130).stderr == "Interrupted.\n"


def test_a_comparison_is_certified_if_one_solver_is(at_home):
    limits = ["--tol", "1e-9", "--max-passes", "30"]
    result = fenchel("compare", "train.svm", "--solvers", "newton,pegasos", *limits)
    assert "a gap of at most 1e-09 of the objective at w = 0" in result.stdout
    assert "The intercept is penalised" in result.stdout
    assert "max passes" in result.stdout
    fenchel("compare", "train.svm", "--solvers", "pegasos", *limits, code=3)
