"""The structured problem and every solver that takes it: one optimum, bounds that never exceed it, and refusals that say why."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from fenchel.driver import solve
from fenchel.solvers import solvers
from fenchel.structured import Chain, Multiclass, Problem
from fenchel.structured.oracle import split_by_work
from tests.data import linear_classes

RNG = np.random.default_rng(3)
X, Y = linear_classes(RNG, 60, 4)
SAMPLE_WEIGHT = RNG.random(60) + 0.1
LINEAR = {"margin": fl.MulticlassHinge(), "likelihood": fl.Softmax()}


def structured(loss, regularizer=fl.L2(0.05), **options):
    return Problem(Multiclass(), X, Y, regularizer, loss, **options)


def takers(loss):
    problem = structured(loss)
    return [name for name, solver in solvers().items() if solver.refusal(problem) is None]


@pytest.fixture(scope="module")
def optimum():
    def best(loss, regularizer):
        found = fl.minimize(fl.Problem(X, Y, LINEAR[loss], regularizer, sample_weight=SAMPLE_WEIGHT), tol=1e-7, max_passes=20_000)
        return found.objective

    return {loss: best(loss, fl.L2(0.05)) for loss in LINEAR}


def test_who_takes_what():
    subgradient = {"pegasos", "adaptive", "proximal", "optimistic"}
    assert set(takers("margin")) >= {"block-frank-wolfe", *subgradient}
    assert set(takers("likelihood")) >= {"lbfgs", "fista", *subgradient}
    assert "lbfgs" not in takers("margin")
    assert "block-frank-wolfe" not in takers("likelihood")


@pytest.mark.parametrize(("loss", "solver"), [(loss, solver) for loss in LINEAR for solver in takers(loss)])
def test_every_solver_finds_the_optimum_and_bounds_it(loss, solver, optimum):
    problem = structured(loss, sample_weight=SAMPLE_WEIGHT)
    result = solve(problem, solver, tol=2e-3, max_passes=3000)
    assert result.converged, result
    slack = 1e-7 * optimum[loss]
    assert optimum[loss] - slack <= result.objective <= optimum[loss] + result.target + slack
    assert (result.history["dual_objective"] <= optimum[loss] + slack).all()
    assert problem.objective(result.w) == pytest.approx(result.objective)


@pytest.mark.parametrize("loss", LINEAR)
def test_l1_is_for_fista(loss):
    problem = structured(loss, fl.L1(0.02))
    if loss == "margin":
        with pytest.raises(ValueError, match="ridge"):
            fl.minimize(problem, "block-frank-wolfe")
        return
    result = fl.minimize(problem, tol=1e-5)
    reference = fl.minimize(fl.Problem(X, Y, LINEAR[loss], fl.L1(0.02)), tol=1e-7, max_passes=5000)
    assert result.solver == "fista"
    assert result.objective == pytest.approx(reference.objective, abs=1e-4)


def test_going_on_from_a_result_is_as_good_as_not_having_stopped():
    problem = structured("margin")
    first = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=4)
    on = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=4, start=first)
    whole = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=8)
    assert np.array_equal(on.iterate.w, whole.iterate.w)
    assert on.iterate.state["mu"] == pytest.approx(whole.iterate.state["mu"])


def test_a_dual_of_one_problem_is_no_start_for_another():
    """The dual variables of a hard problem, taken for those of an easy one, would prove a bound above its minimum."""
    hard = Problem(Multiclass(), X, np.roll(Y, 1), fl.L2(0.05), "margin")
    easy = structured("margin")
    result = solve(hard, "block-frank-wolfe", tol=0.0, max_passes=50)
    best = solve(easy, "block-frank-wolfe", tol=1e-6, max_passes=2000)
    again = solve(easy, "block-frank-wolfe", tol=0.0, max_passes=4, start=result)
    assert again.history["passes"][-1] == 4
    assert result.dual_objective > best.objective
    assert again.dual_objective <= best.objective + 1e-9


def test_the_same_seed_and_threads_give_the_same_result():
    problem = structured("margin")
    runs = [solve(problem, "optimistic", tol=0.0, max_passes=3, seed=7, threads=2) for _ in range(2)]
    assert np.array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_every_example_once(threads):
    work = np.random.default_rng(0).random(101) * 1e6
    split = split_by_work(work, threads)
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(101))
    loads = [work[part].sum() for part in split]
    assert max(loads) - min(loads) <= work.max()


def test_threads_change_nothing_but_rounding():
    one, two = (structured("likelihood").with_threads(threads) for threads in (1, 2))
    one.work = two.work = np.full(len(X), 1e6)
    w = np.random.default_rng(4).standard_normal(one.n)
    assert one.predict(w).loss == pytest.approx(two.predict(w).loss, rel=1e-12)
    assert one.predict(w).slope == pytest.approx(two.predict(w).slope, rel=1e-9)


def test_refusals_name_what_would_do():
    with pytest.raises(ValueError, match=r"sdca needs a problem with rows.*block-frank-wolfe"):
        fl.minimize(structured("margin"), "sdca")
    with pytest.raises(ValueError, match="block-frank-wolfe needs a structured problem"):
        fl.minimize(fl.Problem(X, Y, fl.MulticlassHinge(), fl.L2(1.0)), "block-frank-wolfe")
    with pytest.raises(ValueError, match="did you mean 'margin'"):
        structured("marign")
    with pytest.raises(TypeError, match="no structured model"):
        Problem("chain", X, Y, fl.L2(1.0))


def test_scores_that_are_no_numbers_read_no_foreign_memory():
    problem = Problem(Multiclass(), np.eye(3), ["a", "b", "a"], fl.L2(0.1))
    assert not np.isfinite(problem.objective(np.full(6, np.nan)))
    assert problem.decode(np.full(6, np.nan)) == ["a", "a", "a"]


def test_a_bound_is_never_below_the_smallest_penalty():
    problem = Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-9), "likelihood")
    result = solve(problem, "lbfgs", max_passes=1, tol=1e-9)
    assert (result.history["dual_objective"] >= 0.0).all()
