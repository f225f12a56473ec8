"""The one loop: stopping, recording, resuming, interrupting, reporting."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import fenchel as fl
from fenchel.problems.result import STATUS
from fenchel.solvers import solvers
from tests.data import breast_cancer, data


@pytest.fixture
def problem():
    return fl.Problem(*data("binary"), fl.Logistic(), fl.L2(0.01))


QUICK = {"sdca", "lbfgs", "pgs"}
ROW_WISE = sorted(set(solvers()) - {"block-frank-wolfe"})  # that one is for structured problems
EACH = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ROW_WISE]


def taken_by(solver, problem):
    """The problem, or with the lasso or the hinge for a solver that takes nothing else."""
    if solver == "interior-point":
        return problem.replace(loss=fl.Hinge(), regularizer=fl.L2(0.1))
    return problem if solvers()[solver].refusal(problem) is None else problem.replace(regularizer=fl.L1(0.1))


def test_stops_at_the_gap_wanted(problem):
    for tol in (1e-1, 1e-4, 1e-8):
        result = fl.minimize(problem, tol=tol)
        assert (result.status, result.converged) == ("converged", True)
        assert result.gap <= tol * problem.objective_at_zero
        assert result.gap == pytest.approx(result.objective - result.dual_objective)
        assert problem.gap(result.w, result.alpha) <= result.gap + 1e-12, "anyone can check the certificate"


def test_the_first_point_may_be_good_enough(problem):
    result = fl.minimize(problem, tol=1.0)
    assert result.converged
    assert result.passes == 0
    assert np.all(result.w == 0)


def test_stops_after_max_passes(problem):
    result = fl.minimize(problem, "sdca", tol=0.0, max_passes=5)
    assert (result.status, result.converged, result.passes) == ("max_passes", False, 5)


def test_stops_at_the_time_limit():
    hard = fl.Problem(*data("binary"), fl.Hinge(), fl.L2(1e-9))
    result = fl.minimize(hard, "sdca", tol=0.0, max_passes=math.inf, time_limit=0.05)
    assert result.status == "time_limit"


def test_a_callback_sees_the_run_and_may_stop_it(problem):
    seen = []

    def callback(evaluation):
        seen.append(evaluation)
        return evaluation.passes >= 3

    result = fl.minimize(problem, "sdca", tol=0.0, callback=callback)
    assert result.status == "callback"
    assert [e.passes for e in seen] == result.history["passes"].tolist()
    assert seen[-1].w.shape == problem.shape


@pytest.mark.parametrize("solver", EACH)
def test_an_interrupt_returns_the_best_so_far(problem, solver):
    def callback(evaluation):
        if evaluation.passes >= 2:
            raise KeyboardInterrupt

    problem = taken_by(solver, problem)
    result = fl.minimize(problem, solver, tol=0.0, callback=callback)
    assert result.status == "interrupted"
    assert "best iterate up to then" in result.message
    assert problem.objective(result.w) == pytest.approx(result.history["objective"].min())
    if "bundle" not in solver:  # whose bound rests on planes, and is better than that of α
        assert problem.gap(result.w, result.alpha) <= result.gap + 1e-12


def test_an_interrupt_inside_the_solver_keeps_the_certificate_exact(problem, monkeypatch):
    """v is updated step by step and may be half done: the bound reported must come from α alone."""
    from fenchel.solvers import sdca as module

    whole, calls = module.sdca_pass, []

    def broken(rows, y, row_weights, loss, outputs, w, alpha, q, order, progressive, seed):
        calls.append(1)
        if len(calls) == 4:
            whole(rows, y, row_weights, loss, outputs, w, alpha, q, order[: len(order) // 2], progressive, seed)
            w.v[:] += 1.0
            raise KeyboardInterrupt
        return whole(rows, y, row_weights, loss, outputs, w, alpha, q, order, progressive, seed)

    monkeypatch.setattr(module, "sdca_pass", broken)
    result = fl.minimize(problem, "sdca", tol=0.0)
    assert result.status == "interrupted"
    assert result.dual_objective == pytest.approx(problem.dual_objective(result.alpha), abs=1e-3)
    assert result.dual_objective <= fl.minimize(problem, "lbfgs", tol=1e-10).objective


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["sdca", "fista", "working-set"])
def test_a_tolerance_below_rounding_ends_when_nothing_moves_any_more(problem, solver):
    problem = problem.replace(regularizer=fl.L1L2(l1=0.01, l2=0.1))
    result = fl.minimize(problem, solver, tol=1e-18, max_passes=1e6)
    assert result.status in ("stalled", "converged")
    assert result.passes < 1e5
    assert result.gap <= 1e-12 * problem.objective_at_zero


def test_history_has_a_row_per_evaluation(problem):
    history = fl.minimize(problem, "fista", tol=1e-6).history
    assert history.COLUMNS == ("passes", "accesses", "seconds", "objective", "dual_objective", "gap", "nnz")
    for column in ("passes", "accesses", "seconds"):
        assert np.all(np.diff(history[column]) >= 0)
    assert np.all(np.diff(history["gap"]) <= 0), "the best point and the best bound only get better"
    frame = history.to_frame()
    assert list(frame.columns) == list(history.COLUMNS)
    assert len(frame) == len(history)


def test_accesses_count_the_entries_read(problem):
    result = fl.minimize(problem, "sdca", tol=0.0, max_passes=4)
    assert result.history["accesses"][-1] == 4 * problem.design.nnz


@pytest.mark.parametrize("kind", ["result", "iterate", "weights"])
# Interior points begin anew: those near the sides of boxes are hard to leave.
@pytest.mark.parametrize("solver", [way for way in EACH if way.values[0] != "interior-point"])
def test_a_warm_start_begins_where_the_other_ended(problem, solver, kind):
    tight, loose = (1e-3, 1e-1) if solvers()[solver].online else (1e-6, 1e-4)
    problem = taken_by(solver, problem)
    first = fl.minimize(problem, solver, tol=tight)
    start = {"result": first, "iterate": first.iterate, "weights": first.w}[kind]
    again = fl.minimize(problem, solver, tol=loose, start=start)
    assert again.passes <= (2 if solvers()[solver].evaluates_start else 1)  # an evaluation is X·w and Xᵀα
    elsewhere = fl.minimize(problem, "fista", tol=loose, start=start)
    assert elsewhere.passes <= 1


def test_a_warm_start_from_another_problem_is_only_a_start(problem):
    other = fl.Problem(*data("binary"), fl.Hinge(), fl.L2(0.5))
    result = fl.minimize(problem, tol=1e-6, start=fl.minimize(other))
    assert result.converged


@pytest.mark.parametrize("start", [np.zeros(3), np.full(6, np.nan)])
def test_a_start_that_does_not_fit_is_refused(problem, start):
    with pytest.raises(ValueError, match=r"start (has|holds) weights"):
        fl.minimize(problem, start=start)


def test_threads_do_not_change_the_answer(problem, monkeypatch):
    import fenchel.linalg.design

    monkeypatch.setattr(fenchel.linalg.design, "PARALLEL_FROM", 0)
    one, two = (fl.minimize(problem, "fista", tol=1e-8, threads=k) for k in (1, 2))
    np.testing.assert_allclose(one.w, two.w, rtol=1e-9)


def test_nothing_is_printed_unless_asked(problem, capfd):
    fl.minimize(problem)
    assert capfd.readouterr() == ("", "")
    fl.minimize(problem, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "gap" in err


def test_every_status_is_a_sentence():
    assert all(sentence[0].islower() and not sentence.endswith(".") for sentence in STATUS.values())


def test_a_solver_that_diverges_is_reported(problem, monkeypatch):
    from fenchel.driver import minimization, run
    from fenchel.solvers.declaration import Solver

    def explode(problem, *, start, rng, accuracy):
        yield fl.Iterate(np.ones(problem.shape), 1)
        yield fl.Iterate(np.full(problem.shape, np.inf), 2)

    for module in (minimization, run):
        monkeypatch.setattr(module, "solvers", lambda: {"explode": Solver("explode", explode, ())})
    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning, match="left the range"):
        result = fl.minimize(problem, "explode")
    assert result.status == "diverged"
    assert np.isfinite(result.w).all()


def test_a_run_that_ends_too_early_warns():
    X, y = breast_cancer(scaled=False)
    with pytest.warns(ConvergenceWarning, match="start=result"):
        fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(1e-9)), "fista", max_passes=3)


def test_an_infinite_objective_at_zero_is_refused():
    X, y = data("real")
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="not finite"):
        fl.minimize(fl.Problem(X, y * 1e160, fl.Squared(), fl.L2(1.0)))


@pytest.mark.parametrize("solver", ["accelerated-sdca", "fista", "lbfgs"])
def test_a_start_outside_the_domain_is_brought_in(solver):
    X, y = data("real")
    free = fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(1e-3)))
    boxed = fl.Problem(X, y, fl.Squared(), fl.Box(-0.01, 0.01, fl.L2(1e-3)))
    assert fl.minimize(boxed, solver, start=free).converged
    ball = fl.Problem(X, y, fl.Squared(), fl.SquaredLp(0.1, 1.5, radius=0.1))
    assert fl.minimize(ball, "sdca", start=free).converged


def test_parallel_runs_on_one_problem_do_not_interfere(monkeypatch):
    import fenchel.linalg.design

    monkeypatch.setattr(fenchel.linalg.design, "PARALLEL_FROM", 0)
    problem = fl.Problem(*data("binary"), fl.Logistic(), fl.L2(1e-3))
    problem.design.threads = 2
    alone = {k: fl.minimize(problem, "fista", tol=1e-10, threads=k).w for k in (1, 2)}
    together: dict[int, list[np.ndarray]] = {1: [], 2: []}

    def work(k):
        for _ in range(10):
            together[k].append(fl.minimize(problem, "fista", tol=1e-10, threads=k).w)

    workers = [threading.Thread(target=work, args=(k,)) for k in (1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert problem.design.threads == 2
    for k, found in together.items():
        assert all(np.array_equal(w, alone[k]) for w in found)
