"""The order in which a pass visits the rows"""

from __future__ import annotations

import numpy as np


def row_order(m: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """The m rows of one pass, in the order that ``sampling`` names.

    >>> row_order(3, "sequential", np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    return SAMPLING[sampling](m, rng)


def block_shuffled(m: int, rng: np.random.Generator, block: int = 64, least: int = 64) -> np.ndarray:
    """All of 0..m−1 once: at least ``least`` blocks of neighbours in random order.

    Neighbouring rows share cache lines and the hardware prefetches them; a fully random order takes two to four times as
    long. Small data get smaller blocks, down to a plain permutation, so that the order stays random.

    >>> sorted(block_shuffled(5, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3, 4]
    """
    block = max(1, min(block, m // least))
    starts = rng.permutation(-(-m // block)) * block
    order = (starts[:, None] + np.arange(block)).ravel()
    return order[order < m] if m % block else order


# Online methods are sensitive to similar rows in succession, so that their blocks are smaller.
SAMPLING = {
    "blocks": lambda m, rng: block_shuffled(m, rng, least=16_384),
    "permutation": lambda m, rng: rng.permutation(m),
    "replacement": lambda m, rng: rng.integers(m, size=m),
    "sequential": lambda m, rng: np.arange(m),
}
