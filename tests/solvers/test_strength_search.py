"""strength="auto": the result equals an ordinary run with the chosen strength, is certified for it, and predicts as well as the best."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from fenchel.solvers._online.candidates import EXPONENTS
from fenchel.solvers._online.strength_search import AVERAGED_FROM
from tests import naive
from tests.data import signed_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TEXT = {"m": 2000, "n": 400, "nonzeros": 15, "seed": 4}
X, Y = signed_rows()


def automatic(problem, **options):
    return fl.minimize(problem, "pgs", **{"tol": 0.0, "max_passes": 1, "strength": "auto", **options})


@pytest.mark.parametrize(
    ("loss", "regularizer", "batch"),
    [
        (fl.Logistic(), fl.L2(1.0), 1),  # all candidates in one kernel
        (fl.Hinge(), fl.SquaredLp(1.0, 2.0), 1),
        (fl.Logistic(), fl.SquaredLp(1.0, 1.8), 1),  # a kernel call each
        *(
            pytest.param(*rare, marks=pytest.mark.slow)
            for rare in (
                (fl.Hinge(), fl.L1L2(l1=0.01, l2=1.0), 1),
                (fl.Logistic(), fl.L2(1.0), 4),
                (fl.Squared(), fl.L2(1.0), 1),
                (fl.Absolute(), fl.L2(1.0), 1),
                (fl.Softmax(), fl.L2(1.0), 1),
                (fl.Logistic(), fl.Entropy(1.0, 20.0), "auto"),
            )
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("intercept", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_result_equals_a_run_with_the_chosen_strength(text, loss, regularizer, batch, intercept):
    X, y = text
    y = np.arange(len(y)) % 3 if loss.labels == "class" else y
    problem = fl.Problem(X, y, loss, regularizer, intercept=intercept)
    chosen = automatic(problem, predictor="last", batch=batch, seed=3)
    assert type(chosen.regularizer) is type(regularizer)
    alone = fl.minimize(problem.replace(regularizer=chosen.regularizer), "pgs", tol=0.0, max_passes=1, batch=batch, seed=3)
    np.testing.assert_allclose(chosen.iterate.w, alone.iterate.w, rtol=0, atol=1e-11 * np.abs(alone.iterate.w).max())
    assert chosen.objective == pytest.approx(alone.objective)
    assert chosen.iterate.state["t"] == alone.iterate.state["t"]


def test_the_default_predictor_is_the_average_of_a_suffix(text):
    X, y = text
    chosen = automatic(fl.Problem(X, y, fl.Hinge(), fl.L2(1.0)), sampling="sequential")
    l2 = chosen.regularizer.l2
    visited = naive.pgs(fl.Hinge(), X.toarray(), y, naive.batches(len(y), 1, 1), lambda v: v / l2)
    expected = visited[round(AVERAGED_FROM * len(y)) :].mean(axis=0)
    np.testing.assert_allclose(chosen.w, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("predictor", ["last", "suffix"])
@pytest.mark.parametrize("regularizer", [fl.L2(1.0), fl.SquaredLp(1.0, 1.5)], ids=str)
def test_later_passes_use_the_chosen_strength(text, predictor, regularizer):
    X, y = text
    problem = fl.Problem(X, y, fl.Logistic(), regularizer)
    options = {"predictor": predictor, "sampling": "permutation"}
    straight = automatic(problem, max_passes=5, **options)
    half = automatic(problem, max_passes=2, **options)
    rest = automatic(problem, max_passes=3, start=half, seed=99, **options)
    assert straight.regularizer == half.regularizer == rest.regularizer
    assert (straight.passes, half.passes, rest.passes) == (5.0, 2.0, 3.0)
    np.testing.assert_allclose(rest.iterate.w, straight.iterate.w, rtol=0, atol=1e-9 * np.abs(straight.iterate.w).max())


def test_the_certificate_is_for_the_chosen_strength(text):
    X, y = text
    problem = fl.Problem(X, y, fl.Logistic(), fl.L2(1.0))
    result = automatic(problem, tol=1e-3, max_passes=300)
    own = problem.replace(regularizer=result.regularizer)
    assert result.objective == pytest.approx(own.objective(result.w), rel=1e-12)
    assert result.dual_objective <= fl.minimize(own, "lbfgs", tol=1e-8).objective + 1e-10
    assert result.gap == pytest.approx(result.objective - result.dual_objective)


def test_strengths_are_multiples_of_the_regularizer_given(text):
    """Only the ratio of the given strengths l1 and l2 matters."""
    X, y = text
    small, large = (automatic(fl.Problem(X, y, fl.Hinge(), fl.L1L2(l1=0.01 * c, l2=c))) for c in (1e-6, 10.0))
    np.testing.assert_allclose(small.regularizer, large.regularizer)
    assert small.regularizer.l1 == pytest.approx(0.01 * small.regularizer.l2)
    np.testing.assert_allclose(small.w, large.w, atol=1e-9)


def test_rows_of_another_scale_give_the_same_predictions(text):
    X, y = text
    one, other = (automatic(fl.Problem(c * X, y, fl.Logistic(), fl.L2(1.0))) for c in (1.0, 1e4))
    np.testing.assert_allclose(1e4 * other.w, one.w, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [fl.Logistic(), fl.Hinge(), fl.Squared()], ids=str)
@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_accuracy_is_close_to_the_best_of_a_grid(loss, noise):
    X, y = fl.datasets.make_text(12_000, n=2000, nonzeros=20, contrast=0.6, noise=noise, seed=7)
    train, test = slice(0, 8000), slice(8000, None)
    problem = fl.Problem(X[train], y[train], loss, fl.L2(1.0))

    def error(result):
        return float(np.mean(np.sign(X[test] @ result.w) != y[test]))

    unit = 1.0 / 8000
    grid = [fl.minimize(problem.replace(regularizer=fl.L2(unit * 2.0**k)), "pgs", tol=0.0, max_passes=1) for k in EXPONENTS]
    errors = [error(result) for result in grid]
    assert error(automatic(problem)) <= min(errors) + 0.01
    assert max(errors) > min(errors) + 0.02, "a grid on which the strength does not matter would prove nothing"


@pytest.mark.parametrize("m", [1, 2, 7, 100, 1000])
def test_few_rows_are_enough(m):
    X, y = fl.datasets.make_text(m, n=50, nonzeros=5, seed=0)
    result = automatic(fl.Problem(X, y, fl.Hinge(), fl.L2(1.0)))
    assert np.isfinite(result.w).all()
    assert np.isfinite(result.gap)


def test_rows_of_one_class_and_rows_of_zeros_are_accepted(text):
    X, _ = text
    for A, y in ((X, np.ones(X.shape[0])), (0.0 * X, np.where(np.arange(X.shape[0]) % 2, 1.0, -1.0))):
        result = automatic(fl.Problem(A, y, fl.Logistic(), fl.L2(1.0)))
        assert np.isfinite(result.w).all()
        assert np.isfinite(result.objective)


def test_a_strength_is_chosen_on_a_stream(text):
    X, y = fl.datasets.make_text(20_000, n=2000, nonzeros=20, contrast=0.6, seed=7)
    chunks = ((X[i : i + 500], y[i : i + 500]) for i in range(0, 16_000, 500))
    result = fl.minimize(fl.Stream(chunks, fl.Logistic(), fl.L2(1.0)), "pgs", strength="auto")
    held_out = slice(16_000, None)

    def error(w):
        return float(np.mean(np.sign(X[held_out] @ w) != y[held_out]))

    problem = fl.Problem(X[:16_000], y[:16_000], fl.Logistic(), fl.L2(1.0))
    run = {"tol": 0.0, "max_passes": 1, "sampling": "sequential"}
    grid = [fl.minimize(problem.replace(regularizer=fl.L2(2.0**k / 16_000)), "pgs", **run) for k in EXPONENTS]
    assert error(result.w) <= min(error(r.w) for r in grid) + 0.01
    own = problem.replace(regularizer=result.regularizer)
    assert result.dual_objective <= fl.minimize(own, "lbfgs", tol=1e-6).objective


def test_other_values_of_strength_are_refused(text):
    X, y = text
    with pytest.raises(ValueError, match=r"strength=0\.1: "):
        automatic(fl.Problem(X, y, fl.Hinge(), fl.L2(1.0)), strength=0.1)


@pytest.mark.parametrize(("m", "batch"), [(1, 1), (1, 8), (2, 1), (50, 50), (50, 64)])
@pytest.mark.parametrize("predictor", ["auto", "last", "average", "random"])
def test_a_search_over_very_few_batches_ends(m, batch, predictor):
    problem = fl.Problem(X[:m], Y[:m], fl.Logistic(), fl.L2(0.1))
    result = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=2, batch=batch, predictor=predictor)
    assert np.isfinite(result.w).all()
    assert result.w.any()


@pytest.mark.parametrize("predictor", ["auto", "last", "suffix", "average"])
def test_a_stream_with_a_chosen_strength_can_be_continued(predictor):
    rows = np.random.default_rng(1).standard_normal((2000, 5))
    labels = np.where(rows[:, 0] > 0.0, 1.0, -1.0)

    def stream(first, last):
        return fl.Stream([(rows[i : i + 250], labels[i : i + 250]) for i in range(first, last, 250)], fl.Logistic(), fl.L2(0.1))

    options = {"strength": "auto", "predictor": predictor}
    before = fl.minimize(stream(0, 1000), "pgs", **options)
    after = fl.minimize(stream(1000, 1250), "pgs", start=before, **options)
    assert after.regularizer == before.regularizer
    assert 0.5 < np.linalg.norm(after.w) / np.linalg.norm(before.w) < 2.0


def test_another_stream_continues_with_the_chosen_strength():
    def chunks(first, last):
        return ((X[i : i + 50], Y[i : i + 50]) for i in range(first, last, 50))

    first = fl.minimize(fl.Stream(chunks(0, 100), fl.Hinge(), fl.L2(1.0)), "pgs", strength="auto")
    later = fl.minimize(fl.Stream(chunks(100, 200), fl.Hinge(), fl.L2(1.0)), "pgs", strength="auto", start=first)
    assert later.status == "exhausted"
    assert later.iterate.state["t"] == 200.0


@pytest.mark.slow
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.MulticlassHinge(), fl.Softmax()], ids=str)
def test_the_reported_bound_is_the_best_for_alpha(loss):
    y = np.arange(200) % 3 if loss.labels == "class" else Y
    problem = fl.Problem(X, y, loss, fl.L2(1.0))
    result = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=1)
    own = problem.replace(regularizer=result.regularizer)
    assert result.dual_objective >= 0.0
    assert result.gap <= own.gap(result.w, result.alpha) * (1.0 + 1e-9)


def test_a_run_stopped_at_once_keeps_the_strength_of_its_start():
    problem = fl.Problem(X, Y, fl.Logistic(), fl.L2(10.0))
    first = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=2)
    again = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=0, start=first)
    assert again.regularizer == first.regularizer
    assert again.objective == pytest.approx(problem.replace(regularizer=first.regularizer).objective(again.w))


def test_a_random_predictor_is_reproducible_in_a_search():
    problem = fl.Problem(np.tile(X, (10, 1)), np.tile(Y, 10), fl.Logistic(), fl.SquaredLp(1.0, 1.5))
    run = {"strength": "auto", "predictor": "random", "tol": 0.0, "max_passes": 1}
    assert len({fl.minimize(problem, "pgs", threads=threads, **run).w.tobytes() for threads in (1, 2, 2, 2)}) == 1
