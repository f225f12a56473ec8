import numpy as np
import pytest

import fenchel as fl
from fenchel.solvers.sdca import best_multiple, dual_curvatures, intercept_term, sdca


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
    assert strength == pytest.approx(min(0.01 * max(1.0, 10.0 / length**2), 10.0 / 200 * problem.objective_at_zero))
    centred = problem.regularizer._replace(intercept_l2=strength)
    naive = [r * (x @ x / 0.01 + 1.0 / strength) for r, x in zip(problem.row_weights, X, strict=True)]
    np.testing.assert_allclose(dual_curvatures(problem, centred), naive, rtol=1e-9)


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


@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.Squared(), fl.Softmax()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("weaker", [1.0, 1e-2, 1e-9])
def test_the_dual_point_of_a_start_is_shortened_where_that_raises_the_dual_objective(loss, weaker):
    X, y = labelled_rows()
    y = (y + 1.0) // 2 if loss.labels == "class" else y
    problem = fl.Problem(X, y, loss, fl.L2(0.1))
    alpha = fl.minimize(problem, tol=1e-9).alpha
    other = problem.replace(regularizer=fl.L2(0.1 * weaker))
    found = best_multiple(other, alpha)
    c = np.linalg.norm(found) / np.linalg.norm(alpha)
    assert np.log2(c) == pytest.approx(round(np.log2(c)))
    np.testing.assert_allclose(found, c * alpha)
    assert all(other.dual_objective(found) >= other.dual_objective(2.0**-k * alpha) - 1e-12 for k in range(15))
    assert weaker < 1.0 or c == 1.0


@pytest.mark.parametrize("solver", ["sdca", "accelerated-sdca"])
def test_a_start_under_a_stronger_penalty_saves_passes(solver):
    X, y = labelled_rows(2000, 200)
    options = {} if solver == "sdca" else {"variant": "practical"}
    problem = fl.Problem(X, y, fl.Logistic(), fl.L2(1e-2))
    before = fl.minimize(problem, solver, tol=1e-4, **options)
    weaker = problem.replace(regularizer=fl.L2(1e-3))
    cold, warm = (fl.minimize(weaker, solver, tol=1e-4, start=start, **options) for start in (None, before))
    assert warm.converged
    assert warm.passes <= cold.passes


@pytest.mark.parametrize("l2", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic()], ids=lambda loss: type(loss).__name__)
def test_strong_penalties_do_not_keep_the_intercept_from_moving(loss, l2):
    X, y = labelled_rows(2000, 30)
    y = np.where(np.random.default_rng(1).random(2000) < 0.8, 1.0, y)
    result = fl.minimize(fl.Problem(X, y, loss, fl.L2(l2), intercept="free"), "sdca", tol=1e-3, max_passes=30)
    assert result.converged


@pytest.mark.parametrize("solver", ["sdca", "accelerated-sdca"])
@pytest.mark.parametrize("loss", [fl.Squared(), fl.Huber(0.5)], ids=lambda loss: type(loss).__name__)
def test_labels_that_the_intercept_alone_explains_are_solved(solver, loss):
    X = labelled_rows(20, 3)[0]
    result = fl.minimize(fl.Problem(X, np.full(20, 3.0), loss, fl.L2(0.1), intercept="free"), solver, tol=1e-6)
    assert result.converged
    assert result.intercept == pytest.approx(3.0)
