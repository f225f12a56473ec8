"""Arcs over a sequence show which pairs two structures share."""

from __future__ import annotations

import pytest

from fenchel import plots


def test_arcs_show_which_pairs_are_shared():
    pytest.importorskip("matplotlib")
    axes = plots.arcs("GGGAAACCC", "(((...)))", "((.....))")
    above, below = ([arc for arc in axes.patches if arc.theta1 == side] for side in (0, 180))
    assert (len(above), len(below)) == (3, 2)
    shared, own = above[0].get_edgecolor(), above[2].get_edgecolor()
    assert shared != own
    assert {arc.get_edgecolor() for arc in below} == {shared}
    assert [arc.width for arc in above] == [8, 6, 4]
