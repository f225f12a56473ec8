"""Text columns most of whose values are numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings, strategies as st

from fenchel.datasets.tables import arrow_columns


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["1", "-2.5", "3e4", "oops", "n/a!", "inf", None]), min_size=1, max_size=12), st.integers(1, 5))
def test_text_columns_with_mostly_numbers_are_detected(texts, size):
    chunks = [pa.array(texts[k : k + size], pa.string()) for k in range(0, len(texts), size)]
    found = arrow_columns.mixture(pa.chunked_array(chunks))
    held = [text for text in texts if text is not None]
    count = sum(map(is_number, held))
    others = [(text, row) for row, text in enumerate(texts, 1) if text is not None and not is_number(text)]
    assert found == ((count, len(held), *others[0]) if others and 2 * count >= len(held) else None)
