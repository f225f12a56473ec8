"""Declared types: those of every class can be evaluated, and values are compared with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from fenchel.persistence.model_kinds import models, parts
from fenchel.persistence.model_types import attribute_types, has_type, misfit, parameter_types


def test_every_class_declares_the_types_of_its_parameters():
    for cls in models().values():
        assert set(cls().get_params(deep=False)) <= set(parameter_types(cls)), cls
        assert {"coef_", "converged_", "history_"} <= set(attribute_types(cls)), cls
        assert misfit(cls(), cls().get_params(deep=False)) is None
    for part in parts().values():
        assert set(attribute_types(part)) >= set(part._fields), part


@pytest.mark.parametrize(
    ("value", "hint", "fits"),
    [
        (1, float, True),
        (np.float32(1), float, True),
        (True, int, True),
        (1.0, int, False),
        ("1", float | None, False),
        (None, float | None, True),
        (0, bool, True),
        ("yes", bool, False),
        ("a", Literal["a", "b"], True),
        (np.ones(2), Literal["a", "b"], False),
        ({1: 2.0}, Mapping[Any, float], True),
        ({1: "2"}, Mapping[Any, float], False),
        (("a", "b"), Sequence[str], True),
        ("ab", Sequence[str], False),
        ([1], list[str], False),
        (np.ones(2), np.ndarray, True),
        ([1.0], np.ndarray, False),
        (object(), Any, True),
    ],
)
def test_values_are_compared_with_declared_types(value, hint, fits):
    assert has_type(value, hint) is fits
