"""Sweeps of dual ascent in several threads: the same as a naive version, never downhill in the dual, and the same in every run."""

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.linalg.weights import weights_of
from fenchel.losses import losses
from fenchel.solvers._dual_ascent import rounds as module
from fenchel.solvers._dual_ascent.rounds import Rounds
from fenchel.solvers.sdca import dual_curvatures, sdca_part
from tests.data import labels_for

LOSSES = [loss for loss in (kind() for kind in losses().values()) if hasattr(loss, "dual_step")]
TYPES = [type(loss).__name__ for loss in LOSSES]


@pytest.fixture(autouse=True)
def rounds_on_small_data(monkeypatch):
    """Rounds of a few rows, however little their work is."""
    monkeypatch.setattr(module, "ENTRIES_OF_ROUND", 20)
    monkeypatch.setattr(module, "WEIGHTS_PER_ENTRY", 100.0)


def rows(loss, m=90, n=12, shared=0.5, l2=0.02, **options):
    """Rows that have a part in common, of which the steps of several threads would add up to too much."""
    rng = np.random.default_rng(0)
    X = (1.0 - shared) * rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.4) + shared
    y = labels_for(loss.labels, X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(m) - 3 * shared, cuts=(-0.5, 0.5))
    return fl.Problem(sp.csr_array(X), y, loss, options.pop("regularizer", fl.L2(l2)), **options).with_threads(3)


def begun(problem):
    """The sweeps of a problem from α = 0, its weights and its curvatures."""
    alpha = np.zeros(problem.dual_shape)
    weights = weights_of(problem.regularizer, np.zeros(problem.n * problem.outputs))
    return Rounds(problem, alpha, sdca_part), weights, dual_curvatures(problem, problem.regularizer)


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_a_sweep_is_that_of_a_naive_version(shared):
    problem = rows(fl.SmoothHinge(0.5), shared=shared, sample_weight=1.0 + np.arange(90) % 2)
    problem = problem.with_threads(2)
    rounds, w, q = begun(problem)
    rounds.sigma = 1.2
    order = np.random.default_rng(1).permutation(90)
    count = rounds.count(problem, 90)
    assert count > 1
    found = rounds.sweep(w, q, order, True)

    X, y, r, l2 = problem.design.storage.toarray(), problem.y, problem.row_weights, problem.regularizer.l2
    alpha, v, sigma, loss, moved, shortened = np.zeros(90), np.zeros(12), 1.2, 0.0, [], 0
    ends = np.linspace(0, 90, 2 * count + 1).astype(int)
    for k in range(count):
        changes, before = [], alpha.copy()
        for part in (order[ends[2 * k] : ends[2 * k + 1]], order[ends[2 * k + 1] : ends[2 * k + 2]]):
            change = np.zeros(12)
            for i in part:
                z = X[i] @ (v + sigma * change) / l2
                loss += r[i] * problem.loss.value(z, y[i])
                new = problem.loss.dual_step(alpha[i], z, y[i], sigma * q[i])
                change += r[i] * (new - alpha[i]) * X[i]
                moved += [i] * bool(new != alpha[i])
                alpha[i] = new
            changes.append(change)
        total, parts = sum(changes), sum(change @ change for change in changes)
        ratio = total @ total / parts if parts > 0.0 else 1.0
        t = min(1.0, sigma / ratio)
        shortened += t < 1.0
        alpha, v = before + t * (alpha - before), v + t * total
        wanted = min(2.0, max(1.0, module.MARGIN * ratio))
        sigma = wanted if wanted > sigma else sigma + module.FALL * (wanted - sigma)
    np.testing.assert_allclose(rounds.alpha, alpha, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(w.v, v, rtol=1e-11, atol=1e-13)
    assert found.moved.tolist() == moved
    assert found.loss == pytest.approx(loss, rel=1e-12)
    assert found.read == problem.design.nnz
    assert rounds.sigma == pytest.approx(sigma)
    assert shortened > 0 or shared < 0.5


@pytest.mark.parametrize("regularizer", [fl.L2(0.003), fl.L1L2(l1=0.01, l2=0.003)], ids=["l2", "l1l2"])
@pytest.mark.parametrize("loss", LOSSES, ids=TYPES)
def test_the_dual_objective_never_falls_however_much_rows_have_in_common(loss, regularizer):
    for shared in (0.0, 0.5, 1.0):
        problem = rows(loss, shared=shared, regularizer=regularizer)
        rounds, w, q = begun(problem)
        last = problem.dual_objective(rounds.alpha)
        for _ in range(6):
            rounds.sigma, rounds.pays = 1.0, True  # as if the threads had nothing in common
            rounds.sweep(w, q, np.arange(problem.m), False)
            now = problem.dual_objective(rounds.alpha)
            assert now >= last - 1e-12 * problem.objective_at_zero
            last = now
        np.testing.assert_allclose(w.v, problem.adjoint(rounds.alpha).reshape(-1), rtol=1e-9, atol=1e-12)
        assert last > 0.0


@pytest.mark.parametrize("solver", [("sdca", {}), ("accelerated-sdca", {"variant": "practical"})], ids=lambda solver: solver[0])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.Softmax(), fl.Absolute()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("options", [{}, {"intercept": "free", "sample_weight": np.arange(90) % 3}], ids=["plain", "intercept and weights"])
def test_runs_in_threads_are_certified_and_the_same_every_time(options, loss, solver):
    problem = rows(loss, shared=0.2, **options)
    name, given = solver
    runs = [fl.minimize(problem, name, tol=1e-4, max_passes=5000, **given) for _ in range(2)]
    assert runs[0].converged
    assert np.array_equal(runs[0].w, runs[1].w)
    assert runs[0].passes == runs[1].passes
    alone = fl.minimize(problem, name, tol=1e-4, max_passes=5000, threads=1, **given)
    assert abs(alone.objective - runs[0].objective) <= 1e-4 * problem.objective_at_zero
    assert not np.array_equal(alone.w, runs[0].w)


def test_rows_that_are_nearly_the_same_are_left_to_one_thread(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROUNDS", 1)
    for shared, pays in ((0.9, False), (0.0, True)):
        rounds, w, q = begun(rows(fl.Squared(), n=40, shared=shared).with_labels(np.ones(90)))
        rounds.sweep(w, q, np.arange(90), False)
        assert rounds.pays == pays


def test_small_problems_and_coupled_weights_have_no_rounds(monkeypatch):
    problem = rows(fl.Hinge())
    assert Rounds.count(problem, problem.m) > 0
    assert Rounds.count(problem.with_threads(1), problem.m) == 0
    assert Rounds.count(problem.replace(regularizer=fl.SquaredLp(0.1, p=1.5)), problem.m) == 0
    monkeypatch.undo()
    assert Rounds.count(problem, problem.m) == 0
