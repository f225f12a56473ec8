"""Newton's equations in all three ways, against dense algebra; unpenalised intercepts of every loss, against an interior point method."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.linalg import storage
from fenchel.linalg.design import Design
from fenchel.losses import losses
from fenchel.solvers import solvers
from fenchel.solvers._second_order import small_problems
from fenchel.solvers._second_order.newton_equations import ByColumns, ByProducts, ByRows, newton_equations
from fenchel.solvers.newton import REFRESHED
from tests.data import data
from tests.own_losses import OwnSquared
from tests.references import optimum

LAYOUTS = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array, "float32": np.float32}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("intercept", "free"), [(0.0, False), (3.0, False), (1.0, True)])
@pytest.mark.parametrize("way", [ByColumns, ByRows, ByProducts])
@pytest.mark.parametrize("shape", [(40, 7), (9, 30)])
def test_the_equations_are_solved(shape, way, intercept, free, layout):
    rng = np.random.default_rng(3)
    X = np.float32(rng.standard_normal(shape) * (rng.random(shape) < 0.6)).astype(float)
    h = rng.random(shape[0])
    h[2] = 0.0
    design = Design(LAYOUTS[layout](X), intercept)
    g = rng.standard_normal(design.n)
    full = np.column_stack([X, np.full(len(X), intercept)]) if intercept else X
    H = full.T @ (h[:, None] * full) + 0.1 * np.diag([1.0] * shape[1] + [0.0 if free else 1.0] * bool(intercept))
    d, passes = way(design, 0.1, free).solve(h, g, 1e-14)
    np.testing.assert_allclose(H @ d, -g, atol=1e-9 * np.abs(g).max())
    assert passes >= 1


@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_rough_solutions_have_single_precision_unless_it_loses_the_smallest_eigenvalues(intercept):
    rng = np.random.default_rng(3)
    X, h = rng.standard_normal((3000, 20)) @ rng.standard_normal((20, 130)), rng.random(3000) / 3000
    design = Design(X, intercept)
    g = rng.standard_normal(design.n)
    for l2, least, most in ((1.0, 1e-9, 1e-4), (1e-6, 0.0, 1e-9)):
        rough, exact = (ByColumns(design, l2, False).solve(h, g, forcing)[0] for forcing in (0.1, 1e-14))
        assert least <= np.linalg.norm(rough - exact) / np.linalg.norm(exact) <= most


@pytest.mark.parametrize("intercept", [0.0, 2.0, "free"])
def test_ridge_regression_is_one_step(intercept):
    X, y = data("real")
    result = fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(0.3), intercept=intercept), "newton", tol=1e-12)
    assert len(result.history) <= 3, "w = 0 twice, by the run and by the solver, and the answer"
    centred = X - X.mean(axis=0) if intercept == "free" else X
    full = np.column_stack([X, np.full(len(X), intercept)]) if intercept == 2.0 else centred
    w = np.linalg.solve(full.T @ full / len(X) + 0.3 * np.eye(full.shape[1]), full.T @ y / len(X))
    np.testing.assert_allclose(result.coef, w[: X.shape[1]], atol=1e-10)


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_a_quadratic_loss_of_the_user_is_one_step(factor):
    X, y = data("real")
    problems = [
        fl.Problem(X, y, loss, fl.L2(l2), intercept="free") for loss, l2 in ((fl.Squared(), 0.3), (OwnSquared(factor), 0.3 * factor))
    ]
    plain, own = (fl.minimize(problem, "newton", tol=1e-12) for problem in problems)
    assert len(own.history) == len(plain.history)
    np.testing.assert_allclose(own.w, plain.w, atol=1e-10)


def counted(monkeypatch, **methods):
    """A dictionary that counts the calls of functions, given with the class or module that holds each."""
    calls = dict.fromkeys(methods, 0)
    for name, owner in methods.items():
        plain = getattr(owner, name)

        def call(*arguments, name=name, plain=plain):
            calls[name] += 1
            return plain(*arguments)

        monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_a_newton_step_makes_one_product_with_x_and_one_with_its_transpose(intercept, monkeypatch):
    X, y = data("binary")
    problem = fl.Problem(X, y, fl.Logistic(), fl.L2(1e-3), intercept=intercept)
    monkeypatch.setattr(small_problems, "MOST_PRODUCTS", 0)
    calls = counted(monkeypatch, matvec=Design, rmatvec=Design)
    found = fl.minimize(problem, "newton", tol=1e-9)
    evaluations = len(found.history)
    steps = evaluations - 1
    assert found.converged
    assert 3 <= steps < REFRESHED
    assert calls["rmatvec"] <= evaluations + 1, "one more where −φ'(z) begins to give a useful bound, and is balanced"
    assert calls["matvec"] <= steps + 3, "one for each step, at most two at w = 0, which read no entry of X, and one to certify the answer"


def test_fitting_an_estimator_checks_x_once_and_multiplies_no_more_than_the_solver(monkeypatch):
    X, y = data("binary")
    plain = fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(1.0 / len(y)), intercept="free"), "newton", tol=1e-4)
    calls = counted(monkeypatch, matvec=Design, rmatvec=Design, _first_nonfinite=storage)
    model = fl.LogisticRegression().fit(X, y)
    assert model.solver_ == "newton"
    evaluations = len(plain.history)
    assert calls["rmatvec"] <= evaluations
    assert calls["matvec"] <= evaluations + 2
    assert calls["_first_nonfinite"] == 0, "scikit-learn has checked X"


def test_a_start_far_away_does_no_harm():
    X, y = data("binary")
    for loss in (fl.Logistic(), fl.SquaredHinge(), fl.SmoothHinge(0.5)):
        problem = fl.Problem(X, y, loss, fl.L2(1e-4), intercept="free")
        assert fl.minimize(problem, "newton", tol=1e-9, start=np.full(7, 1e4)).converged


def test_separable_classes_and_weak_penalties_converge():
    X = np.column_stack([np.linspace(-1, 1, 50), np.ones(50)])
    y = np.sign(X[:, 0])
    for l2 in (1e-3, 1e-9, 1e-15):
        assert fl.minimize(fl.Problem(X, y, fl.Logistic(), fl.L2(l2), intercept="free"), "newton", tol=1e-6).converged


RIDGE, LASSO, ELASTIC_NET = fl.L2(0.05), fl.L1(0.02), fl.L1L2(l1=0.02, l2=0.05)
PAIRS = [(loss, RIDGE) for loss in losses()] + [
    (loss, penalty) for loss in ("hinge", "logistic", "squared", "softmax") for penalty in (LASSO, ELASTIC_NET)
]


@pytest.mark.parametrize(
    ("loss", "regularizer"),
    [pytest.param(*pair, id=f"{pair[0]}-{type(pair[1]).__name__}", marks=() if pair[0] == "hinge" else pytest.mark.slow) for pair in PAIRS],
)
def test_every_loss_has_solvers_for_an_unpenalised_intercept(loss, regularizer):
    chosen = losses()[loss]()
    X, y = data(chosen.labels)
    s = 1.0 + np.arange(len(X)) % 3
    if chosen.labels == "real":
        y = y + 5.0
    problem = fl.Problem(sp.csr_array(X), y, chosen, regularizer, sample_weight=s, intercept="free")
    best = optimum(X, y, chosen, regularizer, row_weights=problem.row_weights, free=True)
    takers = [name for name, solver in solvers().items() if solver.refusal(problem) is None]
    assert takers
    for name in takers:
        result = fl.minimize(problem, name, tol=1e-4, max_passes=20_000)
        assert result.objective - best <= result.gap + 1e-7, name
        assert result.dual_objective <= best + 1e-7, name
        alone = problem.dual_objective(problem.balanced(result.alpha))
        assert alone <= best + 1e-7, "a balanced dual point is a feasible one"


@pytest.mark.parametrize(
    ("shape", "density", "way"), [((900, 400), 0.3, ByColumns), ((300, 900), 0.3, ByRows), ((2500, 2400), 0.01, ByProducts)]
)
def test_equations_are_solved_in_the_way_that_costs_least(shape, density, way):
    X = sp.random_array(shape, density=density, rng=np.random.default_rng(0), format="csr")
    assert type(newton_equations(Design(X), 1e-3, False)) is way
