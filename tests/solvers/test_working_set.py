"""Working sets: all ways to minimise the model agree, screening drops only zero weights, and certificates hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.core.threads import one_thread
from fenchel.linalg.gram import gram
from fenchel.linalg.rows import CsrRows, DenseRows
from fenchel.problems.problem import Problem
from fenchel.solvers import working_set as module
from fenchel.solvers._coordinate import column_products, proximal_newton
from fenchel.solvers._coordinate.dense_model import minimise_by_gram, minimise_by_rows
from fenchel.solvers._coordinate.quadratic_model import QuadraticModel, Residual, minimise_by_columns
from fenchel.solvers._coordinate.support_minimum import buffers
from tests.data import labels_for, redundant_columns
from tests.own_losses import OwnSquared
from tests.references import penalty as reference_penalty, scalar_loss

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def general_method():
    """No short way for small problems: that has tests of its own, and the tests of all solvers take it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PRODUCTS", 0)
        patch.setattr(module, "MOST_IF_WEAK", 0)
        yield


SCALAR = [fl.Squared(), fl.Logistic(), fl.SmoothHinge(0.5), fl.SquaredHinge(), fl.Huber(0.5)]


def model_of(X, rho, h, w, regularizer, centred, convert):
    """The quadratic model at w as ``minimise_by_columns`` takes it, and its twin: a function of the weights."""
    columns = convert(X)
    total = h.sum() if centred else 0.0
    means = X.T @ h / total if centred else np.zeros(X.shape[1])
    curvature = np.maximum((X**2).T @ h - total * means**2, 1e-300)
    l1, l2 = regularizer.l1, getattr(regularizer, "l2", 0.0)
    which = np.arange(X.shape[1])
    read = np.zeros(1, dtype=np.int64)
    model = QuadraticModel(columns, Residual(rho.copy(), h), l1, l2, which, curvature, means, total, np.zeros(1), read)

    def value(new):
        d = (X - means) @ (new - w)
        return rho @ d + 0.5 * h @ d**2 + l1 * np.abs(new).sum() + 0.5 * l2 * new @ new

    return model, value, means, total


@pytest.mark.parametrize("regularizer", [fl.L1(0.05), fl.L1L2(l1=0.05, l2=0.1)], ids=["l1", "elastic net"])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(("m", "n"), [(60, 10), (10, 40)], ids=["tall", "wide"])
def test_all_ways_to_minimise_the_model_agree(m, n, centred, regularizer):
    rng = np.random.default_rng(3)
    X, _ = redundant_columns(m, n)
    h = rng.uniform(0.2, 1.0, m) / m
    rho = rng.standard_normal(m) / m
    rho -= h * (rho.sum() / h.sum()) * centred  # the intercept is at its best for w as it is
    w = np.where(rng.uniform(size=n) < 0.3, rng.standard_normal(n), 0.0)
    csc = sp.csc_array(X)
    stored = [lambda A: DenseRows(np.ascontiguousarray(A.T)), lambda A: CsrRows(csc.data, csc.indices, csc.indptr)]
    values = []
    for convert in stored:
        model, value, means, total = model_of(X, rho, h, w, regularizer, centred, convert)
        new = w.copy()
        minimise_by_columns(model, buffers(n, h.shape), new, 1e-13, 0.0, 10_000, True)
        values.append(value(new))
        moved = X @ (new - w) - means @ (new - w)
        np.testing.assert_allclose(model.residual.v + model.shift[0] * h, rho + h * moved, atol=1e-12, err_msg="ρ is not kept up to date")
    with one_thread:
        G = gram(np.ascontiguousarray(X.T), np.arange(n), None, h, 2) - total * np.outer(means, means)
        new = w.copy()
        minimise_by_gram(G, regularizer.l1, getattr(regularizer, "l2", 0.0), new, X.T @ rho, 1e-13, 10_000)
        values.append(value(new))
        root = np.sqrt(h)
        B = (X - means).T * root
        xi = rho / root
        values.append(value(minimise_by_rows(B, w @ B - xi, regularizer.l1, getattr(regularizer, "l2", 0.0), w, xi, 1e-13, 1000)[0]))
    np.testing.assert_allclose(values, min(values), rtol=0, atol=1e-11)
    assert min(values) < value(w)


def test_gram_matrices_agree_with_numpy():
    rng = np.random.default_rng(0)
    X, h = rng.standard_normal((5000, 7)), rng.uniform(size=5000)
    columns, left, right = np.ascontiguousarray(X.T), np.array([0, 2, 6]), np.array([1, 5])
    np.testing.assert_allclose(gram(columns, left, None, h, 2), X[:, left].T @ (h[:, None] * X[:, left]), rtol=1e-12)
    np.testing.assert_allclose(gram(columns, left, right, h, 3), X[:, left].T @ (h[:, None] * X[:, right]), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        gram(columns.astype(np.float32), left, None, np.ones(5000), 1), X[:, left].T @ X[:, left], rtol=1e-5, atol=1e-3
    )


@pytest.mark.parametrize("loss", SCALAR, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("shape", [(300, 12), (30, 120)], ids=["tall", "wide"])
def test_layouts_and_intercepts_lead_to_the_same_certified_optimum(loss, shape):
    X, score = redundant_columns(*shape)
    y, s = labels_for(loss.labels, score), np.linspace(0.0, 2.0, shape[0])
    for regularizer in (fl.L1(0.02), fl.L1L2(l1=0.02, l2=0.02)):
        for intercept in (0.0, 3.0, "free"):
            found = [
                fl.minimize(fl.Problem(A, y, loss, regularizer, sample_weight=s, intercept=intercept), tol=1e-7)
                for A in (X, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X))
            ]
            assert {result.solver for result in found} == {"working-set"}
            assert all(result.converged for result in found)
            scale = fl.Problem(X, y, loss, regularizer, sample_weight=s).objective_at_zero
            np.testing.assert_allclose([result.objective for result in found], found[0].objective, rtol=0, atol=1.1e-7 * scale)


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic(), fl.Huber(0.5)], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("solver", ["working-set", "cyclic-cd", "fista"])
def test_an_unpenalised_intercept_is_not_penalised(loss, solver):
    X, score = redundant_columns(40, 6)
    y, l1 = labels_for(loss.labels, score + 3.0), 0.1
    problem = fl.Problem(sp.csr_array(X), y, loss, fl.L1(l1), intercept="free")
    found = fl.minimize(problem, solver, tol=1e-7, max_passes=100_000)
    w, b = cp.Variable(6), cp.Variable()
    omega, _ = reference_penalty(fl.L1(l1), w)
    reference = cp.Problem(cp.Minimize(cp.sum(scalar_loss(loss, X @ w + b, y)) / 40 + omega))
    reference.solve(solver=cp.CLARABEL)
    assert found.converged
    assert found.objective == pytest.approx(reference.value, abs=1e-6)
    assert found.dual_objective <= reference.value + 1e-7
    assert found.intercept == pytest.approx(float(b.value), abs=1e-2)
    assert found.coef.shape == (6,)


def test_shifts_of_y_and_of_columns_do_not_change_the_weights_beside_an_unpenalised_intercept():
    X, y = redundant_columns(50, 8)
    base = fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(0.1), intercept="free"), tol=1e-12)
    moved = fl.minimize(fl.Problem(X + 7.0, y - 20.0, fl.Squared(), fl.L1(0.1), intercept="free"), tol=1e-12)
    np.testing.assert_allclose(moved.coef, base.coef, atol=1e-6)


def test_an_unpenalised_intercept_needs_balanced_dual_points_and_a_separable_penalty():
    X, score = redundant_columns(30, 5)
    y = labels_for("binary", score)
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(0.05), intercept="free")
    alpha = np.where(y > 0, 0.3, -0.1)
    assert problem.dual_objective(alpha) == -np.inf, "a dual point needs Σα = 0"
    assert -np.inf < problem.lower_bound(alpha) <= fl.minimize(problem, tol=1e-8).objective
    with pytest.raises(ValueError, match="an intercept that is penalised, such as intercept=10"):
        fl.minimize(problem.replace(regularizer=fl.L2(0.1)), "pgs")
    with pytest.raises(ValueError, match="needs a separable penalty, and SquaredLp is not separable"):
        fl.Problem(X, y, fl.Logistic(), fl.SquaredLp(0.1, p=1.5), intercept="free")
    with pytest.raises(ValueError, match='or "free"'):
        fl.Problem(X, y, fl.Logistic(), fl.L1(0.1), intercept="fre")


def test_sparse_data_are_centred_without_being_filled_in(monkeypatch):
    X = sp.random_array((400, 300), density=0.02, rng=np.random.default_rng(0), format="csc")
    y = X @ np.linspace(-1.0, 1.0, 300) + 5.0
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(1e-3), intercept="free")
    monkeypatch.setattr(type(X), "toarray", None)
    found = fl.minimize(problem, tol=1e-6)
    assert found.converged
    assert found.iterate.accesses < 40 * 400 * 300, "entries stored are read, not all there could be"
    assert found.intercept == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_screening_drops_only_what_is_zero_at_the_optimum(loss, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 200))
    y = labels_for(loss.labels, X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(80))
    problem = fl.Problem(X, y, loss, fl.L1(0.05))
    exact = fl.minimize(problem, tol=1e-12, screening=False)
    dropped = []
    plain = module.WorkingSetSearch.screen

    def watched(self):
        plain(self)
        dropped.append(np.setdiff1d(self.columns, self.alive))

    monkeypatch.setattr(module.WorkingSetSearch, "screen", watched)
    found = fl.minimize(problem, tol=1e-10)
    assert found.converged
    assert len(dropped[-1]) > 100, "most columns are dropped before the end"
    assert not exact.w[dropped[-1]].any()
    np.testing.assert_allclose(found.w, exact.w, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 30),
    n=st.integers(1, 30),
    loss=st.sampled_from(SCALAR),
    strength=st.floats(1e-4, 2.0),
    l2=st.sampled_from([0.0, 1e-3, 1.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    intercept=st.sampled_from([0.0, "free"]),
)
def test_certificates_hold_on_random_problems(seed, m, n, loss, strength, l2, scale, intercept):
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((m, n)) * (rng.uniform(size=(m, n)) < 0.6)
    y = rng.standard_normal(m) if loss.labels == "real" else rng.choice([-1.0, 1.0], m)
    l1 = strength * scale
    regularizer = fl.L1L2(l1=l1, l2=l2 * scale**2) if l2 else fl.L1(l1)
    problem = Problem(X, y, loss, regularizer, intercept=intercept)
    found = fl.minimize(problem, "working-set", tol=1e-6, max_passes=10_000)
    other = fl.minimize(problem, "fista", tol=1e-4, max_passes=500)
    allowance = 1e-9 * problem.objective_at_zero
    assert found.dual_objective <= other.objective + allowance, "a lower bound lies below every objective"
    assert other.dual_objective <= found.objective + allowance
    assert problem.objective(found.w) == pytest.approx(found.objective, rel=1e-10, abs=1e-14)
    if intercept == 0.0:
        assert found.converged, found.message


@pytest.mark.slow
def test_losses_without_curvature_and_with_several_outputs_use_coordinate_steps():
    X, score = redundant_columns(60, 15)
    y = np.digitize(score, [-1.0, 1.0])
    problem = fl.Problem(sp.csr_array(X), y, fl.Softmax(), fl.L1(0.05))
    found, reference = (
        fl.minimize(problem, "working-set", tol=1e-5, max_passes=5000),
        fl.minimize(problem, "fista", tol=1e-6, max_passes=5000),
    )
    assert found.converged
    assert found.objective == pytest.approx(reference.objective, abs=2e-5)

    @fl.compiled
    class Own(NamedTuple):
        """The squared loss without its second derivative."""

        def value(self, z, y):
            return 0.5 * (z - y) ** 2

        def derivative(self, z, y):
            return z - y

        def smoothness(self):
            return 1.0

    plain, own = (
        fl.minimize(fl.Problem(X, score, loss, fl.L1(0.05)), "working-set", tol=1e-6, max_passes=5000) for loss in (fl.Squared(), Own())
    )
    assert plain.converged
    assert own.converged
    assert own.objective == pytest.approx(plain.objective, abs=1e-5)


def test_strengths_at_which_nothing_or_everything_is_zero():
    X, y = redundant_columns(30, 8)
    largest = np.abs(X.T @ y).max() / 30
    above, below = (fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(c * largest)), tol=1e-9) for c in (1.001, 0.999))
    assert above.converged
    assert not above.w.any()
    assert np.count_nonzero(below.w) in (1, 2), "the column, and perhaps its twin"
    nothing = fl.minimize(fl.Problem(np.zeros((4, 3)), np.ones(4), fl.Squared(), fl.L1(0.1)), tol=1e-9)
    assert nothing.converged
    assert not nothing.w.any()


def test_a_start_is_used_and_its_own_certificate_ends_the_run():
    X, y = redundant_columns(200, 40)
    problem = fl.Problem(sp.csr_array(X), y, fl.Squared(), fl.L1(0.01))
    first = fl.minimize(problem, tol=1e-10)
    again = fl.minimize(problem, tol=1e-6, start=first.w)
    assert again.converged
    assert len(again.history) == 1
    assert again.iterate.accesses == 2 * problem.design.nnz, "X·w and Xᵀα"


def test_numbers_of_accesses_are_counted(monkeypatch):
    """Everything the working sets read of X by columns is counted, and nothing else."""
    X = sp.random_array((300, 200), density=0.05, rng=np.random.default_rng(1), format="csc")
    y = X @ np.linspace(-1.0, 1.0, 200)
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(1e-3))
    counts = np.diff(X.indptr)
    read = 0
    dots, adds, squares, minimise = (
        column_products.column_dots,
        column_products.add_columns,
        column_products.column_squares,
        proximal_newton.minimise_by_columns,
    )
    both = column_products.column_dots_and_squares

    def count(function, position):
        def wrapped(*arguments):
            nonlocal read
            which = arguments[position]
            first, last = (arguments[-2], arguments[-1]) if function in (dots, both) else (0, len(which))
            used = which[first:last] if function is not adds else which[arguments[2] != 0.0]
            read += int(counts[used].sum())
            return function(*arguments)

        return wrapped

    def minimised(model, *rest):
        nonlocal read
        before = int(model.accesses[0])
        done = minimise(model, *rest)
        read += int(model.accesses[0]) - before
        return done

    for name, function, position in (
        ("column_dots", dots, 2),
        ("column_dots_and_squares", both, 3),
        ("add_columns", adds, 1),
        ("column_squares", squares, 2),
    ):
        monkeypatch.setattr(column_products, name, count(function, position))
    monkeypatch.setattr(proximal_newton, "minimise_by_columns", minimised)
    found = fl.minimize(problem, "working-set", tol=1e-8)
    assert found.converged
    assert found.iterate.accesses == read


def test_a_sample_of_rows_that_is_not_representative_is_not_used():
    rng = np.random.default_rng(0)
    X = np.zeros((2000, 2))  # sorted by what the two columns tell apart
    X[:1000, 0], X[1000:, 1] = 1.0, 1.0
    y = np.where(rng.random(2000) < 0.7, 1.0, -1.0)
    assert fl.minimize(fl.Problem(X, y, fl.SquaredHinge(), fl.L1(1e-3)), tol=1e-5).converged
    X = rng.standard_normal((5000, 20))
    y = np.where(X[:, 1] + 0.3 * rng.standard_normal(5000) > 0, 1.0, -1.0)
    X[:, 0] = 2010.0 + 5.0 * X[:, 0]
    assert fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L1(2e-3), intercept="free")).converged
    s = np.zeros(5000)
    s[1000:1500] = 1.0
    assert fl.minimize(fl.Problem(X[:, 1:], y, fl.Logistic(), fl.L1(2e-3), sample_weight=s)).converged


def test_few_rows_of_sparse_data_are_as_easy_as_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 600))
    y = X[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(60)
    dense, sparse = (fl.minimize(fl.Problem(A, y, fl.Squared(), fl.L1(4e-3)), tol=1e-6) for A in (X, sp.csc_array(X)))
    assert dense.converged
    assert sparse.converged
    assert sparse.passes < 100


def test_the_same_threads_give_the_same_result():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(20_000)
    found = {fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(1e-3)), tol=1e-8, threads=4).w.tobytes() for _ in range(8)}
    assert len(found) == 1


def test_problems_that_share_their_data_can_be_solved_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 300))
    problem = fl.Problem(X, X[:, :50].sum(axis=1), fl.Squared(), fl.L1(1.0))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda l1: fl.minimize(problem.replace(regularizer=fl.L1(l1)), tol=1e-6), [0.5, 0.3, 0.1, 0.05] * 3))
    assert all(result.converged for result in results)
    assert results[0].objective == pytest.approx(results[4].objective, abs=1e-6 * problem.objective_at_zero)


@pytest.mark.parametrize("regularizer", [fl.L1(0.02), fl.L1L2(l1=0.02, l2=0.1), fl.L1(1e3)], ids=str)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_small_problems_begin_at_the_minimum_of_their_products(intercept, regularizer, monkeypatch):
    X, y = redundant_columns(400, 12)
    for values in (X, sp.csr_array(X)):
        problem = fl.Problem(values, y + 3.0, fl.Squared(), regularizer, intercept=intercept, sample_weight=np.linspace(0.0, 2.0, 400))
        in_rounds = fl.minimize(problem, "working-set", tol=1e-9)
        with monkeypatch.context() as patch:
            patch.setattr(module, "MOST_PRODUCTS", 8_000_000)
            at_once = fl.minimize(problem, "working-set", tol=1e-9)
        assert at_once.converged
        assert len(at_once.history) == 1
        assert at_once.objective == pytest.approx(in_rounds.objective, abs=2e-9 * problem.scale)


def test_all_products_are_computed_at_once_for_larger_problems_if_the_penalty_is_weak(monkeypatch):
    monkeypatch.setattr(module, "MOST_IF_WEAK", 10_000_000)
    X, y = redundant_columns(400, 120)
    largest = np.abs(X.T @ y).max() / len(y)
    small = [module.is_small(fl.Problem(X, y, fl.Squared(), fl.L1(share * largest))) for share in (0.5, 0.01)]
    assert small == [False, True]
    assert not module.is_small(fl.Problem(X, np.sign(y), fl.Logistic(), fl.L1(1e-3 * largest)))


@pytest.mark.parametrize("shape", [(400, 12), (30, 60), (200, 100)], ids=["by Gram matrix", "by rows", "by columns"])
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_a_quadratic_loss_of_the_user_takes_the_path_of_the_squared_loss(shape, intercept, monkeypatch):
    X, y = redundant_columns(*shape)
    calls = []
    for name in ("_by_gram", "_by_rows", "_by_columns"):
        plain = getattr(proximal_newton.ProximalNewton, name)

        def watched(self, *arguments, name=name, plain=plain):
            calls.append((name, self.is_quadratic))
            return plain(self, *arguments)

        monkeypatch.setattr(proximal_newton.ProximalNewton, name, watched)
    found, taken = [], []
    for loss, l1 in ((fl.Squared(), 0.02), (OwnSquared(), 0.02), (OwnSquared(3.0), 0.06)):
        calls.clear()
        found.append(fl.minimize(fl.Problem(X, y, loss, fl.L1(l1), intercept=intercept), tol=1e-9))
        taken.append(list(calls))
    assert all(result.converged and result.solver == "working-set" for result in found)
    assert taken[0] == taken[1]
    assert taken[0]
    assert all(is_quadratic for _, is_quadratic in taken[0] + taken[2])
    assert found[1].passes == found[0].passes
    np.testing.assert_allclose(found[1].w, found[0].w, atol=1e-12)
    np.testing.assert_allclose(found[2].w, found[0].w, atol=1e-4)


@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("loss", [fl.Logistic(), fl.SquaredHinge()], ids=lambda loss: type(loss).__name__)
def test_steps_by_rows_lead_to_the_same_optimum_for_losses_that_are_not_quadratic(loss, intercept, monkeypatch):
    X, score = redundant_columns(30, 90)
    problem = fl.Problem(X, labels_for("binary", score), loss, fl.L1(0.01), intercept=intercept)
    by_columns = fl.minimize(problem, "working-set", tol=1e-8)
    calls = []
    plain = proximal_newton.ProximalNewton._by_rows
    monkeypatch.setattr(proximal_newton.ProximalNewton, "_by_rows", lambda self, *given: calls.append(1) or plain(self, *given))
    monkeypatch.setattr(proximal_newton, "FIXED_READS", -1)
    monkeypatch.setattr(proximal_newton, "READS_PER_PRODUCT", 0)
    by_rows = fl.minimize(problem, "working-set", tol=1e-8)
    assert calls
    assert by_rows.converged
    assert by_rows.objective == pytest.approx(by_columns.objective, abs=2e-8 * problem.scale)


@pytest.mark.parametrize("regularizer", [fl.L1(0.01), fl.L1L2(l1=0.01, l2=0.02)], ids=["l1", "elastic net"])
@pytest.mark.parametrize("intercept", [0.0, "free"])
@pytest.mark.parametrize("scales", [1.0, 1e-3], ids=["independent columns", "correlated columns"])
def test_sweeps_before_a_gram_matrix_lead_to_the_same_optimum(scales, intercept, regularizer, monkeypatch):
    monkeypatch.setattr(module, "MOST_PRODUCTS", 0)
    rng = np.random.default_rng(0)
    mixed = np.linalg.qr(rng.standard_normal((120, 120)))[0] * np.geomspace(1, scales, 120)
    X = rng.standard_normal((600, 120)) @ mixed + (1.0 if intercept == "free" else 0.0)
    problem = fl.Problem(X, X[:, :30].sum(axis=1) + rng.standard_normal(600), fl.Squared(), regularizer, intercept=intercept)
    calls, plain = [], proximal_newton.ProximalNewton._gram
    monkeypatch.setattr(proximal_newton.ProximalNewton, "_gram", lambda self, *given: calls.append(1) or plain(self, *given))
    results = {}
    for reads in (0.0, proximal_newton.READS_BEFORE_GRAM, 1.0):
        calls.clear()
        monkeypatch.setattr(proximal_newton, "READS_BEFORE_GRAM", reads)
        results[reads] = fl.minimize(problem, "working-set", tol=1e-5)
        assert results[reads].converged
        assert results[reads].objective == pytest.approx(results[0.0].objective, abs=2e-5 * problem.scale)
        if reads in (0.0, 1.0) and scales == 1.0:
            assert bool(calls) == (reads == 0.0)


def test_a_step_on_no_columns_at_all_changes_nothing():
    """As where screening has dropped every column, and rounding keeps the gap above the accuracy."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    problem = fl.Problem(X, y, fl.Squared(), fl.L1(10.0), intercept="free")
    search = module.WorkingSetSearch(problem, None)
    search.evaluate()
    before = search.w.copy()
    search.minimise_on(np.empty(0, dtype=np.int64), 1e-9)
    np.testing.assert_allclose(search.w, before, atol=1e-12)
