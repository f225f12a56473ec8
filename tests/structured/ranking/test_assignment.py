"""The assignment of documents to ranks, compared with SciPy's, and the stable sort."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linear_sum_assignment

from fenchel.structured.ranking.assignment import assigned, best_order


@pytest.mark.parametrize("n", [1, 2, 7, 60, 200])
@pytest.mark.parametrize("cut", [None, 5])
def test_the_assignment_is_as_good_as_scipys(n, cut):
    rng = np.random.default_rng(n)
    for trial in range(20):
        s = np.sort(rng.standard_normal(n).round(1 if trial % 2 else 9))[::-1].copy()
        b = rng.integers(0, 4, n) * (rng.random(n) < rng.random()) * rng.choice([0.01, 0.3, 5.0])
        c, D = np.sort(rng.random(n).round(1 if trial % 3 else 9))[::-1].copy(), 1.0 / np.log2(np.arange(2.0, n + 2.0))
        if cut is not None:
            c[cut:] = D[cut:] = 0.0
        value = np.outer(s, c) - np.outer(b, D)
        at = assigned(s, b, c, D)
        assert sorted(at.tolist()) == list(range(n))
        assert value[at, np.arange(n)].sum() == pytest.approx(value[linear_sum_assignment(-value)].sum(), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, math.inf]), max_size=40))
def test_sorting_is_stable(s):
    assert best_order(np.array(s)).tolist() == sorted(range(len(s)), key=lambda d: -s[d])


def test_nan_scores_still_give_a_ranking():
    at = assigned(np.full(6, np.nan), np.array([0.0, 1, 0, 1, 1, 0]), np.linspace(1, 0, 6), np.linspace(1, 0, 6))
    assert sorted(at.tolist()) == list(range(6))
