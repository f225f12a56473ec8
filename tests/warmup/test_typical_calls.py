"""Typical calls cover every estimator, and other users' data need no other kernels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel import estimators
from fenchel.core.compiled import JIT, kernels_in_use
from fenchel.warmup import all_calls


def test_every_estimator_is_called_with_default_parameters():
    names = {call.name.partition("(")[0] for call in all_calls() if call.common}
    assert names >= set(dir(estimators))


def test_names_are_distinct_and_common_calls_come_first():
    calls = all_calls()
    assert len({call.name for call in calls}) == len(calls)
    assert sorted(calls, key=lambda call: not call.common) == calls


# ---- arrays that hold the same numbers in another way ----


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def strided(array):
    return np.repeat(array, 2, axis=0)[::2]


def on_arrays(change):
    def changed(X):
        return change(X) if isinstance(X, np.ndarray) else type(X)((change(X.data), change(X.indices), change(X.indptr)), shape=X.shape)

    return changed


class Subclass(np.ndarray):
    """As np.matrix or a memory map is."""


def mixed_indices(X):
    if not isinstance(X, np.ndarray):
        X = X.copy()
        X.indptr = X.indptr.astype(np.int64)
    return X


WAYS = {
    "sparse matrix with indices of two types": mixed_indices,
    "read-only": on_arrays(read_only),
    "unaligned": on_arrays(unaligned),
    "strided": on_arrays(strided),
    "a subclass": on_arrays(lambda array: array.view(Subclass)),
    "sparse array": lambda X: X if isinstance(X, np.ndarray) else sp.csr_array(X),
}
MODELS = {
    "LogisticRegression": lambda: fl.LogisticRegression(),
    "LinearSVC": lambda: fl.LinearSVC(),
    "SGDClassifier": lambda: fl.SGDClassifier(max_iter=3),
    "Lasso": lambda: fl.Lasso(alpha=0.1),
}


def signatures():
    return {(function, kinds) for function, found in kernels_in_use() for kinds in found}


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("density", [1.0, 0.02])
def test_arrays_that_hold_the_same_numbers_need_no_kernels_of_their_own(model, density):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0.0, 1.0, -1.0)
    if density < 1.0:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < density, X, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = MODELS[model]().fit(X, y)
        expected.predict(X)
        before = signatures()
        for name, way in WAYS.items():
            fitted = MODELS[model]().fit(way(X), y)
            fitted.predict(way(X))
            assert signatures() == before, f"{name} rows compiled kernels of their own"
            np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-9)
