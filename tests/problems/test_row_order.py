"""Rows in shuffled blocks: each comes once, and any may come first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from fenchel.problems.row_order import block_shuffled

lawful = settings(deadline=None, max_examples=100, database=None)


@given(st.integers(1, 3000), st.integers(1, 100), st.integers(0, 5))
@lawful
def test_shuffled_blocks_visit_everything_once(m, block, seed):
    order = block_shuffled(m, np.random.default_rng(seed), block)
    assert np.array_equal(np.sort(order), np.arange(m))


def test_shuffled_blocks_keep_neighbours_together_on_large_data_only():
    neighbours = [(np.diff(block_shuffled(m, np.random.default_rng(0))) == 1).mean() for m in (64, 100_000)]
    assert neighbours[0] < 0.1
    assert 0.85 < neighbours[1] < 0.95


def test_blocks_begin_at_other_rows_each_time():
    rng = np.random.default_rng(0)
    first = [{tuple(sorted(part)) for part in block_shuffled(4096, rng, 8, 1)[:4080].reshape(-1, 8).tolist()} for _ in range(4)]
    assert len(set.intersection(*first)) < 10


def test_every_row_may_come_first():
    rng = np.random.default_rng(0)
    firsts = {int(block_shuffled(50, rng)[0]) for _ in range(1000)}
    assert firsts == set(range(50))
