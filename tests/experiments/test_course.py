"""Courses of runs, as the papers draw them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fenchel as fl
from fenchel.experiments.course import CoursePoint, course, error_rate, optimum, points, thinned
from tests.data import data


@pytest.fixture
def problem():
    X, y = data("binary")
    return fl.Problem(X, y, fl.Logistic(), fl.L2(0.1))


def test_a_course_has_the_objectives_of_a_run_by_the_driver(problem):
    history = fl.minimize(problem, "fista", tol=0.0, max_passes=12, seed=0).history
    found = list(itertools.islice(course(problem, "fista"), 30))
    assert found[0].objective == problem.objective_at_zero
    by_passes = {point.passes: point.objective for point in found}
    both = [(by_passes[p], objective) for p, objective in zip(history["passes"], history["objective"], strict=True) if p in by_passes]
    assert len(both) > 3
    np.testing.assert_allclose(*np.transpose(both), rtol=1e-12)


def test_a_course_ends_at_the_limit_or_where_it_is_told_to(problem):
    assert points(problem, "sdca", 5)[-1].passes >= 5
    low = points(problem, "sdca", 100, stop=lambda point: point.objective < 0.9 * problem.objective_at_zero)
    assert low[-1].objective < 0.9 * problem.objective_at_zero <= low[-2].objective
    assert [p.seconds for p in low] == sorted(p.seconds for p in low)


def test_the_optimum_lies_between_a_bound_and_a_point(problem):
    objective, bound = optimum(problem)
    assert bound <= points(problem, "sdca", 50)[-1].objective
    assert bound <= objective <= bound + 1e-6 * problem.objective_at_zero


def test_errors_are_counted_by_signs():
    X, y = np.array([[1.0], [-2.0], [3.0], [0.0]]), np.array([1.0, 1.0, 1.0, -1.0])
    assert error_rate(X, y, np.array([1.0])) == 0.25


@pytest.mark.parametrize("count", [1, 5, 60, 61, 1000])
def test_thinning_keeps_the_ends_and_the_order(count):
    found = [CoursePoint(k, k, k, k, 0, np.zeros(1)) for k in range(count)]
    kept = thinned(found)
    assert (kept[0], kept[-1]) == (found[0], found[-1])
    assert len(kept) <= 61
    assert [p.passes for p in kept] == sorted({p.passes for p in kept})
