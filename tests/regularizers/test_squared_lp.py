"""The squared lp norm with p near 1: weights stay finite and the run converges."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from tests.data import data


@pytest.mark.parametrize("p", [1.001, 1.003, 1.01])
@pytest.mark.parametrize("scale", [1.0, 5000.0])
def test_weights_stay_finite_and_converge_for_p_near_one(p, scale):
    X, y = data("binary")
    problem = fl.Problem(X * scale, y, fl.SmoothHinge(), fl.SquaredLp(1e-3 * scale**2, p=p))
    result = fl.minimize(problem, "sdca", tol=1e-2, max_passes=2000)
    assert np.isfinite(result.w).all()
    assert result.converged
    assert result.objective < problem.objective_at_zero
