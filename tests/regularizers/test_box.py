"""Boxes: allowed penalties, equality, and what bounds their weights."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from fenchel.regularizers.box import Linear


def test_a_box_as_the_penalty_of_a_box_is_refused():
    with pytest.raises(ValueError, match="cannot be the penalty of another Box"):
        fl.Box(-5.0, 5.0, fl.Box(np.full(2, -1.0), np.full(2, 1.0), fl.L2(0.1)))


def test_boxes_with_equal_bounds_are_equal():
    assert fl.Box(np.zeros(2), 1.0) == fl.Box(np.zeros(2), 1.0)
    assert fl.Box(np.zeros(2), 1.0) != fl.Box(np.zeros(2), 2.0)


def test_a_bounded_box_needs_no_other_bound_on_its_weights():
    """Its conjugate is infinite only where v overflows."""
    box = fl.Box(0.0, 1.0, Linear(np.array([-0.1, -1.8])))
    assert box.within(1e18) is box
