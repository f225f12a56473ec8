"""Invalid input raises an error of one sentence that says what is wrong, where, and what to do, and has no side effects."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl

X = np.arange(12.0).reshape(4, 3)
Y = np.array([1.0, -1.0, 1.0, -1.0])


def with_entry(value, index):
    bad = X.copy()
    bad[index] = value
    return bad


def problem(X=X, y=Y, loss=fl.Hinge(), regularizer=fl.L2(1.0), **options):
    return fl.Problem(X, y, loss, regularizer, **options)


def wide():
    return sp.csr_array((np.ones(1), np.array([2_500_000_000]), np.array([0, 1])), shape=(1, 3_000_000_000))


CASES = {
    "nan in X": (lambda: problem(with_entry(np.nan, (2, 1))), r"X\[2, 1\] is nan"),
    "inf in sparse X": (lambda: problem(sp.csr_array(with_entry(np.inf, (1, 0)))), r"X\[1, 0\] is inf"),
    "nan in CSC X": (lambda: problem(sp.csc_array(with_entry(np.nan, (3, 2)))), r"X\[3, 2\] is nan"),
    "nan in y": (lambda: problem(y=np.array([1.0, np.nan, 1.0, -1.0]), loss=fl.Squared()), r"y\[1\] is nan"),
    "labels 0 and 1": (lambda: problem(y=np.array([1, 0, 1, 0])), r"Hinge takes the labels -1 and \+1, and y\[1\] is 0"),
    "labels that are not classes": (
        lambda: problem(y=np.array([0.5, 1, 2, 3]), loss=fl.Softmax()),
        r"classes 0, 1, .*y\[0\] is 0\.5",
    ),
    "negative class": (lambda: problem(y=np.array([0, 1, -1, 0]), loss=fl.Softmax()), r"y\[2\] is -1"),
    "text labels": (lambda: problem(y=np.array(["a", "b", "a", "b"])), "y must hold numbers"),
    "a matrix of labels": (lambda: problem(y=np.zeros((4, 2))), "one label per row"),
    "too few labels": (lambda: problem(y=Y[:3]), "3 labels for the 4 rows"),
    "no rows": (lambda: problem(X[:0], Y[:0]), "X has no rows"),
    "no columns": (lambda: problem(X[:, :0]), "X has no columns"),
    "one dimension": (lambda: problem(X[0]), "X must be a matrix"),
    "text in X": (lambda: problem(np.array([["a"] * 3] * 4)), "X must hold real numbers"),
    "complex X": (lambda: problem(X.astype(complex)), "X must hold real numbers"),
    "too many columns": (lambda: problem(wide(), Y[:1]), "3,000,000,000 columns"),
    "zero strength": (lambda: fl.L2(0), "strength must be positive"),
    "negative strength": (lambda: fl.L1(-1.0), "strength must be positive"),
    "infinite strength": (lambda: fl.L1L2(l1=np.inf, l2=1.0), "strength must be positive and finite"),
    "elastic net without l1": (lambda: fl.L1L2(l1=0.0, l2=1.0), r"use L2\(l2\)"),
    "p too large": (lambda: fl.SquaredLp(1.0, p=2.5), r"p must lie in \(1, 2\]"),
    "p = 1": (lambda: fl.SquaredLp(1.0, p=1.0), "for p = 1 use L1"),
    "strength that is not a number": (lambda: fl.L2("much"), "must be a number"),
    "lower bound above the upper bound": (lambda: fl.Box(1.0, 0.0), "lower bound"),
    "too few bounds": (lambda: problem(regularizer=fl.Box(np.zeros(2), np.ones(2))), "2 lower bounds for 3 weights"),
    "negative sample weight": (lambda: problem(sample_weight=[1, -1, 1, 1]), r"sample_weight\[1\] is -1"),
    "zero sample weights": (lambda: problem(sample_weight=np.zeros(4)), "zero for every row"),
    "too few sample weights": (lambda: problem(sample_weight=[1.0]), "one weight per row"),
    "a loss class": (lambda: problem(loss=fl.Hinge), r"write Hinge\(...\)"),
    "a loss name": (lambda: problem(loss="hinges"), r"did you mean 'Hinge'"),
    "a regularizer name": (lambda: problem(regularizer="l2"), r"such as fenchel\.L2"),
    "a number as loss": (lambda: problem(loss=3), "is not a loss"),
    "infinite intercept": (lambda: problem(intercept=np.inf), "intercept=inf"),
    "unknown solver": (lambda: fl.minimize(problem(), "sdac"), "did you mean 'sdca'"),
    "unknown option": (lambda: fl.minimize(problem(), "accelerated-sdca", varriant="practical"), "did you mean 'variant'"),
    "option of a solver that has none": (lambda: fl.minimize(problem(), "sdca", restart=True), "sdca has no option 'restart'"),
    "unknown variant": (lambda: fl.minimize(problem(), "accelerated-sdca", variant="fast"), "no variant 'fast'"),
    "a solver that does not support the problem": (
        lambda: fl.minimize(problem(), "fista"),
        "fista needs a smooth loss, and Hinge is not differentiable: "
        "use solver='accelerated-sdca' or 'bundle' or 'interior-point' or 'proximal-bundle' or 'sdca'",
    ),
    "negative tol": (lambda: fl.minimize(problem(), tol=-1.0), "tol=-1"),
    "nan max_passes": (lambda: fl.minimize(problem(), max_passes=np.nan), "max_passes=nan"),
    "zero time": (lambda: fl.minimize(problem(), time_limit=0.0), "time_limit=0"),
    "half a thread": (lambda: fl.minimize(problem(), threads=0.5), "threads=0.5"),
    "no problem": (lambda: fl.minimize(X), "minimize takes a fenchel.Problem"),
    "wrong weights": (lambda: problem().objective(np.zeros(7)), r"w has shape \(7,\)"),
}


@pytest.mark.parametrize("case", CASES)
def test_invalid_input_raises_an_error_of_one_sentence(case):
    act, expected = CASES[case]
    with pytest.raises((ValueError, TypeError), match=expected) as error:
        act()
    message = str(error.value)
    assert "\n" not in message
    assert message.endswith(".")


def test_a_refused_call_does_not_change_the_problem():
    chosen = problem()
    before = dict(vars(chosen))
    with pytest.raises(ValueError, match="threads"):
        fl.minimize(chosen, threads=-1)
    with pytest.raises(ValueError, match="no solver"):
        fl.minimize(chosen, "nonsense")
    assert {k: id(v) for k, v in before.items()} == {k: id(v) for k, v in vars(chosen).items() if k in before}


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda: problem(y=np.array([1, 2, 3, 1]), loss=fl.Softmax()), "class 0 never occurs"),
        (lambda: problem(y=np.array([1.0, 2.0, 3.0, -1.0])), r"multiclass loss such as fenchel\.Softmax"),
        (lambda: problem(intercept=None), "intercept=None"),
        (lambda: problem(sample_weight="balanced"), "one number per row"),
        (lambda: fl.minimize(problem(), tol="x"), "tol='x'"),
        (lambda: fl.minimize(problem(), seed=-1), "seed=-1"),
        (lambda: problem(regularizer=fl.Box(np.zeros(3), np.ones(3)), intercept=1.0), "including the intercept's"),
    ],
)
def test_further_invalid_input_is_refused(act, expected):
    with pytest.raises(ValueError, match=expected):
        act()


def test_an_unknown_column_of_the_history_is_refused_with_the_known_ones():
    history = fl.minimize(problem()).history
    with pytest.raises(KeyError, match="the columns are passes"):
        history["loss"]
    assert "\n" not in repr(history)


def test_unknown_parameters_are_refused_with_the_known_ones():
    with pytest.raises(TypeError, match=r"L1L2 takes l1, l2 "):
        fl.L1L2(alpha=1.0)
    with pytest.raises(TypeError, match=r"Hinge takes no parameters"):
        fl.Hinge(2.0)
    with pytest.raises(TypeError, match=r"Huber takes delta"):
        fl.Huber(gamma=1.0)
