"""Structured prediction: models of structured outputs, and the problem of learning their weights

>>> import numpy as np, fenchel as fl
>>> X, Y = np.eye(3), ["a", "b", "a"]
>>> problem = fl.structured.Problem(fl.structured.Multiclass(), X, Y, fl.L2(0.1), loss="likelihood")
>>> fl.minimize(problem, tol=1e-6).converged
True
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
