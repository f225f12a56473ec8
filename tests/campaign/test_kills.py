"""The campaign of kills finds nothing in a few cases, and finds a store that is damaged."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.campaign import kills


@pytest.mark.slow
def test_a_few_cases_find_nothing(tmp_path):
    counts = Counter()
    for number in (0, 1):
        (tmp_path / str(number)).mkdir()
        kills.case(tmp_path / str(number), number, np.random.default_rng(number), counts)
    assert {name for name, count in counts.items() if count} <= {"kills"}


def test_a_store_that_differs_is_counted(tmp_path, monkeypatch):
    def wrong(text, store, shuffle):
        kills.convert(text, store, shuffle)
        if store.name == "killed.store":
            (store / "y.npy").write_bytes(b"")

    monkeypatch.setattr(kills, "until_done", lambda action, arguments, *others: wrong(*arguments))
    counts = Counter()
    kills.case(tmp_path, 1, np.random.default_rng(0), counts)
    assert counts["a store differed"] == 1
