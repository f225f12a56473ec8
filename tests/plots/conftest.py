"""Figures are drawn where matplotlib is installed, and closed again."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def nothing_left_behind():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before
