"""Gains of small and of integer grades."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.structured.ranking import ndcg
from fenchel.structured.ranking.grades import gains


def test_gains_are_accurate_for_tiny_and_integer_grades():
    for grade in (1e-17, 1e-300, 1e-9):
        y, scores = [grade, 0.0, 2.0 * grade], [3.0, 2.0, 1.0]
        assert ndcg(y, scores) == pytest.approx(2.0 / (2.0 + 1.0 / np.log2(3.0)), rel=1e-8)
    whole = np.arange(54.0)
    assert gains(whole).tolist() == [2**g - 1 for g in range(54)]
    between = np.linspace(0.0, 2.0, 1001)
    assert np.all(np.diff(gains(between)) > 0.0)
    np.testing.assert_allclose(gains(between), 2.0**between - 1.0, rtol=1e-12)
