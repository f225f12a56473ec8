"""The inverse-time experiment: its measurements and its verdict."""

from __future__ import annotations

import math

import numpy as np

import fenchel as fl
from fenchel.experiments.inverse_time import Size, Steps, measure, verdict
from tests import naive


def test_iterations_are_counted_to_the_first_evaluation_that_reaches_the_accuracy():
    X, y = fl.datasets.make_text(800, n=200, nonzeros=15, contrast=0.8, seed=1)
    test = X[500:], y[500:]
    (size,) = measure(X[:500], y[:500], test, 0.75, [500], fl.Logistic(), fl.L2(1.0), runs=3, seed=0)
    assert len(size.seconds) == len(size.iterations) == 3
    assert all(100 <= steps <= 20 * 500 * 1.05 for steps in size.iterations)
    assert size.best >= 0.75
    assert 0.0 < size.median_seconds < math.inf


def test_an_accuracy_that_is_not_reached_gives_infinite_times_and_is_reported():
    X, y = fl.datasets.make_text(400, n=200, nonzeros=15, noise=0.5, seed=1)
    sizes = list(measure(X[:200], y[:200], (X[200:], y[200:]), 1.0, [100, 200], fl.Hinge(), fl.L2(1.0), runs=1, seed=0))
    assert all(math.isinf(size.median_seconds) for size in sizes)
    assert verdict(sizes, 1.0).startswith("1 was reached at 0 of 2 sizes, too few for a comparison; the best accuracy was 0.")


def test_an_increase_is_reported_as_one():
    assert "increased with m" in verdict([Size(100, None, [1.0], [10.0]), Size(200, None, [2.0], [5.0])], 0.9)


def test_steps_agree_with_the_naive_implementation_of_figure_1():
    X, y = fl.datasets.make_text(300, n=100, nonzeros=8, seed=2)
    problem = fl.Problem(X, y, fl.Logistic(), fl.SquaredLp(0.01, 1.8))
    steps = Steps(problem, seed=4)
    for count in (7, 50, 100):
        steps.advance(problem.sample(), count)
    rng = np.random.default_rng(4)
    rows = []
    for count in (7, 50, 100):
        starts = rng.integers(300, size=-(-count // 16))
        rows += [[i] for i in ((starts[:, None] + np.arange(16)).ravel()[:count] % 300)]
    expected = naive.pgs(fl.Logistic(), X.toarray(), y, rows, lambda v: naive.squared_lp_link(v, 0.01, 1.8, math.inf))[-1]
    np.testing.assert_allclose(steps.weights(), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
