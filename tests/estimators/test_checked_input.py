"""Plain arrays skip scikit-learn's checks only where these would pass: same values, same stored features, same errors and warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fenchel.estimators.checked_input import MATRICES, checked_pair, checked_rows, classes_of

ROWS = np.arange(8.0).reshape(4, 2)
MATRICES_GIVEN = {
    "float64": ROWS,
    "float32": ROWS.astype(np.float32),
    "whole numbers": ROWS.astype(int),
    "other byte order": ROWS.astype(">f8"),
    "by columns": np.asfortranarray(ROWS),
    "part of an array": np.arange(16.0).reshape(4, 4)[:, ::2],
    "not a number": np.where(ROWS == 3.0, np.nan, ROWS),
    "infinite": np.where(ROWS == 3.0, np.inf, ROWS),
    "infinities of both signs": np.array([[np.inf, -np.inf], [1.0, 2.0]]),
    "sum overflows": np.full((4, 2), 1e308),
    "one dimension": np.arange(4.0),
    "three dimensions": np.ones((4, 2, 1)),
    "no rows": np.ones((0, 2)),
    "no columns": np.ones((4, 0)),
    "three rows": ROWS[:3],
    "sparse": sp.csr_array(ROWS),
    "frame": pd.DataFrame(ROWS, columns=["a", "b"]),
    "lists": ROWS.tolist(),
    "text": np.array([["a", "b"]] * 4),
    "masked": np.ma.masked_less(ROWS, 1.0),
}
LABELS_GIVEN = {
    "float64": np.array([0.0, 1.0, 0.0, 1.0]),
    "float32": np.array([0.0, 1.0, 0.0, 1.0], dtype=np.float32),
    "whole numbers": np.array([0, 1, 0, 1]),
    "booleans": np.array([True, False, True, False]),
    "text": np.array(["a", "b", "a", "b"]),
    "objects": np.array([0, 1, 0, 1], dtype=object),
    "one column": np.array([[0.0], [1.0], [0.0], [1.0]]),
    "two columns": np.eye(4)[:, :2],
    "not a number": np.array([0.0, np.nan, 0.0, 1.0]),
    "complex": np.array([0.0, 1j, 0.0, 1.0]),
    "dates": np.array(["2001-01-01"] * 4, dtype="datetime64[D]"),
    "missing": None,
    "series": pd.Series([0.0, 1.0, 0.0, 1.0]),
    "too many": np.zeros(5),
}


class Model(ClassifierMixin, BaseEstimator):
    """An estimator without a fit."""


def outcome(check: Any, model: Any) -> tuple[Any, ...]:
    """What a check returns or raises, what it warns of, and what it stores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = check(model)
        except Exception as error:
            found = (type(error), str(error))
    stored = {name: np.asarray(value).tolist() for name, value in vars(model).items()}
    return found, [str(warning.message) for warning in caught], stored


def described(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(described(part) for part in found)
    dense = found.toarray() if sp.issparse(found) else found
    return (type(found), dense.dtype, dense.tolist()) if isinstance(dense, np.ndarray) else found


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("y", LABELS_GIVEN)
@pytest.mark.parametrize("X", MATRICES_GIVEN)
def test_rows_and_labels_are_checked_as_by_scikit_learn(X: str, y: str, numeric: bool) -> None:
    given, labels = MATRICES_GIVEN[X], LABELS_GIVEN[y]
    ours = outcome(lambda model: checked_pair(model, given, labels, numeric=numeric), Model())
    theirs = outcome(lambda model: validate_data(model, given, labels, multi_output=numeric, y_numeric=numeric, **MATRICES), Model())
    assert described(ours[0]) == described(theirs[0])
    if not isinstance(ours[0][0], type):  # after an error it does not matter what was stored
        assert ours[1:] == theirs[1:]


@pytest.mark.parametrize("fitted_to", ["frame", "float64", "one feature more"])
@pytest.mark.parametrize("X", MATRICES_GIVEN)
def test_later_rows_are_compared_with_the_features_fitted_to(X: str, fitted_to: str) -> None:
    first = np.ones((4, 3)) if fitted_to == "one feature more" else MATRICES_GIVEN[fitted_to]
    models = [Model(), Model()]
    for model in models:
        checked_rows(model, first, reset=True)
    ours = outcome(lambda model: checked_rows(model, MATRICES_GIVEN[X]), models[0])
    theirs = outcome(lambda model: validate_data(model, MATRICES_GIVEN[X], reset=False, **MATRICES), models[1])
    assert (described(ours[0]), *ours[1:]) == (described(theirs[0]), *theirs[1:])


def test_names_of_features_are_forgotten_at_a_new_fit() -> None:
    model = Model()
    checked_rows(model, MATRICES_GIVEN["frame"], reset=True)
    assert hasattr(model, "feature_names_in_")
    checked_rows(model, ROWS, reset=True)
    assert not hasattr(model, "feature_names_in_")


LABELS = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 2.5, 1e9]), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1),
)


@settings(max_examples=100)
@given(LABELS)
def test_classes_are_those_that_scikit_learn_takes(labels: list[Any]) -> None:
    y = np.array(labels)

    def theirs(model: Any) -> Any:
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)

    expected, found = outcome(theirs, Model()), outcome(lambda model: classes_of(y), Model())
    assert found[1] == expected[1]
    assert described(found[0]) == described(expected[0])
