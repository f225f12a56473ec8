"""Boxes: what they may hold, and when two are equal."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl


def test_a_box_in_a_box_is_refused():
    with pytest.raises(ValueError, match="no other box"):
        fl.Box(-5.0, 5.0, fl.Box(np.full(2, -1.0), np.full(2, 1.0), fl.L2(0.1)))


def test_boxes_compare():
    assert fl.Box(np.zeros(2), 1.0) == fl.Box(np.zeros(2), 1.0)
    assert fl.Box(np.zeros(2), 1.0) != fl.Box(np.zeros(2), 2.0)
