"""The softmax loss at large predictions."""

from __future__ import annotations

import numpy as np

import fenchel as fl


def test_derivative_sums_to_zero_for_large_predictions():
    z, out = np.array([3e6, 3e6 + 1.0, 3e6 - 2.0]), np.empty(3)
    fl.Softmax().derivative(z, 1, out)
    assert abs(out.sum()) <= 1e-15
