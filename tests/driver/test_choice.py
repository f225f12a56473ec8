"""The solver that is chosen automatically solves the problem within its memory."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_regression

import fenchel as fl
from fenchel.driver.choice import choose
from fenchel.structured import Chain, Problem
from tests.data import breast_cancer


def test_automatic_choice_solves_ordinary_data_sets():
    X, y = breast_cancer()
    text, labels = fl.datasets.make_text(2000, n=20_000)
    wide, target = make_regression(50, 200, random_state=0)
    cases = [
        fl.Problem(X, y, fl.Hinge(), fl.L2(1.0 / len(y))),
        fl.Problem(X, y, fl.Logistic(), fl.L1(1e-3)),
        fl.Problem(text, labels, fl.Squared(), fl.L2(1e-5)),
        fl.Problem(text, labels, fl.Huber(0.3), fl.L1L2(l1=1e-9, l2=1e-9)),
        fl.Problem(wide, target / target.std(), fl.Absolute(), fl.L2(1e-3)),
    ]
    for case in cases:
        assert fl.minimize(case, tol=1e-3, max_passes=400).converged, case  # a ConvergenceWarning would be an error, too


def test_mixtures_that_would_not_fit_in_memory_are_not_kept():
    problem = Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-3))
    problem.n = 10**6
    assert choose(problem)[0] == "block-frank-wolfe"
    problem.part_sizes = np.array([10**9])
    assert choose(problem)[0] == "optimistic"
