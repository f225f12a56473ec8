"""Generated data sets with the statistics of real ones."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

CHUNK = 20_000  # rows drawn at a time, to bound memory


def make_text(m: int = 20_000, n: int = 47_236, nonzeros: int = 75, noise: float = 0.05, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Two-class text in the likeness of RCV1: Zipf-distributed words, tf-idf weights, rows of length 1.

    Labels follow a linear rule on the words, with a share ``noise`` of them drawn at random.

    >>> X, y = make_text(100, n=1000, nonzeros=20)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 1000), [-1.0, 1.0])
    """
    if min(m, n, nonzeros) < 1 or nonzeros > n or not 0.0 <= noise <= 1.0:
        raise ValueError(f"make_text(m={m}, n={n}, nonzeros={nonzeros}, noise={noise}): sizes must be positive, nonzeros at most n, noise in [0, 1].")
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(n) + 10.0)
    frequency /= frequency.sum()
    columns = rng.permutation(n)  # real vocabularies are not sorted by frequency
    idf = np.log1p(1.0 / (frequency * nonzeros))
    blocks = [_documents(min(CHUNK, m - first), n, nonzeros, frequency, idf, rng) for first in range(0, m, CHUNK)]
    X = sp.csr_array(sp.vstack(blocks, format="csr"))
    rule = rng.standard_normal(n) * (rng.random(n) < 0.3)
    z = X @ rule
    y = np.where(z > np.median(z), 1.0, -1.0)
    flipped = rng.random(m) < noise
    y[flipped] = rng.choice([-1.0, 1.0], flipped.sum())
    X.indices = columns[X.indices].astype(np.int32)
    X.indptr = X.indptr.astype(np.int32 if X.nnz < 2**31 else np.int64)
    X.has_sorted_indices = False
    X.sort_indices()
    return X, y


def _documents(m: int, n: int, nonzeros: int, frequency: np.ndarray, idf: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    drawn = max(1, round(nonzeros * 1.25))  # frequent words come up more than once
    words = np.minimum(np.searchsorted(np.cumsum(frequency), rng.random((m, drawn))), n - 1)
    rows = np.repeat(np.arange(m), drawn)
    counts = sp.coo_array((np.ones(words.size), (rows, words.ravel())), shape=(m, n)).tocsr()
    counts.data = (1.0 + np.log(counts.data)) * idf[counts.indices]
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    return sp.csr_array(counts)
