"""Tests of figures are skipped without matplotlib, and must leave no figure open."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_open_figures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before
