"""Sums over rows: divided among threads they are the same up to the last digit, and what is computed row by row is the same exactly."""

import math

import numpy as np
import pytest

from fenchel.losses import losses
from fenchel.problems import sums
from fenchel.solvers._second_order.curvatures import row_curvatures
from tests.data import labels_for

LOSSES = [loss for loss in (kind() for kind in losses().values()) if hasattr(loss, "conjugate")]


@pytest.fixture
def few_rows_count_as_many(monkeypatch):
    monkeypatch.setattr(sums, "FEWEST_IN_RANGE", 100)


def predictions(loss, m=1003):
    rng = np.random.default_rng(0)
    z = 3.0 * rng.standard_normal((m, 3) if loss.labels == "class" else m)
    return z, labels_for(loss.labels, rng.standard_normal(m)).astype(np.float64 if loss.labels != "class" else np.int64), rng.random(m)


@pytest.mark.usefixtures("few_rows_count_as_many")
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_sums_of_several_threads_are_those_of_one(loss):
    z, y, r = predictions(loss)
    one, three = (sums.sum_losses(loss, z, y, r, threads) for threads in (1, 3))
    assert three == pytest.approx(one, rel=1e-15)
    negative = sums.negative_vector_derivatives if loss.labels == "class" else sums.negative_derivatives
    alone, together = np.empty_like(z), np.empty_like(z)
    negative(loss, z, y, alone)
    assert len(sums.in_ranges(3, negative, loss, (z, y, together))) == 3
    assert np.array_equal(alone, together)
    one, three = (sums.sum_conjugates(loss, alone, y, r, 0.5, threads) for threads in (1, 3))
    np.testing.assert_allclose(three, one, rtol=1e-14)
    if hasattr(loss, "curvature") and loss.labels != "class":
        row_curvatures(loss, z, y, r, alone)
        sums.in_ranges(3, row_curvatures, loss, (z, y, r, together))
        assert np.array_equal(alone, together)


def test_the_sum_of_sums_keeps_what_rounding_took():
    parts = [(1e16, 1.0), (1.0, 0.25), (-1e16, -0.75)]
    assert sums.total_of(parts) == math.fsum(part for pair in parts for part in pair)
    assert sums.total_of([(math.inf, math.nan), (1.0, 0.0)]) != 1.0


def test_few_rows_are_left_to_one_thread():
    calls = []
    sums.in_ranges(4, lambda loss, z: calls.append(len(z)), None, (np.zeros(1000),))
    assert calls == [1000]
