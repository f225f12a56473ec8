"""The structured problem and its solvers: the same optimum, valid lower bounds, and refusals with reasons."""

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


def supporting_solvers(loss):
    problem = structured(loss)
    return [name for name, solver in solvers().items() if solver.refusal(problem) is None]


@pytest.fixture(scope="module")
def optimum():
    def best(loss, regularizer):
        found = fl.minimize(fl.Problem(X, Y, LINEAR[loss], regularizer, sample_weight=SAMPLE_WEIGHT), tol=1e-7, max_passes=20_000)
        return found.objective

    return {loss: best(loss, fl.L2(0.05)) for loss in LINEAR}


def test_which_solvers_support_which_loss():
    subgradient = {"pegasos", "adaptive", "proximal", "optimistic"}
    assert set(supporting_solvers("margin")) >= {"block-frank-wolfe", *subgradient}
    assert set(supporting_solvers("likelihood")) >= {"lbfgs", "fista", *subgradient}
    assert "lbfgs" not in supporting_solvers("margin")
    assert "block-frank-wolfe" not in supporting_solvers("likelihood")


@pytest.mark.parametrize(("loss", "solver"), [(loss, solver) for loss in LINEAR for solver in supporting_solvers(loss)])
def test_every_solver_finds_the_optimum_with_valid_lower_bounds(loss, solver, optimum):
    problem = structured(loss, sample_weight=SAMPLE_WEIGHT)
    result = solve(problem, solver, tol=2e-3, max_passes=3000)
    assert result.converged, result
    slack = 1e-7 * optimum[loss]
    assert optimum[loss] - slack <= result.objective <= optimum[loss] + result.target + slack
    assert (result.history["dual_objective"] <= optimum[loss] + slack).all()
    assert problem.objective(result.w) == pytest.approx(result.objective)


@pytest.mark.parametrize("loss", LINEAR)
def test_l1_with_the_likelihood_is_solved_by_fista(loss):
    problem = structured(loss, fl.L1(0.02))
    if loss == "margin":
        with pytest.raises(ValueError, match="ridge"):
            fl.minimize(problem, "block-frank-wolfe")
        return
    result = fl.minimize(problem, tol=1e-5)
    reference = fl.minimize(fl.Problem(X, Y, LINEAR[loss], fl.L1(0.02)), tol=1e-7, max_passes=5000)
    assert result.solver == "fista"
    assert result.objective == pytest.approx(reference.objective, abs=1e-4)


def test_resuming_from_a_result_equals_an_uninterrupted_run():
    problem = structured("margin")
    first = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=4)
    resumed = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=4, start=first)
    whole = solve(problem, "block-frank-wolfe", tol=0.0, max_passes=8)
    assert np.array_equal(resumed.iterate.w, whole.iterate.w)
    assert resumed.iterate.state["mu"] == pytest.approx(whole.iterate.state["mu"])


def test_dual_variables_of_another_problem_are_not_reused():
    """The dual variables of a hard problem, used for an easy one, would give a bound above its minimum."""
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
def test_every_example_is_assigned_to_exactly_one_thread(threads):
    work = np.random.default_rng(0).random(101) * 1e6
    split = split_by_work(work, threads)
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(101))
    loads = [work[part].sum() for part in split]
    assert max(loads) - min(loads) <= work.max()


def test_the_number_of_threads_changes_results_only_by_rounding():
    one, two = (structured("likelihood").with_threads(threads) for threads in (1, 2))
    one.work = two.work = np.full(len(X), 1e6)
    w = np.random.default_rng(4).standard_normal(one.n)
    assert one.predict(w).loss == pytest.approx(two.predict(w).loss, rel=1e-12)
    assert one.predict(w).subgradient == pytest.approx(two.predict(w).subgradient, rel=1e-9)


def test_refusals_suggest_alternatives():
    with pytest.raises(ValueError, match=r"sdca needs a problem with rows.*block-frank-wolfe"):
        fl.minimize(structured("margin"), "sdca")
    with pytest.raises(ValueError, match="block-frank-wolfe needs a structured problem"):
        fl.minimize(fl.Problem(X, Y, fl.MulticlassHinge(), fl.L2(1.0)), "block-frank-wolfe")
    with pytest.raises(ValueError, match="did you mean 'margin'"):
        structured("marign")
    with pytest.raises(TypeError, match="not a structured model"):
        Problem("chain", X, Y, fl.L2(1.0))


def test_nan_weights_are_decoded_to_valid_classes():
    problem = Problem(Multiclass(), np.eye(3), ["a", "b", "a"], fl.L2(0.1))
    assert not np.isfinite(problem.objective(np.full(6, np.nan)))
    assert problem.decode(np.full(6, np.nan)) == ["a", "a", "a"]


@pytest.mark.slow
def test_lower_bounds_are_at_least_the_smallest_penalty():
    problem = Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-9), "likelihood")
    result = solve(problem, "lbfgs", max_passes=1, tol=1e-9)
    assert (result.history["dual_objective"] >= 0.0).all()
