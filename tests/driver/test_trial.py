"""Trials of dual ascent before a solver that costs more: they go on while their gap falls fast enough, and nothing they found is lost"""

import numpy as np
import pytest

import fenchel as fl
from fenchel.driver import costs
from fenchel.driver.choice import FEWEST_PASSES, choose, stages_for
from fenchel.driver.trial import Stage, after_start, in_stages, is_promising
from fenchel.problems.result import History, Iterate


def rows(m, n, correlated=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    if correlated:
        X = X @ np.diag(10.0 ** np.linspace(-2, 2, n)) + 5.0
    return X, np.where(X @ rng.standard_normal(n) + rng.standard_normal(m) > 0.0, 1.0, -1.0)


def course(*gaps):
    history = History()
    for passes, gap in enumerate(gaps):
        history.append(passes=passes, accesses=0, seconds=0.0, objective=gap, dual_objective=0.0, gap=gap, nnz=0)
    return history


def test_a_trial_that_converges_fast_is_the_solver_of_the_result():
    X, y = rows(500, 600)
    problem = fl.Problem(X, y, fl.SquaredHinge(), fl.L2(100.0))
    assert named(problem) == ["sdca", "newton", "interior-point"]
    assert named(problem.replace(regularizer=fl.L2(1e-4))) == ["accelerated-sdca", "newton", "interior-point"]
    result = fl.minimize(problem)
    assert (result.solver, result.solvers) == ("sdca", (("sdca", 0.0),))
    assert result.converged
    assert result.passes < 30


def test_a_trial_that_is_slow_hands_over_and_passes_add_up(monkeypatch):
    monkeypatch.setattr(costs, "interior_point", lambda problem: 0.0)  # Newton's method may take no longer than its fewest passes
    monkeypatch.setattr("fenchel.driver.choice.NEWTON_PASSES", 6.0)
    X, y = rows(1000, 200, correlated=True)
    problem = fl.Problem(X, y, fl.SquaredHinge(), fl.L2(1e-6))
    result, alone = fl.minimize(problem, tol=1e-6), fl.minimize(problem, "interior-point", tol=1e-6)
    assert result.converged
    assert result.history["passes"][1] == 1.0, "that of the trial counts"
    names, begun = zip(*result.solvers, strict=True)
    assert names == ("accelerated-sdca", "newton", "interior-point")
    assert begun[0] == 0.0
    assert begun[1] >= FEWEST_PASSES
    assert begun[2] >= begun[1] + 6.0
    assert alone.solvers == (("interior-point", 0.0),)
    passes = result.history["passes"]
    assert (np.diff(passes) > 0)[~np.isin(passes[1:], begun)].all(), "Newton's method evaluates its start again, with its own dual point"
    assert (np.diff(passes) >= 0).all()
    assert result.objective == pytest.approx(alone.objective, abs=2 * result.target)


def test_a_result_can_be_continued_whichever_solver_it_ended_with():
    X, y = rows(300, 200, correlated=True)
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-6))
    for passes in (1, 2, 20):
        with pytest.warns(match="max_passes"):
            begun = fl.minimize(problem, tol=1e-6, max_passes=passes)
        assert fl.minimize(problem, tol=1e-6, start=begun).converged


def test_a_run_from_an_earlier_result_begins_with_the_stage_that_ended_it():
    X, y = rows(1000, 200, correlated=True)
    problem = fl.Problem(X, y, fl.SquaredHinge(), fl.L2(1e-6))
    stages = stages_for(problem, Stage(*choose(problem)))
    found = fl.minimize(problem, tol=1e-3)
    assert found.solver == "newton"
    assert [stage.solver for stage in after_start(stages, found, problem)] == ["newton", "interior-point"]
    assert after_start(stages, None, problem) == after_start(stages, found.w, problem) == stages
    other = problem.replace(regularizer=fl.L2(1e-5))
    assert after_start(stages, found, other) == stages, "the point is that of another problem"
    again = fl.minimize(problem, tol=1e-6, start=found)
    assert again.solvers[0] == ("newton", 0.0)
    assert again.converged


def test_a_start_for_another_penalty_is_tried_by_the_same_stages():
    X, y = rows(500, 600)
    problem = fl.Problem(X, y, fl.SquaredHinge(), fl.L2(100.0))
    found = fl.minimize(problem.replace(regularizer=fl.L2(10.0)), start=fl.minimize(problem))
    assert (found.solver, found.converged) == ("sdca", True)


def named(problem):
    return [stage.solver for stage in stages_for(problem, Stage(*choose(problem)))]


@pytest.mark.slow
def test_dual_ascent_that_is_slow_is_followed_by_a_second_order_method():
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 2.0, (9000, 12)) * 10.0 ** rng.integers(-1, 4, 12)
    y = X @ rng.standard_normal(12) * 0.01 + 5.0 * rng.standard_normal(9000)
    for loss in (fl.Huber(1.35), fl.Absolute()):
        problem = fl.Problem(X, y, loss, fl.L2(1e-4), intercept="free")
        assert named(problem)[-1] == "interior-point"
        result = fl.minimize(problem)
        assert result.converged
        assert result.solver == "interior-point"


@pytest.mark.slow
def test_wide_dense_problems_try_dual_ascent_before_they_multiply_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 1500))
    problem = fl.Problem(X, np.sign(X[:, 0]), fl.SquaredHinge(), fl.L2(1e-3))
    assert named(problem) == ["accelerated-sdca", "newton", "interior-point"]
    assert fl.minimize(problem).solver == "accelerated-sdca"
    assert named(fl.Problem(X[:100], np.sign(X[:100, 0]), fl.SquaredHinge(), fl.L2(1e-3))) == ["newton", "interior-point"]


@pytest.mark.parametrize("regularizer", [fl.L1L2(l1=0.1, l2=0.1), fl.Box(0.0, 1.0, fl.L2(0.1))], ids=repr)
def test_other_penalties_than_ridge_have_no_trial(regularizer):
    X, y = rows(50, 5)
    assert len(named(fl.Problem(X, y, fl.Hinge(), regularizer))) == 1


def test_a_gap_that_does_not_fall_ends_a_trial():
    stage = Stage("sdca", {}, most=30.0)
    assert is_promising(course(1.0), 1e-3, stage, 0.0)
    assert is_promising(course(1.0, 0.9), 1e-3, stage, 0.0), "the first pass tells nothing"
    assert not is_promising(course(1.0, 0.9, 0.9), 1e-3, stage, 0.0)
    assert not is_promising(course(1.0, 0.9, 0.89), 1e-3, stage, 0.0)
    assert is_promising(course(1.0, 0.9, 0.1), 1e-3, stage, 0.0)
    assert is_promising(course(1.0, 0.9, 1e-4), 1e-3, stage, 0.0), "it is done"
    later = course(1.0, 0.9, 0.9, 0.9, 0.5, 0.2, 0.1)
    assert is_promising(later, 1e-3, stage, 3.0), "passes of the stage before do not count"
    assert is_promising(later, 1e-9, stage._replace(least=4.0), 3.0), "too early to tell"


def test_each_solver_goes_on_where_the_one_before_ended():
    def counting(start, count, status):
        for k in range(1, count + 1):
            yield Iterate(np.full(1, start + k), passes=float(k), accesses=10 * k)
        return status

    stages = [Stage("sdca", {}), Stage("fista", {}), Stage("newton", {})]
    begun, asked = [], []
    answers = iter([True, False, True, True])

    def begin(stage, last):
        begun.append((stage.solver, None if last is None else last.w[0]))
        return counting(100.0 * len(begun), 2, f"{stage.solver} ended")

    def goes_on(stage, before):
        asked.append((stage.solver, before))
        return next(answers)

    statuses = []

    def to_the_end():
        statuses.append((yield from in_stages(stages, begin, goes_on)))

    found = list(to_the_end())
    assert statuses == ["newton ended"], "a stage that ends by itself is followed by the next"
    assert begun == [("sdca", None), ("fista", 102.0), ("newton", 202.0)]
    assert asked == [("sdca", 0.0), ("sdca", 0.0), ("fista", 2.0), ("fista", 2.0)], "the last stage is not judged"
    assert [iterate.passes for iterate in found] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert [iterate.accesses for iterate in found] == [10, 20, 30, 40, 50, 60]


def test_newtons_method_waits_for_a_trial_where_second_derivatives_cost_many_passes():
    X = np.random.default_rng(0).standard_normal((4000, 260))
    y = np.sign(X[:, 0] + 0.1)
    wide = fl.Problem(X, y, fl.Logistic(), fl.L2(1e-2))
    assert named(wide) == ["sdca", "newton"]
    assert named(wide.replace(regularizer=fl.L2(1e-6))) == ["accelerated-sdca", "newton"]
    assert named(fl.Problem(X[:, :50], y, fl.Logistic(), fl.L2(1e-2))) == ["newton"]
    assert named(wide.replace(loss=fl.Squared())) == ["newton"]  # one step
    result = fl.minimize(wide, tol=1e-6)
    assert result.converged
    assert result.solvers[0] == ("sdca", 0.0)
