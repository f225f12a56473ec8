"""The figure of the inverse-time experiment shows medians of the runs that reached the accuracy."""

from __future__ import annotations

import math

import numpy as np

from fenchel import plots
from fenchel.experiments.inverse_time import Size


def test_inverse_time_shows_medians_and_skips_sizes_that_did_not_reach_the_accuracy():
    sizes = [Size(100, None, [math.inf] * 3, [math.inf] * 3), Size(200, None, [1.0, 2.0, 9.0], [10.0, 20.0, 30.0]), Size(400, None)]
    seconds, iterations = plots.inverse_time(sizes, 0.9)
    assert np.array_equal(seconds.lines[0].get_ydata(), [math.nan, 2.0, math.nan], equal_nan=True)
    assert np.array_equal(iterations.lines[0].get_ydata(), [math.nan, 20.0, math.nan], equal_nan=True)
    assert [text.get_text() for text in seconds.get_xticklabels()] == ["100", "200", "400"]
