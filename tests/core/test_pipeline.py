"""Functions that only kernels call have no machine code of their own, and kernels are what they would be with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from fenchel.core.compiled import JIT, compiled, kernel

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT")


@compiled
def announced(x):
    """Numba keeps the text in an environment, of which the machine code must be told."""
    print("a constant text", x)
    return x + 1


@compiled
def twice(x):
    return announced(announced(x))


@kernel
def direct(x):
    return announced(x)


@kernel
def nested(x):
    return twice(x)


def test_functions_keep_their_python_objects_in_every_kernel(capfd):
    assert direct(1) == 2
    assert nested(1) == 3
    assert capfd.readouterr().out.splitlines() == ["a constant text 1", "a constant text 1", "a constant text 2"]


@compiled
def total(values):
    found = 0.0
    for k in range(values.shape[0]):
        found += values[k]
    return found


@compiled
class Scaled(NamedTuple):
    factor: float

    def total(self, values):
        return self.factor * total(values)


@kernel
def scaled_total(scaled, values, count):
    found = 0.0
    for _ in range(count):
        found += scaled.total(values)
    return found


def test_no_machine_code_is_made_of_functions_and_methods():
    from fenchel.core.pipeline import KernelCode, LinkedCode

    assert scaled_total(Scaled(2.0), np.arange(4.0), 3) == 36.0
    (of_kernel,) = [result.library for result in scaled_total.dispatcher((Scaled,)).overloads.values()]
    (of_function,) = [result.library for result in total._dispatcher.overloads.values()]
    assert isinstance(of_kernel, KernelCode)
    assert isinstance(of_function, LinkedCode)
    assert of_function.has_loops
    assert all(of_function.get_pointer_to_function(function.name) == 0 for function in of_function.get_defined_functions())


@compiled
def plus(x, y):
    return x + y


@kernel
def adds_a_known_and_an_unknown_number(x):
    return plus(x, 0) + plus(x, 1) + plus(x, int(x))


def test_known_numbers_get_no_version_of_their_own():
    assert adds_a_known_and_an_unknown_number(2.5) == 2.5 + 3.5 + 4.5
    assert len(plus._dispatcher.overloads) == 1
