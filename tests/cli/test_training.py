"""The certificate in the report of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.cli.training import gap_in_words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((1.0002, 1.0, 2e-4), "at most 0.02 %"), ((3.0, 1.0, 2.0), "at most 2 above"), ((1.0, -np.inf, np.inf), "none: no lower bound")],
)
def test_certificates_are_described_in_words(numbers, words):
    assert gap_in_words(*numbers).startswith(words)
