"""The exponentials and logarithms of fenchel.core.elementary, and the sums over rows that use them, beside those of the library."""

from __future__ import annotations

import math
from functools import partial

import numba
import numpy as np
from common import best, show

import fenchel as fl
from fenchel.core.compiled import numba_side
from fenchel.core.elementary import exponential, logarithm
from fenchel.core.jit_options import OPTIONS
from fenchel.core.numeric import log1pexp, sigmoid
from fenchel.problems.sums import negative_derivatives, sum_conjugates, sum_losses

ROWS = 100_000


def loop(function):
    """A compiled loop that maps one array to another."""

    def run(x, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    return numba.njit(**OPTIONS)(run)


def scalar(function):
    return numba.njit(**OPTIONS)(function)


PAIRS = {
    "exp": (exponential, scalar(lambda x: math.exp(x))),
    "log": (logarithm, scalar(lambda x: math.log(x))),
    "log(1 + exp)": (log1pexp, scalar(lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))))),
    "1/(1 + exp)": (sigmoid, scalar(lambda x: 1.0 / (1.0 + math.exp(-x)))),
}


def nanoseconds(action) -> float:
    action()
    return best(action, 20) / ROWS * 1e9


def main() -> None:
    numba_side().prepare_to_compile()
    rng = np.random.default_rng(0)
    x, out = np.abs(rng.standard_normal(ROWS)) * 3.0, np.empty(ROWS)
    rows = []
    for name, functions in PAIRS.items():
        ours, library = (nanoseconds(partial(loop(function), x, out)) for function in functions)
        rows.append([name, f"{ours:.2f}", f"{library:.2f}", f"{library / ours:.1f}"])
    show("ns for each number", ["function", "fenchel", "library", "library ÷ fenchel"], rows)
    y, r = np.sign(rng.standard_normal(ROWS)), np.full(ROWS, 1.0 / ROWS)
    z, alpha = rng.standard_normal(ROWS), y * rng.random(ROWS)
    loss = fl.Logistic()
    sums = {
        "losses": lambda: sum_losses(loss, z, y, r),
        "derivatives": lambda: negative_derivatives(loss, z, y, out),
        "conjugates": lambda: sum_conjugates(loss, alpha, y, r, 1.0),
    }
    show("logistic loss, ns for each row", ["sum of", "ns"], [[name, f"{nanoseconds(action):.2f}"] for name, action in sums.items()])


if __name__ == "__main__":
    main()
