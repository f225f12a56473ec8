"""Losses of the user's own are tried when a problem is made, and a wrong one is refused in a sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import special

import fenchel as fl
from tests.data import data


def test_a_subclass_must_be_compiled_itself():
    class Sub(fl.Squared):
        def value(self, z, y):
            return 100.0 * (z - y) ** 2

    with pytest.raises(TypeError, match=r"put @fenchel\.compiled above"):
        fl.Problem(*data("real"), Sub(), fl.L2(1.0))


class TestLossesOfUsers:
    def problem(self, body):
        X, y = data("real")
        return fl.Problem(X, y, body(), fl.L2(0.1))

    def test_negative_values_are_refused(self):
        @fl.compiled
        class Poisson(NamedTuple):
            def value(self, z, y):
                return np.exp(z) - y * z

            def derivative(self, z, y):
                return np.exp(z) - y

        with pytest.raises(ValueError, match="must not be negative"):
            fl.Problem(np.ones((3, 1)), np.array([0.0, 5.0, 9.0]), Poisson(), fl.L2(0.1))

    @pytest.mark.parametrize("factor", [-1.0, 0.5, 2.0])
    def test_a_wrong_derivative_is_reported(self, factor):
        @fl.compiled
        class Wrong(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

            def derivative(self, z, y):
                return factor * 2.0 * (z - y)

        with pytest.raises(ValueError, match="derivative's sign and factor"):
            self.problem(Wrong)

    def test_a_typo_is_reported(self):
        @fl.compiled
        class Typo(NamedTuple):
            def value(self, z, y):
                return (z - yy) ** 2  # noqa: F821

            def derivative(self, z, y):
                return 2.0 * (z - y)

        with pytest.raises(ValueError, match="NameError"):
            self.problem(Typo)

    def test_a_forgotten_decorator_is_reported(self):
        class Plain(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

        with pytest.raises(TypeError, match=r"put @fenchel\.compiled above its class"):
            self.problem(Plain)

    def test_a_missing_derivative_is_reported(self):
        @fl.compiled
        class Half(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2

        with pytest.raises(TypeError, match="it has no derivative"):
            self.problem(Half)

    def test_what_can_not_be_compiled_is_one_sentence(self):
        @fl.compiled
        class Odd(NamedTuple):
            def value(self, z, y):
                return (z - y) ** 2 + 0.0 * special.expit(z)

            def derivative(self, z, y):
                return 2.0 * (z - y)

        with pytest.raises(TypeError, match="Odd could not be compiled") as error:
            self.problem(Odd).objective(np.zeros(6))
        assert "\n" not in str(error.value)
