"""Viterbi and forward–backward against one pass of multiplications and additions over the same scores, on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import fenchel as fl
from benchmarks.common import show
from fenchel.core.compiled import kernel
from fenchel.structured.chain.viterbi import padded

SENTENCES, LENGTH, REPEATS = 400, 24, 25


@kernel
def one_sum(S, T):
    total = 0.0
    for t in range(S.shape[0]):
        for a in range(T.shape[0]):
            for b in range(T.shape[0]):
                total += S[t, a] * T[a, b]
    return total


@kernel
def one_sum_per_tag(S, T, out):
    for t in range(S.shape[0]):
        out[:] = 0.0
        for a in range(T.shape[0]):
            for b in range(T.shape[0]):
                out[b] += S[t, a] * T[a, b]
    return out[0]


@kernel
def decode_each(examples, w):
    y = np.empty(LENGTH, dtype=np.int64)
    for i in range(examples.count()):
        examples.decode(i, w, 1.0, 0.0, y)
    return y[0]


@kernel
def expect_each(examples, w):
    d = np.empty(examples.parts(0))
    total = 0.0
    for i in range(examples.count()):
        total += examples.expected(i, w, 1.0, d)
    return total


def best_of_each(actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each action; they take turns, so that other load affects all of them equally."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(REPEATS + 1):
        for name, action in actions.items():
            clock = time.thread_time()
            action()
            times[name].append(time.thread_time() - clock)
    return {name: min(each[1:]) for name, each in times.items()}


def row(K: int) -> list[object]:
    rng = np.random.default_rng(0)
    X = [np.ones((LENGTH, 1)) for _ in range(SENTENCES)]
    Y = [rng.integers(0, K, LENGTH).tolist() for _ in X]
    Y[0][:2] = [0, K - 1]
    model = fl.structured.Chain(ends=False, tags=tuple(range(K)), width=1)
    examples, w = model.examples(X, Y), rng.standard_normal(model.n)
    S, T, out = rng.standard_normal((SENTENCES * LENGTH, K)), rng.standard_normal((K, K)), np.empty(K)
    times = best_of_each(
        {
            "one": lambda: one_sum(S, T),
            "each": lambda: one_sum_per_tag(S, T, out),
            "viterbi": lambda: decode_each(examples, w),
            "expected": lambda: expect_each(examples, w),
        }
    )
    ratios = [times[name] / times[other] for name in ("viterbi", "expected") for other in ("one", "each")]
    return [K, padded(K), 1e9 * times["each"] / (len(S) * K * K), *ratios]


def run() -> None:
    columns = [
        "tags",
        "padded",
        "ns per product",
        "Viterbi / one sum",
        "/ one sum per tag",
        "forward–backward / one sum",
        "/ one sum per tag",
    ]
    show(f"Chains of {LENGTH} tokens against a pass of multiply-adds, one thread", columns, [row(K) for K in (8, 22, 26, 46)])


if __name__ == "__main__":
    run()
