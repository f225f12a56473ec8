import numpy as np
import pytest

import fenchel as fl
from fenchel.solvers.sdca import dual_curvatures, intercept_term, sdca


def labelled_rows(m=200, n=30, length=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    X *= length / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(X[:, 0] + 0.3 * length * rng.standard_normal(m) > 0, 1.0, -1.0)


@pytest.mark.parametrize("length", [0.1, 1.0, 30.0])
def test_the_curvature_of_a_step_is_the_sum_over_weights_and_intercept(length):
    X, y = labelled_rows(length=length)
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.01), intercept="free", sample_weight=1.0 + np.arange(200) % 3)
    strength = intercept_term(problem).strength(problem.penalised)
    assert strength == pytest.approx(max(0.01, min(0.01 * 10.0 / length**2, 1e-2 * problem.objective_at_zero)))
    centred = problem.replace(regularizer=problem.regularizer._replace(intercept_l2=strength))
    naive = [r * (x @ x / 0.01 + 1.0 / strength) for r, x in zip(problem.row_weights, X, strict=True)]
    np.testing.assert_allclose(dual_curvatures(centred), naive, rtol=1e-9)


@pytest.mark.parametrize("solver", ["sdca", "accelerated-sdca"])
@pytest.mark.parametrize(("length", "l2"), [(0.03, 1e-4), (0.1, 1e-3)])
def test_short_rows_do_not_keep_the_intercept_from_moving(solver, length, l2):
    X, y = labelled_rows(2000, 20, length)
    X[:, 0] += length
    options = {} if solver == "sdca" else {"variant": "practical"}
    result = fl.minimize(fl.Problem(X, y, fl.Hinge(), fl.L2(l2), intercept="free"), solver, tol=1e-4, max_passes=60, **options)
    assert result.converged


@pytest.mark.parametrize("solver", ["sdca", "accelerated-sdca"])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
def test_an_unpenalised_intercept_hardly_costs_passes(solver, loss):
    X, y = labelled_rows(2000, 200)
    y = np.where(np.random.default_rng(1).random(2000) < 0.3, 1.0, y)
    y = (y + 1.0) // 2 if loss.labels == "class" else y
    options = {} if solver == "sdca" else {"variant": "practical"}
    without, free = (
        fl.minimize(fl.Problem(X, y, loss, fl.L2(1e-3), intercept=intercept), solver, tol=1e-4, **options) for intercept in (0.0, "free")
    )
    assert free.converged
    assert free.passes <= 3.6 * without.passes


@pytest.mark.parametrize("shrinking", [False, True])
def test_the_progressive_loss_is_that_of_the_pass_over_all_rows(shrinking):
    X, y = labelled_rows()
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.05))
    options = {"start": None, "accuracy": 0.0, "progressive": True, "shrinking": shrinking}
    iterates = sdca.run(problem, rng=np.random.default_rng(0), **options)
    seen = [(iterate.passes, iterate.mean_loss) for iterate, _ in zip(iterates, range(8), strict=False)]
    lowest = problem.mean_loss(problem.predict(fl.minimize(problem, tol=1e-9).w))
    assert all(0.9 * lowest < loss < problem.objective_at_zero for _, loss in seen)
    assert seen[-1][1] == pytest.approx(lowest, rel=0.05)
    assert (np.diff([passes for passes, _ in seen]) == 1.0).all() == (not shrinking)
    plain = next(sdca.run(problem, rng=np.random.default_rng(0), start=None, accuracy=0.0))
    assert np.isnan(plain.mean_loss)
