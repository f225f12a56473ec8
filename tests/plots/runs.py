"""A run to draw."""

from __future__ import annotations

import numpy as np

import fenchel as fl


def solved(solver="sdca", tol=1e-5, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = np.sign(X[:, 0] + rng.standard_normal(60))
    return fl.minimize(fl.Problem(X, y, fl.SmoothHinge(1.0), fl.L2(1e-2)), solver, tol=tol, **options)
