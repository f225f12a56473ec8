"""Certificates and answers that were once wrong, each by a cause of its own."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special
from sklearn.datasets import load_breast_cancer, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import fenchel as fl
from tests.data import data


def breast_cancer(scaled=True):
    X, y = load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), 2.0 * y - 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [1, 22, 30, 39])
def test_rounding_is_not_amplified_into_a_bound(seed):
    """The paper's stopping rules multiply the inner gap by ρ/μ: what is left of it by cancellation must not count."""
    rng = np.random.default_rng(seed)
    X = 100 * rng.standard_normal((50, 5))
    y = np.sign(X[:, 0] + 50 * rng.standard_normal(50))
    problem = fl.Problem(X, y, fl.Logistic(), fl.L2(1e-8))
    result = fl.minimize(problem, "accelerated-sdca", tol=1e-3, max_passes=300)
    best = fl.minimize(problem, "lbfgs", tol=1e-6, max_passes=3000).objective
    assert result.dual_objective <= best + 1e-9
    if result.converged:
        assert result.objective - best <= 1e-3 * problem.objective_at_zero


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic()])
def test_the_reported_gap_can_be_checked_on_badly_scaled_data(scaled, loss):
    X, y = breast_cancer(scaled)
    problem = fl.Problem(X, y, loss, fl.L2(1.0 / len(y)), intercept=1.0)
    for variant in ("faithful", "practical"):
        result = fl.minimize(problem, "accelerated-sdca", tol=1e-6, max_passes=1500, variant=variant)
        assert result.gap >= problem.gap(result.w, result.alpha) * (1 - 1e-9)


def test_automatic_choice_solves_ordinary_data_sets():
    X, y = breast_cancer()
    text, labels = fl.datasets.make_text(2000, n=20_000)
    wide, target = make_regression(50, 200, random_state=0)
    cases = [
        fl.Problem(X, y, fl.Hinge(), fl.L2(1.0 / len(y))),
        fl.Problem(X, y, fl.Logistic(), fl.L1(1e-3)),
        fl.Problem(text, labels, fl.Squared(), fl.L2(1e-5)),
        fl.Problem(text, labels, fl.Huber(0.3), fl.L1L2(l1=1e-9, l2=1e-9)),
        fl.Problem(wide, target / target.std(), fl.Absolute(), fl.L2(1e-3)),
    ]
    for case in cases:
        assert fl.minimize(case, tol=1e-3, max_passes=400).converged, case  # a ConvergenceWarning would be an error, too


def test_a_run_that_ends_too_early_warns():
    X, y = breast_cancer(scaled=False)
    with pytest.warns(ConvergenceWarning, match="start=result"):
        fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(1e-9)), "fista", max_passes=3)


@pytest.mark.parametrize("p", [1.001, 1.003, 1.01])
@pytest.mark.parametrize("scale", [1.0, 5000.0])
def test_squared_lp_near_the_lasso_stays_finite(p, scale):
    X, y = data("binary")
    problem = fl.Problem(X * scale, y, fl.SmoothHinge(), fl.SquaredLp(1e-3 * scale**2, p=p))
    result = fl.minimize(problem, "sdca", tol=1e-2, max_passes=2000)
    assert np.isfinite(result.w).all()
    assert result.converged
    assert result.objective < problem.objective_at_zero


def test_what_is_no_number_has_no_certificate():
    problem = fl.Problem(*data("real"), fl.Squared(), fl.L2(0.1))
    with np.errstate(all="ignore"):
        assert np.isinf(problem.gap(np.full(6, np.nan)))
        assert np.isinf(problem.gap(np.full(6, np.inf)))
        assert np.isinf(problem.gap(np.zeros(6), np.full(40, np.nan)))


def test_an_infinite_objective_at_zero_is_refused():
    X, y = data("real")
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="not finite"):
        fl.minimize(fl.Problem(X, y * 1e160, fl.Squared(), fl.L2(1.0)))


@pytest.mark.parametrize("size", [1e-320, 1e308])
def test_sample_weights_of_any_size_are_relative(size):
    X, y = data("binary")
    plain, scaled = (fl.Problem(X, y, fl.Logistic(), fl.L2(0.1), sample_weight=s) for s in (None, np.full(40, size)))
    assert scaled.objective(np.ones(6)) == pytest.approx(plain.objective(np.ones(6)))


def homemade(factor):
    @fl.compiled
    class Homemade(NamedTuple):
        def value(self, z, y):
            return factor * (z - y) ** 2

        def derivative(self, z, y):
            return 2.0 * factor * (z - y)

    return Homemade()


def test_a_loss_defined_again_under_the_same_name_is_a_new_loss():
    X, y = data("real")
    objectives = [fl.Problem(X, y, homemade(factor), fl.L2(0.1)).objective(np.zeros(6)) for factor in (7.0, 9.0)]
    assert objectives[1] == pytest.approx(objectives[0] * 9 / 7)


def test_a_subclass_must_be_compiled_itself():
    class Sub(fl.Squared):
        def value(self, z, y):
            return 100.0 * (z - y) ** 2

    with pytest.raises(TypeError, match=r"put @fenchel\.compiled above"):
        fl.Problem(*data("real"), Sub(), fl.L2(1.0))


@pytest.mark.parametrize(("strength", "radius"), [(1e6, 1e6), (1e3, 1e3), (2.8, 0.17)])
@pytest.mark.parametrize("size", [1.0, 1e-8])
def test_entropy_does_not_cancel(strength, radius, size):
    X, _ = data("real")
    problem = fl.Problem(X, size * X[:, 0], fl.Squared(), fl.Entropy(strength, radius))
    result = fl.minimize(problem, tol=1e-6)
    best = min(result.objective, fl.minimize(problem, tol=1e-10).objective)
    assert result.dual_objective <= best * (1 + 1e-9)


def test_softmax_is_feasible_for_large_predictions():
    z, out = np.array([3e6, 3e6 + 1.0, 3e6 - 2.0]), np.empty(3)
    fl.Softmax().derivative(z, 1, out)
    assert abs(out.sum()) <= 1e-15


class TestLossesOfUsers:
    def problem(self, body):
        X, y = data("real")
        return fl.Problem(X, y, body(), fl.L2(0.1))

    def test_negative_values_are_refused(self):
        @fl.compiled
        class Poisson(NamedTuple):
            def value(self, z, y):
                return np.exp(z) - y * z

            def derivative(self, z, y):
                return np.exp(z) - y

        with pytest.raises(ValueError, match="must not be negative"):
            fl.Problem(np.ones((3, 1)), np.array([0.0, 5.0, 9.0]), Poisson(), fl.L2(0.1))

    @pytest.mark.parametrize("factor", [-1.0, 0.5, 2.0])
    def test_a_wrong_derivative_is_told(self, factor):
        @fl.compiled
        class Wrong(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

            def derivative(self, z, y):
                return factor * 2.0 * (z - y)

        with pytest.raises(ValueError, match="derivative's sign and factor"):
            self.problem(Wrong)

    def test_a_typo_is_told(self):
        @fl.compiled
        class Typo(NamedTuple):
            def value(self, z, y):
                return (z - yy) ** 2  # noqa: F821

            def derivative(self, z, y):
                return 2.0 * (z - y)

        with pytest.raises(ValueError, match="NameError"):
            self.problem(Typo)

    def test_a_forgotten_decorator_is_told(self):
        class Plain(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

        with pytest.raises(TypeError, match=r"put @fenchel\.compiled above its class"):
            self.problem(Plain)

    def test_a_missing_derivative_is_told(self):
        @fl.compiled
        class Half(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

        with pytest.raises(TypeError, match="it has no derivative"):
            self.problem(Half)

    def test_what_can_not_be_compiled_is_one_sentence(self):
        @fl.compiled
        class Odd(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2 + 0.0 * special.expit(z)

            def derivative(self, z, y):
                return 2.0 * (z - y)

        with pytest.raises(TypeError, match="Odd could not be compiled") as error:
            self.problem(Odd).objective(np.zeros(6))
        assert "\n" not in str(error.value)


def test_a_box_in_a_box_is_refused():
    with pytest.raises(ValueError, match="no other box"):
        fl.Box(-5.0, 5.0, fl.Box(np.full(2, -1.0), np.full(2, 1.0), fl.L2(0.1)))


def test_boxes_compare():
    assert fl.Box(np.zeros(2), 1.0) == fl.Box(np.zeros(2), 1.0)
    assert fl.Box(np.zeros(2), 1.0) != fl.Box(np.zeros(2), 2.0)


def test_a_dual_point_of_the_wrong_shape_is_refused():
    problem = fl.Problem(*data("real"), fl.Squared(), fl.L2(0.1))
    for ask in (problem.lower_bound, problem.dual_objective, lambda alpha: problem.gap(np.zeros(6), alpha)):
        with pytest.raises(ValueError, match="alpha has shape"):
            ask(np.array([1.0]))


@pytest.mark.parametrize("solver", ["accelerated-sdca", "fista", "lbfgs"])
def test_a_start_outside_the_domain_is_brought_in(solver):
    X, y = data("real")
    free = fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(1e-3)))
    boxed = fl.Problem(X, y, fl.Squared(), fl.Box(-0.01, 0.01, fl.L2(1e-3)))
    assert fl.minimize(boxed, solver, start=free).converged
    ball = fl.Problem(X, y, fl.Squared(), fl.SquaredLp(0.1, 1.5, radius=0.1))
    assert fl.minimize(ball, "sdca", start=free).converged


def test_fista_takes_a_start_from_data_of_another_size():
    X, y = data("real")
    first = fl.minimize(fl.Problem(X[:30], y[:30], fl.Squared(), fl.L1(0.01)), "fista")
    assert fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(0.01)), "fista", start=first).converged


def test_foreign_byte_order_is_ordinary():
    X, y = data("binary")
    sparse = sp.csr_array(X)
    sparse.indices = sparse.indices.astype(">i4")
    problem, plain = (fl.Problem(A, y, fl.Hinge(), fl.L2(0.1)) for A in (sparse, X))
    assert problem.objective(np.ones(6)) == pytest.approx(plain.objective(np.ones(6)))


def test_a_damaged_coo_matrix_is_refused():
    damaged = sp.coo_array((np.ones(1), (np.array([0]), np.array([0]))), shape=(2, 2))
    damaged.coords = (np.array([7]), np.array([0]))
    with pytest.raises(ValueError, match="damaged COO"):
        fl.Problem(damaged, np.ones(2), fl.Hinge(), fl.L2(1.0))


def test_masked_entries_are_refused():
    X, y = data("binary")
    with pytest.raises(ValueError, match="masked"):
        fl.Problem(np.ma.masked_greater(X, 1.0), y, fl.Hinge(), fl.L2(1.0))


def test_runs_side_by_side_on_one_problem_do_not_meet(monkeypatch):
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
