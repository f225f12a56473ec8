"""Generated data sets with the statistics of real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.checks import checked_whole
from fenchel.registry import checked_choice

CHUNK = 20_000  # rows drawn at a time, to bound memory
NOISE_DENSITY = 0.05


def make_text(
    m: int = 20_000, n: int = 47_236, nonzeros: int = 75, contrast: float = 0.35, noise: float = 0.03, seed: int = 0
) -> tuple[sp.csr_array, np.ndarray]:
    """Two-class text in the likeness of RCV1: Zipf-distributed words, tf-idf weights, rows of length 1.

    The classes use the same words at different rates: the logarithms of the rates differ by 2·``contrast`` times a
    standard normal number. A share ``noise`` of the labels is drawn at random. Repeated words leave a little less than
    ``nonzeros`` different ones in a row, or a little more: it is a mean.

    >>> X, y = make_text(100, n=1000, nonzeros=20)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 1000), [-1.0, 1.0])
    """
    if min(m, n, nonzeros) < 1 or nonzeros > n or not 0.0 <= noise <= 1.0:
        raise ValueError(
            f"make_text(m={m}, n={n}, nonzeros={nonzeros}, noise={noise}): sizes must be positive, nonzeros at most n, noise in [0, 1]."
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
    if X.nnz < 2**31:  # many packages take nothing wider
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X, y


def with_noise_features(X: Any, features: int = 1000, kind: str = "sparse", seed: int = 0) -> Any:
    """X with columns of pure noise behind its own: those of MAGIC04S (``kind="sparse"``) and MAGIC04D (``"dense"``).

    A sparse one is 1 with probability 0.05, else 0; a dense one is −1 or +1 with equal probability. Shalev-Shwartz & Tewari,
    *Stochastic methods for l1-regularized loss minimization*, JMLR 12 (2011), section 4.1, after Langford et al. (2009). (The paper
    gives the density of MAGIC04S as 5.81 %; these probabilities make it 5.94 % on average.) Sparse noise makes a CSR matrix, dense
    noise an array.

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


def _draws_for(nonzeros: int, common: np.ndarray) -> int:
    """How many words to draw so that about ``nonzeros`` different ones come up."""
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
