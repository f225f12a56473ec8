"""Crossing pairs are left out one by one and with little memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, strategies as st

from fenchel.datasets.rna_notation import without_crossing


def test_removing_crossing_pairs_takes_memory_linear_in_their_number():
    pairs = [(k, 6000 + k) for k in range(6000)]
    tracemalloc.start()
    assert len(without_crossing(pairs)) == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000**2 / 4


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: pair[0] < pair[1]), max_size=15))
def test_without_crossing_agrees_with_a_naive_implementation(pairs):
    def crosses(one, other):
        (a, b), (c, d) = sorted((one, other))
        return a < c < b < d

    kept = list(range(len(pairs)))
    while True:
        counts = [sum(crosses(pairs[k], pairs[j]) for j in kept) for k in kept]
        if not any(counts):
            break
        kept.pop(counts.index(max(counts)))
    assert without_crossing(pairs) == [pairs[k] for k in kept]
