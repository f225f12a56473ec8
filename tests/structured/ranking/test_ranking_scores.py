"""Scores of rankings, compared with LETOR's script and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from fenchel.structured.ranking import letor_scores, ndcg


def naive_letor(grades, k=None):
    """The evaluation script of LETOR 4.0 for one query's grades in the order of their ranks, step by step."""

    def curve(ranked):
        total, found = 0.0, []
        for position, g in enumerate(ranked):
            total += (2.0**g - 1.0) * (1.0 if position < 2 else math.log(2.0) / math.log(position + 1.0))
            found.append(total)
        return found

    reached, best = curve(grades), curve(sorted(grades, reverse=True))
    at = [a / b if b else 0.0 for a, b in zip(reached, best, strict=True)]
    hits, precision = 0, 0.0
    for position, g in enumerate(grades):
        if g >= 1:
            hits += 1
            precision += hits / (position + 1)
    return {"map": precision / hits if hits else 0.0, "mean_ndcg": sum(at) / len(at)} | {
        f"ndcg@{k}": at[k - 1] if k <= len(at) else 0.0 for k in range(1, 11)
    }


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=14), min_size=1, max_size=5), st.integers(0, 99))
def test_letor_scores_agree_with_letors_script(grades, seed):
    rng = np.random.default_rng(seed)
    scores = [rng.integers(0, 4, len(g)).astype(float) for g in grades]
    ranked = [[g[d] for d in sorted(range(len(g)), key=lambda d: -s[d])] for g, s in zip(grades, scores, strict=True)]
    parts = [naive_letor(g) for g in ranked]
    qid = np.repeat(np.arange(len(grades)), [len(g) for g in grades])
    found = letor_scores(np.concatenate(grades), np.concatenate(scores), qid)
    assert list(found) == list(parts[0])
    for name, value in found.items():
        assert value == pytest.approx(np.mean([part[name] for part in parts]), abs=1e-12), name


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 3, 60), rng.standard_normal(60), np.repeat([4, 1, 9], 20)
    for k in (1, 5, None):
        each = [ndcg_score([2.0 ** y[qid == q] - 1.0], [scores[qid == q]], k=k) for q in (1, 4, 9)]
        assert ndcg(y, scores, qid, k) == pytest.approx(np.mean(each))
    each = [average_precision_score(y[qid == q] >= 1, scores[qid == q]) for q in (1, 4, 9)]
    assert letor_scores(y, scores, qid)["map"] == pytest.approx(np.mean(each))


def test_ndcg_ignores_queries_without_relevant_documents():
    y, scores = np.array([0, 1, 0, 0]), np.array([1.0, 0.0, 2.0, 3.0])
    assert ndcg(y, scores, [1, 1, 2, 2]) == ndcg(y[:2], scores[:2])
    with pytest.raises(ValueError, match="No query has a relevant document"):
        ndcg([0, 0], [1.0, 2.0])
