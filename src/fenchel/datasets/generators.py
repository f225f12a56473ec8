"""Generated data sets with the statistics of real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice, checked_whole

CHUNK = 20_000  # rows drawn at a time, to bound memory
NOISE_DENSITY = 0.05


def make_text(
    m: int = 20_000, n: int = 47_236, nonzeros: int = 75, contrast: float = 0.35, noise: float = 0.03, seed: int = 0
) -> tuple[sp.csr_array, np.ndarray]:
    """Two-class text with the statistics of RCV1: Zipf-distributed words, tf-idf weights, rows of norm 1.

    The classes use the same words at different rates: the logarithms of the rates differ by 2·``contrast`` times a
    standard normal number. A share ``noise`` of the labels is drawn at random. ``nonzeros`` is the
    mean number of different words in a row.

    >>> X, y = make_text(100, n=1000, nonzeros=20)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 1000), [-1.0, 1.0])
    """
    if min(m, n, nonzeros) < 1 or nonzeros > n or not 0.0 <= noise <= 1.0:
        raise InputError(
            f"make_text(m={m}, ",
            Argument("n", n),
            ", ",
            Argument("nonzeros", nonzeros),
            ", ",
            Argument("noise", noise),
            "): sizes must be positive, nonzeros at most n, noise in [0, 1].",
        )
    rng = np.random.default_rng(seed)
    common = 1.0 / (rng.permutation(n) + 10.0)  # real vocabularies are not sorted by frequency
    tilt = contrast * rng.standard_normal(n)
    rates = {label: np.cumsum(common * np.exp(label * tilt)) for label in (-1.0, 1.0)}
    idf = np.log1p(common.sum() / (common * nonzeros))
    drawn = _draws_for(nonzeros, common)
    y = rng.choice([-1.0, 1.0], m)
    X = sp.vstack([_documents(y[first : first + CHUNK], n, drawn, rates, idf, rng) for first in range(0, m, CHUNK)], format="csr")
    flipped = rng.random(m) < noise
    y[flipped] = rng.choice([-1.0, 1.0], flipped.sum())
    X = sp.csr_array(X)
    if X.nnz < 2**31:  # many packages accept only 32-bit indices
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X, y


def with_noise_features(X: Any, features: int = 1000, kind: str = "sparse", seed: int = 0) -> Any:
    """Append columns of noise to X, as in MAGIC04S (``kind="sparse"``) and MAGIC04D (``"dense"``).

    Sparse noise is 1 with probability 0.05, else 0; dense noise is −1 or +1 with equal probability. Shalev-Shwartz & Tewari,
    *Stochastic methods for l1-regularized loss minimization*, JMLR 12 (2011), section 4.1, after Langford et al. (2009). (The paper
    gives the density of MAGIC04S as 5.81 %; these probabilities make it 5.94 % on average.) The result is a CSR matrix for sparse
    noise, an array for dense noise.

    >>> with_noise_features(np.ones((3, 2)), 4, kind="dense").shape
    (3, 6)
    """
    checked_choice("kind", kind, ("sparse", "dense"))
    m, rng = X.shape[0], np.random.default_rng(seed)
    checked_whole("features", features)
    if kind == "dense":
        own = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.hstack([own, rng.choice(np.array([-1.0, 1.0], dtype=own.dtype), (m, features))])
    own = sp.csr_array(X)
    counts = rng.binomial(features, NOISE_DENSITY, m)
    columns = np.concatenate([np.sort(rng.choice(features, count, replace=False)) for count in counts]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    noise = sp.csr_array((np.ones(len(columns), dtype=own.dtype), columns, indptr), shape=(m, features))
    return sp.csr_array(sp.hstack([own, noise], format="csr"))


def make_gaussians(
    m: int = 200_000, n: int = 10, separation: float = 2.0, condition: float = 10.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two Gaussian classes with the same covariance, and the unit normal of the best separating plane: X, y, w*.

    The toy data of *Inverse time dependency in convex regularized learning*, section V (there with n = 10, 20 and 40), which measures the
    error of a predictor by ‖w* − w/‖w‖‖. Labels are −1 and +1 with equal probability, rows N(±μ, Σ), so that w* ∝ Σ⁻¹μ: the direction of
    Bayes' classifier, and of the minimisers of the expected logistic and squared loss. ``separation`` is the Mahalanobis distance
    2√(μᵀΣ⁻¹μ) between the classes, which makes Bayes' error Φ(−separation/2); ``condition`` is Σ's condition number.

    >>> X, y, w = make_gaussians(1000, n=5, separation=4.0)
    >>> X.shape, float(np.mean(np.sign(X @ w) == y) > 0.95)
    ((1000, 5), 1.0)
    """
    checked_whole("m", m), checked_whole("n", n)
    check_option(separation > 0.0 and np.isfinite(separation), "separation", separation, "a positive number")
    check_option(condition >= 1.0 and np.isfinite(condition), "condition", condition, "a number of at least 1")
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((n, n)))[0]
    spread = np.geomspace(1.0, 1.0 / np.sqrt(condition), n)  # standard deviations along the axes
    direction = rng.standard_normal(n)
    mean = separation / 2.0 * direction / np.linalg.norm(direction)  # in whitened coordinates
    y = rng.choice([-1.0, 1.0], m)
    X = (rng.standard_normal((m, n)) + y[:, None] * mean) * spread @ axes.T
    w = axes @ (mean / spread)
    return X, y, w / np.linalg.norm(w)


def make_wide(
    m: int = 1000, n: int = 20_000, informative: int = 20, nonzeros: int = 50, noise: float = 0.1, seed: int = 0
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Sparse regression with far more columns than rows, most of them with weight 0: X, y, w.

    Each row has ``nonzeros`` standard normal entries, ``informative`` of the weights are ±1 or more and the others 0, and
    y = Xw + ε with normal ε whose standard deviation is ``noise`` times that of Xw.

    >>> X, y, w = make_wide(50, n=200, informative=5, nonzeros=20)
    >>> X.shape, X.nnz, np.flatnonzero(w).size
    ((50, 200), 1000, 5)
    """
    for name, value in (("m", m), ("n", n), ("informative", informative), ("nonzeros", nonzeros)):
        checked_whole(name, value)
    check_option(informative <= n, "informative", informative, f"at most n={n}")
    check_option(nonzeros <= n, "nonzeros", nonzeros, f"at most n={n}")
    check_option(noise >= 0.0 and np.isfinite(noise), "noise", noise, "a number that is not negative")
    rng = np.random.default_rng(seed)
    columns = np.concatenate([np.sort(rng.choice(n, nonzeros, replace=False, shuffle=False)) for _ in range(m)]).astype(np.int32)
    indptr = np.arange(0, m * nonzeros + 1, nonzeros, dtype=np.int32 if m * nonzeros < 2**31 else np.int64)
    X = sp.csr_array((rng.standard_normal(m * nonzeros), columns, indptr), shape=(m, n))
    w = np.zeros(n)
    w[rng.choice(n, informative, replace=False)] = rng.choice([-1.0, 1.0], informative) * (1.0 + rng.exponential(1.0, informative))
    deviation = np.sqrt(nonzeros / n) * np.linalg.norm(w)  # of Xw, over all X
    return X, X @ w + noise * deviation * rng.standard_normal(m), w


def check_option(holds: bool, name: str, value: object, need: str) -> None:
    """Raise an error that states the requirement unless the condition holds."""
    if not holds:
        raise InputError(Argument(name, value), f": give {need}.")


def _draws_for(nonzeros: int, common: np.ndarray) -> int:
    """The number of words to draw so that about ``nonzeros`` of them are different."""
    p = common / common.sum()
    draws = nonzeros
    while draws < 20 * nonzeros and (1.0 - (1.0 - p) ** draws).sum() < nonzeros:
        draws += max(1, nonzeros // 50)
    return draws


def _documents(
    y: np.ndarray, n: int, drawn: int, rates: dict[float, np.ndarray], idf: np.ndarray, rng: np.random.Generator
) -> sp.csr_array:
    words = np.empty((len(y), drawn), dtype=np.int32)
    for label, cumulative in rates.items():
        of_class = np.flatnonzero(y == label)
        uniform = rng.random((len(of_class), drawn)) * cumulative[-1]
        words[of_class] = np.minimum(np.searchsorted(cumulative, uniform), n - 1)
    rows = np.repeat(np.arange(len(y), dtype=np.int32), drawn)
    counts = sp.coo_array((np.ones(words.size), (rows, words.ravel())), shape=(len(y), n)).tocsr()
    counts.data = (1.0 + np.log(counts.data)) * idf[counts.indices]
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    return counts
