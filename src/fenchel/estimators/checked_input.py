"""scikit-learn's checks of rows and labels, without their cost for plain arrays that pass them

``validate_data`` spends a quarter of a millisecond on finding out that its input is no data frame, as much as a small fit takes. Plain
NumPy arrays of finite numbers with one label per row are what most fits are given: they are recognised here, and everything else,
errors included, is left to scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fenchel.linalg.storage import are_finite

MATRICES: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": [np.float64, np.float32], "accept_large_sparse": True}


def checked_rows(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """X as an array or a CSR or CSC matrix with the features that the estimator was fitted to; they are stored if ``reset``."""
    return X if _is_plain(X) and _has_features(estimator, X, reset) else validate_data(estimator, X, reset=reset, **MATRICES)


def checked_pair(estimator: Any, X: Any, y: Any, *, numeric: bool, reset: bool = True) -> tuple[Any, Any]:
    """X as an array or a CSR or CSC matrix, and y; ``numeric`` for targets of regression, which may have several columns.

    The features of X are stored in the estimator if ``reset``, otherwise compared with those stored.
    """
    if _is_plain(X) and _is_plain_column(y) and len(X) == len(y) and _has_features(estimator, X, reset):
        return X, y
    return validate_data(estimator, X, y, reset=reset, multi_output=numeric, y_numeric=numeric, **MATRICES)


def classes_of(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and the number of each label's class; scikit-learn's error for labels that are no classes."""
    if y.ndim != 1 or y.dtype.kind not in "iubf":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    fractions = classes.dtype.kind == "f" and (classes != np.trunc(classes)).any()
    if fractions or 2 * len(classes) > len(y):  # an error, or a warning that y may be meant for regression
        check_classification_targets(y)
    return classes, codes


def _is_plain(X: Any) -> bool:
    """Whether X is an array of finite floating-point numbers with rows and columns."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32) and are_finite(X)


def _is_plain_column(y: Any) -> bool:
    """Whether y is an array of one finite number for each row."""
    return type(y) is np.ndarray and y.ndim == 1 and (y.dtype.kind in "iub" or (y.dtype in (np.float64, np.float32) and are_finite(y)))


def _has_features(estimator: Any, X: np.ndarray, reset: bool) -> bool:
    """Whether columns without names agree with the features of the estimator, which are set if ``reset``."""
    stored = vars(estimator)
    if reset:
        stored.pop("feature_names_in_", None)
        stored["n_features_in_"] = X.shape[1]
    return "feature_names_in_" not in stored and stored.get("n_features_in_") == X.shape[1]
