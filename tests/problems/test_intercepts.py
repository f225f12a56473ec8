"""The intercept that minimises the mean loss of given predictions"""

import numpy as np
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq

import fenchel as fl
from fenchel.losses import losses

SCALAR = [cls() for cls in losses().values() if getattr(cls(), "labels", "real") != "class"]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SCALAR), st.integers(1, 30), st.integers(-8, 6), st.booleans(), st.integers(0, 10**6))
def test_the_derivative_changes_its_sign_at_the_best_intercept(loss, m, exponent, constant, seed):
    rng = np.random.default_rng(seed)
    y = 10.0**exponent * (3.0 + rng.standard_normal(m)) if loss.labels == "real" else np.where(rng.random(m) < 0.4, 1.0, -1.0)
    if loss.labels == "binary":
        y[:1], y[-1:] = 1.0, -1.0  # a single class has no best intercept
    problem = fl.Problem(rng.standard_normal((m, 2)), y, loss, fl.L2(1.0), intercept="free", sample_weight=0.1 + rng.random(m))
    z = np.zeros(m) if constant else rng.standard_normal(m)
    if loss.labels == "binary" and m == 1:
        return

    def derivative(b):
        return -float(problem.negative_derivatives(z + b, y) @ problem.row_weights)

    b, reach = problem.best_intercept(z), 10.0 * (1.0 + np.abs(z).max() + np.abs(y).max())
    steepness = np.abs(problem.negative_derivatives(z + b, y)) @ problem.row_weights
    assert abs(derivative(b)) <= 1e-9 * steepness or derivative(b - 1e-9 * reach) <= 0.0 <= derivative(b + 1e-9 * reach)
    smooth = hasattr(loss, "curvature") and not hasattr(loss, "lipschitz")
    if smooth and derivative(-reach) < 0.0 < derivative(reach):
        assert abs(derivative(brentq(derivative, -reach, reach, xtol=1e-14, rtol=1e-15))) >= abs(derivative(b)) - 1e-9 * steepness - 1e-300
