"""Bundle methods: the quadratic programme, the planes, and the claims of Do, Le & Foo about Algorithm 4."""

from __future__ import annotations

import itertools
import math

import daqp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.driver import solve
from fenchel.solvers import solvers
from fenchel.solvers._bundle.planes import Planes
from fenchel.solvers._bundle.simplex_programme import maximise
from fenchel.structured import Multiclass, Problem
from tests import naive
from tests.data import data

RULES = [("bundle", {}), ("proximal-bundle", {}), ("proximal-bundle", {"rule": "printed"})]


def steps(problem, solver, count, accuracy=1e-9, **options):
    """The first iterates of a solver."""
    run = solvers()[solver].run(problem, start=None, rng=np.random.default_rng(0), accuracy=accuracy, **options)
    return list(itertools.islice(run, count))


def flatter(seed, m=300, n=8, l2=1e-3, loss=None):
    """A problem whose optimum is known to more digits than anything here is tested to."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * np.logspace(0, -1, n)
    y = np.where(X @ rng.standard_normal(n) + 0.3 * rng.standard_normal(m) > 0, 1.0, -1.0)
    problem = fl.Problem(X, y, fl.Hinge() if loss is None else loss, fl.L2(l2))
    return problem, fl.minimize(problem, "interior-point" if loss is None else "newton", tol=1e-10)


# ---- the quadratic programme ----


def value(G, h, curvature, x):
    return h @ x - x @ G @ x / (2.0 * curvature)


def on_the_simplex(x):
    return x.min() >= 0.0 and abs(x.sum() - 1.0) <= 1e-12


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 6), st.integers(1, 4), st.floats(-6.0, 1.0), st.integers(0, 10**6), st.booleans())
def test_the_programme_has_the_best_value_of_any_support(t, n, exponent, seed, repeated):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((t, n)).round(1 if repeated else 15)
    h, curvature, x = rng.standard_normal(t).round(1), 10.0**exponent, rng.dirichlet(np.ones(t))
    A, h = (np.repeat(A, 2, axis=0)[:t], np.repeat(h, 2)[:t]) if repeated else (A, h)
    maximise(A @ A.T, h, curvature, x)
    assert on_the_simplex(x)
    best = naive.simplex_programme(A @ A.T, h, curvature)
    assert value(A @ A.T, h, curvature, x) == pytest.approx(best, rel=1e-7, abs=1e-7 + 1e-14 / curvature)


@pytest.mark.parametrize("curvature", [1.0, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize(("t", "n"), [(20, 50), (100, 10), (100, 80), (200, 40)])
def test_the_programme_agrees_with_another_solver_and_proves_it(t, n, curvature):
    rng = np.random.default_rng(t + n)
    A = rng.standard_normal((t, n)) * np.logspace(0, -3, n)
    G, h, x = A @ A.T, np.abs(rng.standard_normal(t)), np.eye(t)[0]
    values = maximise(G, h, curvature, x)
    assert on_the_simplex(x)
    np.testing.assert_allclose(values, h - G @ x / curvature, rtol=0, atol=1e-14 / curvature + 1e-12)
    assert values.max() - values @ x <= 1e-12 + 1e-14 / curvature, "the distance to the maximum is at most this"
    bounds = np.append(np.full(t, 1e30), 1.0), np.append(np.zeros(t), 1.0)
    other, _, flag, _ = daqp.solve(G / curvature, -h, np.ones((1, t)), *bounds, np.append(np.zeros(t), 5).astype(np.int32))
    assert flag == 1
    assert value(G, h, curvature, x) == pytest.approx(value(G, h, curvature, other), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("curvature", [1e-2, 1e-6])
def test_a_warm_start_ends_where_a_cold_one_does(curvature):
    rng = np.random.default_rng(0)
    A, h = rng.standard_normal((60, 20)), np.abs(rng.standard_normal(60))
    G, x = A @ A.T, np.eye(60)[0]
    for t in range(1, 61):
        maximise(G, h[:t], curvature, x[:t])
        cold = np.eye(60)[0]
        maximise(G, h[:t], curvature, cold[:t])
        assert value(G, h, curvature, x) == pytest.approx(value(G, h, curvature, cold), abs=1e-9)


# ---- planes ----


@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.MulticlassHinge()], ids=lambda loss: type(loss).__name__)
def test_planes_stay_below_the_loss_and_keep_the_model_when_some_are_removed(loss):
    X, y = data(loss.labels)
    problem = fl.Problem(X, y, loss, fl.L2(0.01))
    rng = np.random.default_rng(0)
    planes = Planes(math.prod(problem.shape), most=12)
    origin = np.zeros(math.prod(problem.shape))
    previous = 0.0
    for _ in range(60):
        w = rng.standard_normal(problem.shape)
        z = problem.predict(w)
        a = -problem.loss_gradient(z)[1].reshape(-1)
        planes.add(a, problem.mean_loss(z) - a @ w.reshape(-1))
        found = planes.minimise(0, 0.01, origin, planes.b)
        np.testing.assert_allclose(found.plane_values, planes.values(found.w), atol=1e-9)
        model = found.plane_values.max() + 0.005 * found.w @ found.w
        assert found.value == pytest.approx(model, abs=1e-9), "no gap between the model's minimum and its dual"
        assert found.value >= previous - 1e-9, "what was known is not forgotten"
        previous = found.value
        assert planes.count <= 12
        elsewhere = rng.standard_normal((20, *problem.shape))
        assert all(planes.values(v.reshape(-1)).max() <= problem.mean_loss(problem.predict(v)) + 1e-9 for v in elsewhere)


@pytest.mark.parametrize("programmes", [1, 2, 3])
def test_planes_stay_within_their_limit_however_the_shares_of_several_programmes_lie(programmes):
    rng = np.random.default_rng(0)
    planes = Planes(3, most=10, programmes=programmes)
    for _ in range(50):
        planes.add(rng.standard_normal(3), rng.standard_normal())
        planes._shares[:, : planes.count] = rng.dirichlet(np.ones(planes.count), programmes)
        assert planes.count <= 10


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle"])
def test_planes_from_far_away_do_not_raise_the_bound_by_their_rounding(solver):
    # Rows of length 100 make the first points far too long, where losses and subgradients are large; near the minimum they cancel.
    X = np.array(
        [
            [44.62170288414418, 45.218269606940005, 44.12075101690196, 48.00811613005128, 45.69224983980405],
            [45.8683826876511, 44.54947521062682, 46.723413780676935, 43.72912168999442, 45.80120035922673],
        ]
    )
    problem = fl.Problem(X, [1.0, -1.0], fl.SquaredHinge(), fl.L2(9.279608468717903))
    result = fl.minimize(problem, solver, tol=1e-9)
    assert result.converged
    best = fl.minimize(problem, "newton", tol=1e-13)
    assert result.dual_objective <= best.objective + best.objective_error


def test_the_minimum_of_the_model_is_rounded_down():
    rng = np.random.default_rng(0)
    for size in (1.0, 1e6):
        planes = Planes(3, most=20)
        for _ in range(5):
            planes.add(size * rng.standard_normal(3), size * rng.standard_normal(), error=1e-9)
        found = planes.minimise(0, 0.5, np.zeros(3), planes.b)
        x = planes.state["shares"][0].astype(np.longdouble)
        mean = x @ planes.a.astype(np.longdouble)
        exact = x @ planes.b.astype(np.longdouble) / max(x.sum(), 1.0) - mean @ mean
        assert found.value < exact - 1e-9 * np.linalg.norm(mean), (
            "a subgradient that is off by its error can make the minimum so much lower"
        )
        assert found.value == pytest.approx(float(exact), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("solver", "options"), RULES)
def test_few_planes_give_true_bounds_and_the_same_optimum(solver, options):
    problem, best = flatter(1, l2=0.1)
    iterates = steps(problem, solver, 150, planes=10, **options)
    assert max(it.lower_bound for it in iterates) <= best.objective + 1e-12
    assert problem.objective(iterates[-1].w) == pytest.approx(best.objective, rel=1e-2 if "rule" in options else 1e-3)
    assert iterates[-1].lower_bound >= 0.98 * best.objective
    assert all(len(it.state["b"]) <= 10 for it in iterates)


# ---- the solvers ----


@pytest.mark.parametrize("l2", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize(("solver", "options"), RULES)
def test_iterates_only_improve_and_bounds_stay_below_the_optimum(solver, options, l2):
    problem, best = flatter(2, l2=l2)
    iterates = steps(problem, solver, 120, **options)
    values, bounds = [problem.objective(it.w) for it in iterates], [it.lower_bound for it in iterates]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert bounds[-1] <= best.objective + 1e-12
    assert values[-1] >= best.dual_objective - 1e-12
    assert [it.passes for it in iterates] == [1.0 + k for k in range(len(iterates))]
    assert all(problem.objective(it.w, it.z) == pytest.approx(value) for it, value in zip(iterates, values, strict=True))
    if l2 == 1e-1 or (solver, options) == RULES[1]:
        assert values[-1] - bounds[-1] <= 1e-3 * problem.objective_at_zero


@pytest.mark.parametrize("l2", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Absolute(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_the_default_is_never_behind_the_others_where_regularization_is_weak(loss, l2):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1000, 40)) * np.logspace(0.5, -1, 40)
    y = X @ rng.standard_normal(40) + rng.standard_normal(1000)
    problem = fl.Problem(X, y if loss.labels == "real" else np.sign(y), loss, fl.L2(l2))
    plain, centred, printed = ([problem.objective(it.w, it.z) for it in steps(problem, way, 100, **options)] for way, options in RULES)
    for calls in (10, 25, 50, 100):
        assert centred[calls - 1] <= 1.01 * min(plain[calls - 1], printed[calls - 1])


@pytest.mark.parametrize(("solver", "options"), [*RULES, ("proximal-bundle", {"planes": 10}), ("bundle", {"planes": 10})])
def test_a_run_that_is_continued_gives_the_same_iterates_as_one_run(solver, options):
    problem, _ = flatter(4, l2=1e-4)
    straight = fl.minimize(problem, solver, tol=0.0, max_passes=40, **options)
    half = fl.minimize(problem, solver, tol=0.0, max_passes=23, **options)
    rest = fl.minimize(problem, solver, tol=0.0, max_passes=17, start=half, **options)
    np.testing.assert_allclose(rest.iterate.w, straight.iterate.w, rtol=1e-9, atol=1e-12)
    assert rest.dual_objective == pytest.approx(straight.dual_objective, rel=1e-9)


@pytest.mark.parametrize(("solver", "options"), RULES)
def test_weights_may_be_given_as_a_start(solver, options):
    problem, best = flatter(5, l2=1e-2)
    near = fl.minimize(problem, solver, tol=0.0, max_passes=3, start=best.w + 1e-3, **options)
    assert near.objective <= problem.objective(best.w + 1e-3)
    assert near.dual_objective <= best.objective + 1e-12


class Opaque:
    """A problem that a bundle method knows by its oracle alone: predictions are of a kind of their own, and there is no dual point."""

    def __init__(self, problem):
        self.regularizer, self.shape, self.origin, self.entries = problem.regularizer, problem.shape, problem.origin, 7
        self._problem = problem

    def predict(self, w):
        return ("decoded", self._problem.predict(w))

    def mean_loss(self, z):
        return self._problem.mean_loss(z[1])

    def loss_gradient(self, z):
        return None, self._problem.loss_gradient(z[1])[1]


@pytest.mark.parametrize(("solver", "options"), RULES)
def test_an_oracle_of_values_and_subgradients_is_enough(solver, options):
    problem, _ = flatter(6)
    for plain, opaque in zip(steps(problem, solver, 20, **options), steps(Opaque(problem), solver, 20, **options), strict=True):
        np.testing.assert_allclose(plain.w, opaque.w, rtol=0, atol=1e-8 * np.abs(plain.w).max(initial=1e-300))
        assert opaque.accesses == 14 * opaque.passes
        assert opaque.lower_bound - 1e-12 <= plain.lower_bound <= opaque.lower_bound, "an opaque oracle has no allowance for its rounding"


@pytest.mark.parametrize("scale", [1e-160, 1e160])
@pytest.mark.parametrize(("solver", "options"), RULES)
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_runs_on_very_large_or_small_rows_end(solver, options, scale):
    X, y = data("binary")
    problem = fl.Problem(scale * X, y, fl.Hinge(), fl.L2(1e-3))
    result = fl.minimize(problem, solver, tol=0.0, max_passes=5, **options)
    assert result.objective <= problem.objective_at_zero
    assert result.dual_objective <= result.objective


def test_a_problem_that_is_optimal_at_zero_ends_by_itself():
    problem = fl.Problem(np.eye(3), np.zeros(3), fl.Absolute(), fl.L2(0.1))
    for solver, options in RULES:
        assert len(steps(problem, solver, 5, **options)) == 1


@pytest.mark.parametrize(("solver", "options"), RULES)
def test_an_oracle_below_the_zero_plane_is_refused(solver, options, monkeypatch):
    problem = Opaque(flatter(6)[0])
    monkeypatch.setattr(problem, "mean_loss", lambda z: -0.1)
    with pytest.raises(ValueError, match=r"never negative, and this one is -0\.1"):
        steps(problem, solver, 1, **options)


def test_invalid_options_are_refused():
    problem, _ = flatter(7)
    with pytest.raises(ValueError, match="planes=3: give at least 10"):
        fl.minimize(problem, "bundle", planes=3)
    with pytest.raises(ValueError, match="rule='centered': did you mean 'centred'"):
        fl.minimize(problem, "proximal-bundle", rule="centered")


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle"])
def test_losses_that_overflow_end_a_bundle_method(solver):
    X = np.array([[1.0, 1.0], [1.0, -1.0], [1e-3, 2.0]]) * 1e160
    result = solve(Problem(Multiclass(), X, ["a", "b", "a"], fl.L2(0.01)), solver, max_passes=20)
    assert result.status in ("stalled", "diverged", "converged")
    assert np.isfinite(result.w).all()


# ---- Algorithm 4 ----


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_lemma_3(t, n, seed):
    """D'_t([α; 1]) − D'_{t−1}(α) = f(w_t) − ‖λw_t + a_t‖²/(2(λt + τ_{1:t})), whatever α, τ and the planes before."""
    rng = np.random.default_rng(seed)
    l2, tau, A, b, w = rng.uniform(0.01, 1), rng.uniform(0, 2, t), rng.standard_normal((t, n)), rng.standard_normal(t), np.zeros((t, n))
    w[: t - 1] = rng.standard_normal((t - 1, n))
    alpha = np.append(rng.uniform(0, 1, t - 1), 1.0)
    before = l2 * (t - 1) + tau[:-1].sum()
    w[-1] = (tau[:-1] @ w[:-1] - alpha[:-1] @ A[:-1]) / before if t > 1 else rng.standard_normal(n)
    known = naive.bundle_dual(l2, tau[:-1], w[:-1], A[:-1], b[:-1], alpha[:-1]) if t > 1 else 0.0
    gain = naive.bundle_dual(l2, tau, w, A, b, alpha) - known
    f = 0.5 * l2 * w[-1] @ w[-1] + A[-1] @ w[-1] + b[-1]
    slope = l2 * w[-1] + A[-1]
    assert gain == pytest.approx(f - slope @ slope / (2 * (l2 * t + tau.sum())), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("l2", [1e-2, 1e-4])
def test_the_printed_rule_is_algorithm_4(seed, l2):
    problem, _ = flatter(seed, l2=l2)
    expected = naive.algorithm_4(problem, 20)
    met = [it.state["next"] for it in steps(problem, "proximal-bundle", 20, accuracy=0.0, rule="printed")]
    np.testing.assert_allclose(met, [step.after for step in expected], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("l2", [0.3, 1e-2, 1e-3])
def test_proposition_3(l2):
    """Phase by phase, wherever w_t and w* are as near to 0 as the phase supposes."""
    problem, best = flatter(0, l2=l2)
    longest = 0
    for R, phase in itertools.groupby(naive.algorithm_4(problem, 60), lambda step: step.R):
        rounds = list(itertools.takewhile(lambda step: np.linalg.norm(step.w) <= step.R, phase))
        if np.linalg.norm(best.w) <= R:
            longest = max(longest, len(rounds))
            for T in range(1, len(rounds) + 1):
                bound = np.mean([2 * s.tau * R**2 + (l2 * R + s.A) ** 2 / (2 * s.curvature) for s in rounds[:T]])
                assert min(s.objective for s in rounds[:T]) - best.objective <= bound + 1e-12
    assert longest >= 20
