"""The automatic choice of a solver: it solves the problem, fits into memory, and does not depend on who wrote the loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_regression

import fenchel as fl
from fenchel.driver.choice import choose
from fenchel.structured import Chain, Problem
from tests.data import breast_cancer, data
from tests.own_losses import OwnElasticNet, OwnSquared


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
    few, many = (Problem(Chain(), [[["a"], ["b"]]] * 2, [["X", "Y"]] * 2, fl.L2(1e-3)) for _ in range(2))
    few.n = many.n = 10**6
    many.part_sizes = np.array([10**9])
    assert choose(few)[0] == "block-frank-wolfe"
    assert choose(many)[0] == "optimistic"


def test_a_choice_is_made_once_for_a_problem_and_again_for_another_regularizer():
    problem = fl.Problem(np.ones((100, 1)), np.ones(100), fl.Squared(), fl.L2(1e-3))
    assert choose(problem) is choose(problem)
    assert choose(problem)[0] == "newton"
    assert choose(problem.replace(regularizer=fl.L1(1e-3)))[0] == "working-set"
    assert choose(problem.replace(loss=fl.Absolute()))[0] == "interior-point"


PENALTIES = [fl.L2(1e-4), fl.L1(1e-3), fl.L1L2(l1=1e-3, l2=1e-4), fl.SquaredLp(0.1, 1.5)]


@pytest.mark.parametrize("shape", ["few columns", "many of both"])
@pytest.mark.parametrize(
    ("regularizer", "intercept"), [*((penalty, 0.0) for penalty in PENALTIES), *((penalty, "free") for penalty in PENALTIES[:3])], ids=repr
)
def test_a_squared_loss_of_the_user_gets_the_solver_of_the_squared_loss(regularizer, intercept, shape):
    large = sp.random_array((3000, 4000), density=0.01, rng=np.random.default_rng(0))
    X, y = data("real") if shape == "few columns" else (large, np.ones(3000))
    own, known = (fl.Problem(X, y, loss, regularizer, intercept=intercept) for loss in (OwnSquared(), fl.Squared()))
    assert choose(own) == choose(known)


@pytest.mark.parametrize(
    ("own", "known"),
    [(OwnElasticNet(l2=0.1), fl.L2(0.1)), (OwnElasticNet(l1=0.05, l2=0.1), fl.L1L2(l1=0.05, l2=0.1))],
    ids=["ridge", "elastic net"],
)
def test_a_penalty_of_the_user_gets_the_solver_of_the_known_one(own, known):
    X, y = data("binary")
    for loss in (fl.Logistic(), fl.Hinge()) if known == fl.L2(0.1) else (fl.Logistic(),):
        problems = [fl.Problem(X, y, loss, regularizer) for regularizer in (own, known)]
        assert choose(problems[0]) == choose(problems[1])
        found = [fl.minimize(problem, tol=1e-6) for problem in problems]
        assert found[0].objective == pytest.approx(found[1].objective, abs=1e-6)


def test_dual_ascent_refuses_a_penalty_without_a_link():
    X, y = data("binary")
    for solver in ("sdca", "accelerated-sdca"):
        with pytest.raises(fl.InputError, match="a method link, and OwnElasticNet has none"):
            fl.minimize(fl.Problem(X, y, fl.Hinge(), OwnElasticNet(l2=0.1)), solver)
