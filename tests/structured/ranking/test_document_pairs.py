"""Document pairs: selection, sampling, weights, and invalid input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.structured.ranking import pairwise


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_pairs_give_the_mean_pairwise_hinge_loss(kind):
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((20, 3)), rng.integers(0, 3, 20), rng.integers(0, 4, 20)
    pairs = pairwise(kind(X), y, qid)
    w, each = rng.standard_normal(3), []
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        hinges = [max(0.0, 1.0 - (X[i] - X[j]) @ w) for i in rows for j in rows if y[i] > y[j]]
        each += [np.mean(hinges)] if hinges else []
    problem = fl.Problem(pairs.X, pairs.y, fl.Hinge(), fl.L2(0.1), sample_weight=pairs.weight)
    assert problem.objective(w) == pytest.approx(np.mean(each) + 0.05 * w @ w)
    assert abs(pairs.y.sum()) <= 1


@settings(deadline=None)
@given(st.lists(st.integers(2, 12), min_size=1, max_size=4), st.integers(1, 60), st.integers(0, 99))
def test_sampled_pairs_are_valid_distinct_and_at_most_the_limit(sizes, most, seed):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(0, 3, len(qid))
    y[np.unique(qid, return_index=True)[1]] = 5
    X = 2.0 ** np.arange(len(qid))[:, None]  # differences identify the pair
    real = {(X[i, 0] - X[j, 0], qid[i]) for i in range(len(y)) for j in range(len(y)) if qid[i] == qid[j] and y[i] > y[j]}
    if len(sizes) > most:
        with pytest.raises(ValueError, match="at least one pair for each"):
            pairwise(X, y, qid, most=most)
        return
    if len(real) > most:
        with pytest.warns(UserWarning, match="are more than most"):
            pairs = pairwise(X, y, qid, most=most, seed=seed)
    else:
        pairs = pairwise(X, y, qid, most=most, seed=seed)
    assert len(pairs.y) <= most
    assert len(pairs.y) == len(real) or len(pairs.y) > most - len(sizes)
    assert set((pairs.X[:, 0] * pairs.y).tolist()) <= {difference for difference, _ in real}
    assert len(set((pairs.X[:, 0] * pairs.y).tolist())) == len(pairs.y), "no pair twice"
    assert pairs.weight.sum() == pytest.approx(len(sizes))


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        ([0, 1], [1, 1, 1], "y has shape"),
        ([0, 1, 2], [1, 1], "qid has shape"),
        (["a", "b", "c"], [1, 1, 1], "y must contain numbers"),
        ([0, 1, 2], [1.0, math.nan, 1.0], r"qid\[1\] is missing"),
        ([0, 1, 2], ["a", None, "b"], r"qid\[1\] is missing"),
        ([1, 1, 1], [1, 1, 1], "No two documents of a query differ"),
    ],
)
def test_invalid_grades_and_queries_are_refused(y, qid, message):
    with pytest.raises(ValueError, match=message):
        pairwise(np.eye(3), y, qid)
