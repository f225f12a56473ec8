import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel.solvers._coordinate.dense_model as dense_model
from fenchel.solvers._coordinate import fixed_signs
from fenchel.solvers._coordinate.fixed_signs import FixedSigns, append, minimise_with_signs, remove


def naive_minimum(H, proximal, w, slopes):
    """The same steps, each with equations that are set up again."""
    w, slopes, left = w.copy(), slopes.copy(), np.flatnonzero(w)
    while left.size:
        d = -np.linalg.solve(H[np.ix_(left, left)] + np.diag(proximal[left]), slopes[left])
        ratios = np.where((w[left] + d) * w[left] <= 0.0, -w[left] / d, np.inf)
        t = min(1.0, ratios.min())
        w[left] += t * d
        slopes[left] += t * H[np.ix_(left, left)] @ d
        if ratios.min() >= 1.0:
            break
        w[left[ratios.argmin()]] = 0.0
        left = np.delete(left, ratios.argmin())
    return w


def model(n, rank, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rank, n)) * 10.0 ** rng.uniform(-1.0, 1.0, n)
    return A.T @ A / rank, rng.standard_normal(n), rng.standard_normal(n)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_steps_are_those_of_the_naive_twin(n, seed):
    H, w, slopes = model(n, n + 3, seed)
    proximal = 1e-6 * H.diagonal()
    expected = naive_minimum(H, proximal, w, slopes)
    R = np.ascontiguousarray(np.linalg.cholesky(H + np.diag(proximal)).T)
    found = w.copy()
    steps = minimise_with_signs(R, proximal.copy(), found, slopes.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert (found * w >= 0.0).all(), "no weight has changed its sign"
    assert steps <= 1 + np.count_nonzero(found == 0.0)


@pytest.mark.parametrize("column", [0, 3, 5])
def test_a_factor_without_a_column_is_that_of_the_smaller_matrix(column):
    H, _, _ = model(6, 9, 1)
    R = np.ascontiguousarray(np.linalg.cholesky(H).T)
    remove(R, column, 5)
    kept = [j for j in range(6) if j != column]
    left = np.triu(R[:5, :5])
    np.testing.assert_allclose(left.T @ left, H[np.ix_(kept, kept)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("block", [2, 64])
def test_a_factor_with_more_columns_is_that_of_the_larger_matrix(block, monkeypatch):
    monkeypatch.setattr(fixed_signs, "BLOCK", block)
    H, _, _ = model(9, 14, 1)
    R = np.full((12, 12), np.nan)
    R[:5, :5] = np.linalg.cholesky(H[:5, :5]).T
    assert append(R, H[:, 5:].copy(), 5)
    whole = np.triu(R[:9, :9])
    np.testing.assert_allclose(whole.T @ whole, H, rtol=1e-9, atol=1e-9)
    assert not append(np.eye(3), np.array([[2.0], [1.0]]), 1), "not positive definite"


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 30), st.integers(0, 10**6), st.sampled_from([0.0, 0.1]))
def test_factors_that_are_kept_give_the_steps_of_new_ones(n, seed, l2):
    """While weights come and go, and the matrix grows."""
    G, w, b = model(n, n + 3, seed)
    rng, kept = np.random.default_rng(seed), FixedSigns()
    for size in (n - 2, n - 1, n, n, n):
        x = np.where(rng.random(size) < 0.1, 0.0, np.append(w, rng.standard_normal(n))[:size])
        expected, found = x.copy(), x.copy()
        slopes, again = (G[:size, :size] @ x + b[:size] for _ in range(2))
        FixedSigns().step(G[:size, :size].copy(), 0.05, l2, expected, slopes)
        kept.step(G[:size, :size].copy(), 0.05, l2, found, again)
        scale = np.abs(expected).max() + 1.0
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)
        np.testing.assert_allclose(again, G[:size, :size] @ found + b[:size], rtol=1e-7, atol=1e-7 * (np.abs(again).max() + 1.0))
        w = found


def test_correlated_columns_need_few_rounds(monkeypatch):
    rng = np.random.default_rng(0)
    m, n = 160, 200
    X = rng.standard_normal((m, n)) @ (np.eye(n) + rng.standard_normal((n, 1)) @ rng.standard_normal((1, n)))
    y = X @ (rng.standard_normal(n) * (rng.random(n) < 0.3)) + rng.standard_normal(m)
    rounds, step = [], FixedSigns.step
    monkeypatch.setattr(FixedSigns, "step", lambda *arguments: rounds.append(1) or step(*arguments))
    G, g = X.T @ X / m, -X.T @ y / m
    w, l1, l2 = np.zeros(n), 0.01, 0.01
    dense_model.minimise_by_gram(G, l1, l2, w, g, 1e-6, 300)
    assert len(rounds) < 40
    np.testing.assert_allclose(g, G @ w - X.T @ y / m, atol=1e-6)
    violation = np.where(w != 0.0, np.abs(g + l1 * np.sign(w) + l2 * w), np.maximum(np.abs(g) - l1, 0.0)).max()
    assert violation * np.abs(w).sum() <= 1e-4
