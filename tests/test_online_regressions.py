"""Faults of the online solvers that were found once, each with the smallest case that showed it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel import theory

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = np.random.default_rng(0).standard_normal((200, 5))
Y = np.where(X[:, 0] > 0.0, 1.0, -1.0)


@pytest.mark.parametrize(("m", "batch"), [(1, 1), (1, 8), (2, 1), (50, 50), (50, 64)])
@pytest.mark.parametrize("predictor", ["auto", "last", "average", "random"])
def test_a_race_over_very_few_batches_ends(m, batch, predictor):
    problem = fl.Problem(X[:m], Y[:m], fl.Logistic(), fl.L2(0.1))
    result = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=2, batch=batch, predictor=predictor)
    assert np.isfinite(result.w).all()
    assert result.w.any()


@pytest.mark.parametrize("predictor", ["auto", "last", "suffix", "average"])
def test_a_stream_that_chooses_its_strength_goes_on(predictor):
    rows = np.random.default_rng(1).standard_normal((2000, 5))
    labels = np.where(rows[:, 0] > 0.0, 1.0, -1.0)

    def stream(first, last):
        return fl.Stream([(rows[i : i + 250], labels[i : i + 250]) for i in range(first, last, 250)], fl.Logistic(), fl.L2(0.1))

    options = {"strength": "auto", "predictor": predictor}
    before = fl.minimize(stream(0, 1000), "pgs", **options)
    after = fl.minimize(stream(1000, 1250), "pgs", start=before, **options)
    assert after.regularizer == before.regularizer
    assert 0.5 < np.linalg.norm(after.w) / np.linalg.norm(before.w) < 2.0


def test_a_generator_goes_on_from_a_stream_that_chose_its_strength():
    def chunks(first, last):
        return ((X[i : i + 50], Y[i : i + 50]) for i in range(first, last, 50))

    first = fl.minimize(fl.Stream(chunks(0, 100), fl.Hinge(), fl.L2(1.0)), "pgs", strength="auto")
    later = fl.minimize(fl.Stream(chunks(100, 200), fl.Hinge(), fl.L2(1.0)), "pgs", strength="auto", start=first)
    assert later.status == "exhausted"
    assert later.iterate.state["t"] == 200.0


def test_a_stream_claims_no_more_than_it_knows():
    """Strong regularization: what rows suffered on the way can lie below the optimum, and is no certificate of w."""
    result = fl.minimize(fl.Stream([(X, Y)], fl.Hinge(), fl.L2(10.0)), "pgs")
    assert np.isnan(result.gap)
    assert not result.converged
    assert not result.certified
    assert np.isnan(result.history["gap"]).all()
    best = fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(10.0)), tol=1e-8).objective
    assert 0.0 <= result.dual_objective <= best + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.MulticlassHinge(), fl.Softmax()], ids=str)
def test_the_bound_reported_is_the_best_that_alpha_gives(loss):
    y = np.arange(200) % 3 if loss.labels == "class" else Y
    problem = fl.Problem(X, y, loss, fl.L2(1.0))
    result = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=1)
    own = problem.replace(regularizer=result.regularizer)
    assert result.dual_objective >= 0.0
    assert result.gap <= own.gap(result.w, result.alpha) * (1.0 + 1e-9)


def test_a_run_that_is_stopped_at_once_keeps_the_strength_chosen_before():
    problem = fl.Problem(X, Y, fl.Logistic(), fl.L2(10.0))
    first = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=2)
    again = fl.minimize(problem, "pgs", strength="auto", tol=0.0, max_passes=0, start=first)
    assert again.regularizer == first.regularizer
    assert again.objective == pytest.approx(problem.replace(regularizer=first.regularizer).objective(again.w))


def test_what_a_solver_ends_with_is_evaluated(monkeypatch):
    import fenchel.problems.objective

    monkeypatch.setattr(fenchel.problems.objective, "PIECE", 64)  # so that it ends within a pass
    problem = fl.Problem(X / 10.0, Y, fl.Hinge(), fl.L2(0.1))
    result = fl.minimize(problem, "optimistic", epsilon=0.9, tol=1e-9, max_passes=50)
    assert result.status == "finished"
    assert result.history["passes"][-1] == result.passes
    assert result.w.any()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["robust", "printed"])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("l2", [0.1, 1.0, 10.0])
def test_every_epsilon_comes_to_an_end(rule, epsilon, l2):
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    result = fl.minimize(fl.Problem(rows, Y, fl.Hinge(), fl.L2(l2)), "optimistic", epsilon=epsilon, rule=rule, tol=0.0, max_passes=20_000)
    assert result.status == "finished"


@pytest.mark.slow
@pytest.mark.parametrize("options", [("adaptive", {}), ("proximal", {}), ("optimistic", {}), ("optimistic", {"rule": "printed"})], ids=str)
def test_rows_without_a_loss_come_first(options):
    solver, extra = options
    weights = np.where(np.arange(200) < 100, 0.0, 1.0)
    zero_first = 3.0 * X[:, 0] * (np.arange(200) > 0)
    for start in (None, np.full(5, 0.3)):
        for problem in (
            fl.Problem(X, Y, fl.Hinge(), fl.L2(1e-3), sample_weight=weights),
            fl.Problem(X, zero_first, fl.Squared(), fl.L2(1e-3)),
            fl.Problem(X, 0.0 * Y, fl.Absolute(), fl.L2(1e-3)),
        ):
            result = fl.minimize(problem, solver, sampling="sequential", start=start, tol=0.0, max_passes=3, **extra)
            assert np.isfinite(result.iterate.w).all()
            assert result.status == "max_passes" or problem.objective_at_zero == 0.0


def test_a_tiny_guess_of_the_norm_does_no_harm():
    result = fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(1e-3)), "proximal", radius=1e-300, tol=0.0, max_passes=2)
    assert np.isfinite(result.iterate.w).all()


def test_a_random_predictor_in_a_race_is_the_same_every_time():
    problem = fl.Problem(np.tile(X, (10, 1)), np.tile(Y, 10), fl.Logistic(), fl.SquaredLp(1.0, 1.5))
    run = {"strength": "auto", "predictor": "random", "tol": 0.0, "max_passes": 1}
    assert len({fl.minimize(problem, "pgs", threads=threads, **run).w.tobytes() for threads in (1, 2, 2, 2)}) == 1


def test_a_stream_that_has_been_read():
    again = fl.Stream([(X, Y)], fl.Hinge(), fl.L2(0.1))
    first, second = (fl.minimize(again, "pgs") for _ in range(2))
    assert np.array_equal(first.w, second.w), "a list is read from its beginning"
    once = fl.Stream(iter([(X, Y)]), fl.Hinge(), fl.L2(0.1))
    fl.minimize(once, "pgs")
    with pytest.raises(ValueError, match="The stream has been read, and an iterator can be read only once"):
        fl.minimize(once, "pgs")
    spent = iter([(X, Y)])
    with pytest.raises(ValueError, match="The stream has no chunks in pass 2"):
        fl.minimize(fl.Stream(lambda: spent, fl.Hinge(), fl.L2(0.1), passes=2), "pgs")


def test_batches_across_chunks_leave_the_users_matrices_alone():
    wide, narrow = sp.random(7, 6, 0.5, format="csr", random_state=1), sp.random(7, 4, 0.5, format="csr", random_state=0)
    chunks = [(wide, np.ones(7)), (narrow, -np.ones(7)), (X[:7, :5] @ np.eye(5, 6), np.ones(7))]
    result = fl.minimize(fl.Stream(chunks, fl.Hinge(), fl.L2(0.1), features=6), "pgs", batch=5)
    assert narrow.shape == (7, 4)
    together = np.vstack([wide.toarray(), np.pad(narrow.toarray(), ((0, 0), (0, 2))), chunks[2][0]])
    labels = np.concatenate([y for _, y in chunks])
    held = fl.minimize(fl.Problem(together, labels, fl.Hinge(), fl.L2(0.1)), "pgs", batch=5, sampling="sequential", tol=0.0, max_passes=1)
    np.testing.assert_allclose(result.w, held.iterate.w, atol=1e-12)


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_going_on_keeps_the_certificate(stop):
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.01))
    straight = fl.minimize(problem, "pgs", tol=0.0, max_passes=7)
    half = fl.minimize(problem, "pgs", tol=0.0, max_passes=stop)
    rest = fl.minimize(problem, "pgs", tol=0.0, max_passes=7 - stop, start=half)
    np.testing.assert_allclose(rest.iterate.alpha, straight.iterate.alpha, atol=1e-12)


def test_going_on_in_the_middle_of_a_phase():
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.01))
    options = {"epsilon": 0.2, "tol": 0.0}
    straight = fl.minimize(problem, "optimistic", max_passes=9, **options)
    half = fl.minimize(problem, "optimistic", max_passes=4, **options)
    rest = fl.minimize(problem, "optimistic", max_passes=5, start=half, **options)
    np.testing.assert_allclose(rest.iterate.w, straight.iterate.w, atol=1e-12)
    assert rest.iterate.state["phase"] == straight.iterate.state["phase"]


def test_a_stream_makes_no_more_passes_than_allowed():
    stream = fl.Stream([(X[i : i + 50], Y[i : i + 50]) for i in range(0, 200, 50)], fl.Hinge(), fl.L2(0.1), passes=3)
    result = fl.minimize(stream, "pgs", max_passes=2)
    assert result.passes == 2.0
    assert result.iterate.state["t"] == 400.0


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("proximal", {"tau": "single", "batch": 0}, "batch=0: give a whole number"),
        ("proximal", {"tau": "single", "batch": None}, "batch=None: give a whole number"),
        ("proximal", {"horizon": "x"}, "horizon='x': give the number of passes"),
        ("proximal", {"tau": "single", "horizon": np.inf}, "horizon=inf: give the number of passes"),
        ("optimistic", {"epsilon": "x"}, "epsilon='x', delta=1.0: give an epsilon"),
        ("optimistic", {"epsilon": np.inf}, "epsilon=inf, delta=1.0: give an epsilon"),
        ("optimistic", {"delta": "a"}, "epsilon=0.0, delta='a': give an epsilon"),
        ("pgs", {"predictor": ["last"]}, r"predictor=\['last'\]: did you mean 'last'\?"),
        ("pgs", {"divisor": []}, r"divisor=\[\]: There are"),
        ("pgs", {"batch": np.array([1, 2])}, r"batch=array\(\[1, 2\]\): give a whole number"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(solver, options, message):
    with pytest.raises(ValueError, match=message):
        fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(0.1)), solver, **options)


def test_epsilons_and_batches_beyond_all_measure():
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.1))
    for epsilon in (1e-20, 1e-300):
        assert fl.minimize(problem, "optimistic", epsilon=epsilon, tol=0.0, max_passes=1).status == "max_passes"
    for batch in (200, 10**12, 10**30):
        run = {"tol": 0.0, "max_passes": 3, "sampling": "sequential"}
        one, other = (fl.minimize(problem, "pgs", batch=size, **run).iterate.w for size in (200, batch))
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("chunks", "options", "message"),
    [
        ([(X, Y)], {"features": 5.0}, "features=5.0: give the number of columns"),
        ([(X, Y)], {"features": -1}, "features=-1: give the number of columns"),
        ([(X, Y)], {"features": 2**33}, "features=8589934592: give the number of columns"),
        ([(X, Y)], {"classes": 7}, "classes=7: Hinge is not a multiclass loss"),
        ([(np.float64(3.0), Y)], {}, "Chunk 1 of the stream: X must be a matrix"),
        ([(X, Y, "a")], {}, "Chunk 1 of the stream: sample_weight must be 200 finite numbers"),
        (lambda: None, {}, "The function given as chunks must return an iterable"),
        (3, {}, "chunks must be an iterable"),
    ],
)
def test_wrong_streams_are_told_in_a_sentence(chunks, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fl.Stream(chunks, fl.Hinge(), fl.L2(0.1), **options)


def test_plans_take_numbers_of_numpy_and_refuse_what_is_none():
    assert theory.plan_generalization(0.5, np.int64(10**6), 1.0, np.float32(1.0)).iterations > 0
    for call, message in [
        (lambda: theory.plan_optimization(0.1, 1.0, 1.0, rows=-3), "rows=-3: give a positive number"),
        (lambda: theory.plan_optimization("a", 1.0, 1.0), "accuracy='a': give a positive number"),
        (lambda: theory.plan_optimization(0.1, 1.0, 1.0, delta="x"), "delta='x': the probability"),
        (lambda: theory.plan_generalization(0.5, 10**6, 1.0, 1.0, p="a"), "p='a': p must lie"),
        (lambda: theory.plan_optimization(0.1, 1.0, 1e200), "more than 1e300 iterations"),
        (lambda: fl.plan(fl.Problem(X, 0.0 * Y, fl.Absolute(), fl.L2(1.0)), 0.1), "the objective at w = 0 is 0"),
    ]:
        with pytest.raises(ValueError, match=f"(?i){message}"):
            call()
