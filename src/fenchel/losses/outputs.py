"""One prediction for each row, or K of them: the difference between the two, so that a kernel is written once for both.

A loss of one output computes numbers; a loss of K outputs fills arrays of length K (see :mod:`fenchel.losses`). Kernels
ask an ``outputs`` object for what differs. Below, z, g and δ are numbers for one output. For K outputs they are arrays that
belong to the object: the next call of the same method overwrites them, so store what is needed for longer.

    z = outputs.predict(rows, i, w)                         <w, x_i>, for each output
    g = outputs.derivative(loss, z, y_i)                    φ'(z, y_i)
    δ = outputs.dual_step(loss, alpha, i, z, y_i, q)        the step on α_i, which is taken
    outputs.add(rows, i, c, g, w)                           w ← w + c·g·x_i, for each output
    outputs.norm(g), outputs.dot(z, g)                      ‖g‖ and <z, g> over the outputs
    outputs.is_wrong(z, y_i)                                whether the class predicted is another than y_i
    outputs.zero()                                          z = 0
    outputs.along(z, d, i, t)                               z_i + t·d_i
    outputs.empty(k)                                        room for k predictions or derivatives
    outputs.put(g, room, i), outputs.subtract(g, room, i)   room_i ← g, room_i ← room_i − g
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.core.numeric import index_of_largest


@compiled
class OneOutput(NamedTuple):
    """The predictions of a loss of one output."""

    def predict(self, rows, i, w):
        return rows.dot(i, w)

    def derivative(self, loss, z, y):
        return loss.derivative(z, y)

    def dual_step(self, loss, alpha, i, z, y, q):
        new = loss.dual_step(alpha[i], z, y, q)
        delta = new - alpha[i]
        alpha[i] = new
        return delta

    def add(self, rows, i, c, g, w):
        if g != 0.0:
            rows.add(i, c * g, w)

    def norm(self, g):
        return abs(g)

    def dot(self, z, g):
        return z * g

    def is_wrong(self, z, y):
        return y * z <= 0.0

    def zero(self):
        return 0.0

    def put(self, g, room, i):
        room[i] = g

    def subtract(self, g, room, i):
        room[i] -= g

    def along(self, z, d, i, t):
        return z[i] + t * d[i]

    def empty(self, k):
        return np.empty(k)


@compiled
class SeveralOutputs(NamedTuple):
    """The predictions of a loss of K outputs, with the arrays that hold those of one row."""

    z: np.ndarray
    g: np.ndarray
    step: np.ndarray
    zeros: np.ndarray

    def predict(self, rows, i, w):
        rows.dots(i, w, self.z)
        return self.z

    def derivative(self, loss, z, y):
        loss.derivative(z, y, self.g)
        return self.g

    def dual_step(self, loss, alpha, i, z, y, q):
        loss.dual_step(alpha[i], z, y, q, self.step)
        for k in range(self.step.shape[0]):
            new = self.step[k]
            self.step[k] = new - alpha[i, k]
            alpha[i, k] = new
        return self.step

    def add(self, rows, i, c, g, w):
        for k in range(g.shape[0]):
            self.step[k] = c * g[k]
        rows.adds(i, self.step, w)

    def norm(self, g):
        return math.sqrt(self.dot(g, g))

    def dot(self, z, g):
        total = 0.0
        for k in range(g.shape[0]):
            total += z[k] * g[k]
        return total

    def is_wrong(self, z, y):
        return index_of_largest(z) != y

    def zero(self):
        return self.zeros

    def put(self, g, room, i):
        for k in range(g.shape[0]):
            room[i, k] = g[k]

    def subtract(self, g, room, i):
        for k in range(g.shape[0]):
            room[i, k] -= g[k]

    def along(self, z, d, i, t):
        for k in range(self.z.shape[0]):
            self.z[k] = z[i, k] + t * d[i, k]
        return self.z

    def empty(self, k):
        return np.empty((k, self.z.shape[0]))


def has_several_outputs(loss: Any) -> bool:
    """Whether a loss has one output for each class.

    >>> import fenchel as fl
    >>> has_several_outputs(fl.Softmax()), has_several_outputs(fl.Hinge())
    (True, False)
    """
    return bool(getattr(loss, "labels", "real") == "class")


def outputs_of(problem: Any) -> OneOutput | SeveralOutputs:
    """The outputs of a problem's or a stream's loss, for one thread.

    >>> import fenchel as fl
    >>> outputs_of(fl.Problem([[1.0], [2.0]], [1.0, -1.0], fl.Logistic(), fl.L2(1.0))).norm(-2.0)
    2.0
    """
    return SeveralOutputs(*(np.zeros(problem.outputs) for _ in range(4))) if problem.vector_valued else OneOutput()
