"""The oracle: decode every example in parallel threads, and sum losses and subgradients

    margin        Σ_i s_i·max_y [Δ(y, y_i) + <w, ψ(x_i, y) − ψ(x_i, y_i)>]     and its subgradient Σ_i s_i·(ψ(x_i, ŷ_i) − ψ(x_i, y_i))
    likelihood    Σ_i s_i·[log Z(x_i; w) − <w, ψ(x_i, y_i)>]                  and its gradient    Σ_i s_i·(E ψ(x_i, y) − ψ(x_i, y_i))

The assignment of examples to threads depends only on their number and work, and every thread sums its own examples, so that the result
is bitwise reproducible for a given number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.threads import in_parallel
from fenchel.linalg.weights import Plain

WORTH_A_THREAD = 20_000.0  # units of work per thread below which starting threads costs more than it saves


@kernel
def add_losses(examples, loss, s, order, w, out, totals):
    """Add the losses to totals[0] and their subgradients to out."""
    for i in order:
        d = np.empty(examples.parts(i))
        totals[0] += s[i] * loss.slope(examples, i, w, 1.0, d)
        examples.add(i, s[i], d, out)


@kernel
def decode_into(examples, order, w, starts, ys):
    """The best output of every example, concatenated in ys."""
    for i in order:
        examples.decode(i, w, 1.0, 0.0, ys[starts[i] : starts[i + 1]])


@kernel
def sizes(examples, work, outputs, parts):
    """The estimated work and the lengths of the output and part vectors of every example."""
    for i in range(work.shape[0]):
        work[i] = examples.work(i)
        outputs[i] = examples.outputs(i)
        parts[i] = examples.parts(i)


def measure(examples: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The work, output length and number of parts of every example."""
    m = examples.count()
    work, outputs, parts = np.empty(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    sizes(examples, work, outputs, parts)
    return work, outputs, parts


def split_by_work(work: np.ndarray, threads: int) -> list[np.ndarray]:
    """The examples of each thread, in increasing order; assigned greedily, largest first, to the thread with the least work.

    >>> [share.tolist() for share in split_by_work(np.array([3e5, 1e5, 1e5, 1e5]), 2)]
    [[0], [1, 2, 3]]
    """
    threads = min(threads, max(1, int(work.sum() / WORTH_A_THREAD)), max(1, len(work)))
    if threads == 1:
        return [np.arange(len(work))]
    owner, load = np.empty(len(work), dtype=np.int64), np.zeros(threads)
    for i in np.argsort(-work, kind="stable").tolist():
        owner[i] = load.argmin()
        load[owner[i]] += work[i]
    return [np.flatnonzero(owner == t) for t in range(threads)]


def loss_and_subgradient(examples: Any, loss: Any, s: np.ndarray, split: list[np.ndarray], w: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted sum of the losses and its subgradient, with one thread per part of the split."""
    sums, totals = [np.zeros(len(w)) for _ in split], np.zeros((len(split), 8))  # 8: each thread writes to a separate cache line
    in_parallel([(add_losses, examples, loss, s, order, w, Plain(g), total) for order, g, total in zip(split, sums, totals, strict=True)])
    for g in sums[1:]:
        sums[0] += g
    return float(totals[:, 0].sum()), sums[0]


def decode_all(examples: Any, w: np.ndarray, threads: int) -> list[np.ndarray]:
    """The best output of every example."""
    return each_output(examples, threads, lambda order, starts, ys: decode_into(examples, order, w, starts, ys))


def each_output(examples: Any, threads: int, decode: Callable[[np.ndarray, np.ndarray, np.ndarray], None]) -> list[np.ndarray]:
    """An output for every example, from ``decode(order, starts, ys)``, which writes the output of example i to ys from starts[i] on."""
    work, outputs, _ = measure(examples)
    starts = np.concatenate([[0], np.cumsum(outputs)])
    ys = np.empty(int(starts[-1]), dtype=np.int64)
    in_parallel([(decode, order, starts, ys) for order in split_by_work(work, threads)])
    return [ys[starts[i] : starts[i + 1]] for i in range(len(outputs))]
