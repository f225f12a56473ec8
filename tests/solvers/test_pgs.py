"""The primal gradient solver against the dense steps of the paper; its predictors; and finite numbers throughout."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from tests import naive
from tests.data import signed_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TEXT = {"m": 400, "n": 300, "nonzeros": 12, "seed": 3}
X, Y = signed_rows()
PASSES = 8


def last(problem, solver="pgs", passes=PASSES, **options):
    """The weights after some passes over the rows in their own order."""
    options = {"sampling": "sequential", **options}
    return fl.minimize(problem, solver, tol=0.0, max_passes=passes, **options).iterate.w


def close(w, expected, tol=1e-12):
    np.testing.assert_allclose(w, expected, rtol=0, atol=tol * np.abs(expected).max())


@pytest.mark.parametrize("p", [2.0, 1.8, 1.7, 1.5, 1.1])
@pytest.mark.parametrize("radius", [math.inf, 0.7])
@pytest.mark.parametrize(("loss", "k"), [(fl.Hinge(), 1), (fl.Logistic(), 1), (fl.Logistic(), 7)], ids=str)
def test_steps_equal_the_dense_steps_of_the_paper(text, p, radius, loss, k):
    X, y = text
    regularizer = fl.SquaredLp(0.01, p=p, radius=radius)
    w = last(fl.Problem(X, y, loss, regularizer), batch=k)
    batches = naive.batches(len(y), k, PASSES)
    close(w, naive.pgs(loss, X.toarray(), y, batches, lambda v: naive.squared_lp_link(v, 0.01, p, radius))[-1])
    if np.isfinite(radius) and p == 2.0:
        assert np.linalg.norm(w) == pytest.approx(radius), "the ball was to be active"


@pytest.mark.parametrize(
    ("regularizer", "link"),
    [
        (fl.L2(0.02), lambda v: v / 0.02),
        (fl.L1L2(l1=0.003, l2=0.02), lambda v: np.sign(v) * np.maximum(np.abs(v) - 0.003, 0.0) / 0.02),
        (fl.Box(-0.1, 0.5, fl.L2(0.02)), lambda v: np.clip(v / 0.02, -0.1, 0.5)),
        (fl.Entropy(0.002, 3.0), lambda v: naive.entropy_link(v, 0.002, 3.0)),
    ],
    ids=lambda r: type(r).__name__,
)
def test_steps_equal_dense_steps_for_other_strongly_convex_regularizers(text, regularizer, link):
    X, y = text
    w = last(fl.Problem(X, y, fl.Logistic(), regularizer), passes=2, batch=1)
    close(w, naive.pgs(fl.Logistic(), X.toarray(), y, naive.batches(len(y), 1, 2), link)[-1])


@pytest.mark.parametrize("divisor", ["t", pytest.param("t+1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "regularizer", [fl.L2(0.02), fl.SquaredLp(0.02, 1.8), fl.SquaredLp(0.02, 1.5, 0.4), fl.L1L2(l1=0.003, l2=0.02)], ids=str
)
def test_averages_equal_those_of_stored_iterates(text, regularizer, divisor):
    X, y = text
    problem = fl.Problem(X, y, fl.Hinge(), regularizer)
    links = {
        "L2": lambda v: v / 0.02,
        "L1L2": lambda v: np.sign(v) * np.maximum(np.abs(v) - 0.003, 0.0) / 0.02,
        "SquaredLp": lambda v: naive.squared_lp_link(v, 0.02, regularizer.p, regularizer.radius),
    }
    shift = {"t": 0, "t+1": 1}[divisor]
    visited = naive.pgs(fl.Hinge(), X.toarray(), y, naive.batches(len(y), 1, PASSES), links[type(regularizer).__name__], divisor=shift)
    close(last(problem, predictor="average", divisor=divisor), visited.mean(axis=0), 1e-11)
    T = len(visited)
    since = 2 ** int(math.log2(T)) // 2
    assert T / 2 <= T - since <= 3 * T / 4
    close(last(problem, predictor="suffix", divisor=divisor), visited[since:].mean(axis=0), 1e-11)


def test_averages_are_exact_when_the_reference_changes(text):
    """Rows that grow make the images outgrow their reference repeatedly, which must not change the sum so far."""
    X, y = text
    X = sp.diags_array(10.0 ** np.linspace(-4, 4, len(y))) @ X
    problem = fl.Problem(sp.csr_array(X), y, fl.Hinge(), fl.SquaredLp(0.02, 1.5))
    visited = naive.pgs(fl.Hinge(), X.toarray(), y, naive.batches(len(y), 1, 2), lambda v: naive.squared_lp_link(v, 0.02, 1.5, np.inf))
    close(last(problem, passes=2, predictor="average"), visited.mean(axis=0), 1e-10)


def test_the_random_predictor_returns_every_iterate_equally_often(text):
    X, y = text
    X, y = X[:20], y[:20]
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.5))
    visited = naive.pgs(fl.Hinge(), X.toarray(), y, naive.batches(20, 1, 1), lambda v: v / 0.5)
    hits = np.zeros(20)
    for seed in range(600):
        w = fl.minimize(problem, "pgs", tol=0.0, max_passes=1, seed=seed, sampling="sequential", predictor="random").iterate.w
        distance = np.abs(visited - w).max(axis=1)
        assert distance.min() < 1e-12
        hits[distance.argmin()] += 1
    # 30 expected of each; the chi-squared statistic of 19 degrees of freedom exceeds 50 once in 7,000
    assert ((hits - 30.0) ** 2 / 30.0).sum() < 50.0, hits


def test_steps_equal_those_of_pegasos_inside_the_ball(text):
    """‖x‖ ≤ √λ keeps Pegasos' steps within its ball."""
    X, y = text
    X = 0.1 * X
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.01))
    for sampling in ("sequential", "blocks", "replacement"):
        one, other = (fl.minimize(problem, s, tol=0.0, max_passes=6, seed=5, sampling=sampling, **o).iterate.w for s, o in PAIR)
        close(one, other)
    close(last(problem, "pegasos"), naive.pegasos(fl.Hinge(), X.toarray(), y, naive.batches(len(y), 1, PASSES), 0.01)[-1])


PAIR = [("pegasos", {}), ("pgs", {"divisor": "t"})]


def test_steps_differ_from_those_of_pegasos_at_the_boundary(text):
    """Pegasos continues from the projected point; here λ is not projected, only the w used for predictions is."""
    X, y = text
    l2 = 1e-3
    expected = naive.pegasos(fl.Hinge(), X.toarray(), y, naive.batches(len(y), 1, 2), l2, radius=1 / math.sqrt(l2))
    close(last(fl.Problem(X, y, fl.Hinge(), fl.L2(l2)), "pegasos", passes=2), expected[-1])
    ball = fl.SquaredLp(l2, 2.0, radius=1 / math.sqrt(l2))
    lazy = last(fl.Problem(X, y, fl.Hinge(), ball), passes=2, divisor="t")
    assert np.abs(lazy - expected[-1]).max() > 1e-3 * np.abs(lazy).max()


def test_the_squared_loss_gets_its_ball_from_the_loss_at_zero(text):
    X, y = text
    strength = 1e-4
    problem = fl.Problem(100.0 * X, y, fl.Squared(), fl.SquaredLp(strength, 1.5))
    lam, w, loss = np.zeros(X.shape[1]), np.zeros(X.shape[1]), fl.Squared()
    seen = 0.0
    rows, active = 100.0 * X.toarray(), 0
    for t, (i,) in enumerate(naive.batches(len(y), 1, 2), start=1):
        seen += loss.value(0.0, y[i])
        lam = lam - loss.derivative(float(rows[i] @ w), y[i]) * rows[i]
        ball = math.sqrt(0.5 * seen / t / strength)
        free = naive.squared_lp_link(lam / (t + 1), strength, 1.5, np.inf)
        w = naive.squared_lp_link(lam / (t + 1), strength, 1.5, ball)
        active += not np.array_equal(free, w)
    assert active > 0
    close(last(problem, passes=2), w, 1e-10)
    best = fl.minimize(problem, "lbfgs", tol=1e-9)
    assert np.linalg.norm(best.w, 1.5) <= math.sqrt(0.5 * problem.objective_at_zero / strength), "and the ball holds the minimiser"


def test_a_loss_without_bounded_derivatives_needs_a_domain(text):
    X, y = text
    with pytest.raises(
        ValueError, match=r"pgs needs a loss with bounded derivatives .a method lipschitz. or a bounded domain, and Squared with L1L2"
    ):
        fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1L2(l1=1.0, l2=1.0)), "pgs")


@pytest.mark.parametrize("sampling", ["blocks", "permutation", "replacement", "sequential"])
def test_every_sampling_converges(text, sampling):
    X, y = text
    result = fl.minimize(fl.Problem(X, y, fl.Hinge(), fl.L2(0.05)), "pgs", tol=0.03, sampling=sampling)
    assert result.converged
    assert result.iterate.state["counters"].rows == result.passes * len(y)


@pytest.mark.parametrize(
    ("option", "value"), [("sampling", "rows"), ("predictor", "mean"), ("divisor", "t+2"), ("batch", 0), ("batch", "all")]
)
def test_invalid_options_are_refused(text, option, value):
    X, y = text
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}: ")):
        fl.minimize(fl.Problem(X, y, fl.Hinge(), fl.L2(0.05)), "pgs", **{option: value})


@pytest.mark.parametrize("solver", ["pgs", "pegasos", "adaptive", "proximal", "optimistic"])
@pytest.mark.parametrize("size", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("strength", [1e-12, 1e-6, 1e3])
@pytest.mark.slow
def test_numbers_stay_finite(text, solver, size, strength):
    X, y = text
    X = size * X
    for loss in (fl.Hinge(), fl.Logistic(), fl.Squared()):
        for regularizer in (fl.L2(strength), fl.SquaredLp(strength, 1.3)) if solver == "pgs" else (fl.L2(strength),):
            problem = fl.Problem(X, y, loss, regularizer)
            result = fl.minimize(problem, solver, tol=0.0, max_passes=4)
            assert np.isfinite(result.iterate.w).all()
            assert np.isfinite([result.objective, result.gap]).all()


@pytest.mark.parametrize("mixed", [fl.SquaredLp(1e-6, 1.8), fl.SquaredLp(1e-6, 1.2), fl.L2(1e-6), fl.Entropy(1e-3, 5.0)], ids=str)
def test_weights_are_finite_for_rows_of_very_different_sizes(text, mixed):
    X, y = text
    sizes = 10.0 ** np.random.default_rng(0).uniform(-8, 8, len(y))
    problem = fl.Problem(sp.csr_array(sp.diags_array(sizes) @ X), y, fl.Hinge(), mixed)
    result = fl.minimize(problem, "pgs", tol=0.0, max_passes=5)
    assert np.isfinite(result.iterate.w).all()
    assert np.isfinite(result.gap)


@pytest.mark.parametrize("solver", ["pgs", "pegasos", "adaptive", "proximal", "optimistic"])
def test_weights_stay_finite_after_a_hundred_million_steps(text, solver):
    """As if 1e8 steps had been taken, by setting the state: scale, sums and divisor must still be finite."""
    X, y = text
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-12))
    before = fl.minimize(problem, solver, tol=0.0, max_passes=1)
    state = {**before.iterate.state}
    if solver == "pgs":
        state["t"], state["lambda"] = 1e8, state["lambda"] * 1e6
    else:
        weights = state["weights"] = state["weights"].copy()
        weights.scale, weights.square, weights.peak = 1e-29 * weights.scale, 1e58 * weights.square, 1e58 * weights.peak
        state["u"] = state["u"] * 1e29
    after = fl.minimize(problem, solver, tol=0.0, max_passes=3, start=before.iterate._replace(state=state))
    assert np.isfinite(after.iterate.w).all()
    assert np.isfinite(after.objective)


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_a_continued_run_has_the_same_certificate(stop):
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.01))
    straight = fl.minimize(problem, "pgs", tol=0.0, max_passes=7)
    half = fl.minimize(problem, "pgs", tol=0.0, max_passes=stop)
    rest = fl.minimize(problem, "pgs", tol=0.0, max_passes=7 - stop, start=half)
    np.testing.assert_allclose(rest.iterate.alpha, straight.iterate.alpha, atol=1e-12)


@pytest.mark.parametrize("loss", [fl.Logistic(), fl.SmoothHinge(), fl.SquaredHinge(), fl.Hinge()], ids=str)
@pytest.mark.parametrize("solver", ["pgs", "pegasos", "optimistic", "proximal"])
def test_the_mean_of_the_derivatives_proves_more_than_those_at_the_last_weights(loss, solver):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 20))
    labels = np.sign(rows[:, 0] + rng.standard_normal(1000))  # far from separable
    problem = fl.Problem(rows, labels, loss, fl.L2(1e-2))
    least = fl.minimize(problem, tol=1e-9, max_passes=10_000).dual_objective
    found = fl.minimize(problem, solver, tol=0.0, max_passes=16)
    assert found.dual_objective <= least + 1e-8
    assert found.gap < 0.5 * problem.gap(found.w)
    kept = found.iterate.alpha if isinstance(loss, fl.Hinge) else found.iterate.mean_alpha
    assert np.all(kept * labels >= 0.0), "a mean stays in the domain of φ*"
    assert found.dual_objective >= problem.lower_bound(kept) - 1e-12
