"""s_i φ'(z_i)/m as a vector that a column is multiplied with, and z as what a column is added to

Both have the methods of :mod:`fenchel.linalg.weights`: ``raw`` reads a derivative and ``shift`` changes a prediction. One output and K
outputs need two classes: a single derivative is computed where it is read, but the K derivatives of a row depend on all its K
predictions, so that they are stored and computed again after the last of the K has changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel


@compiled
class Derivatives(NamedTuple):
    """The derivatives of a loss of one output."""

    loss: Any
    y: np.ndarray
    row_weights: np.ndarray
    z: np.ndarray

    def raw(self, i):
        return self.row_weights[i] * self.loss.derivative(self.z[i], self.y[i])

    def factor(self):
        return 1.0

    def shift(self, i, delta):
        self.z[i] += delta
        return 0.0

    def settle(self, change):
        pass

    def shift_with_gradient(self, i, delta, rows, g, change):
        """z_i ← z_i + δ and g ← g + (change of the derivative)·x_i; the entries of X read. ``change`` is a buffer of K numbers."""
        old = self.raw(i)
        self.z[i] += delta
        rows.add(i, self.raw(i) - old, g)
        return rows.count(i)


@compiled
class VectorDerivatives(NamedTuple):
    """The derivatives of a loss of K outputs, entry i·K + k."""

    loss: Any
    y: np.ndarray
    row_weights: np.ndarray
    z: np.ndarray  # m × K
    values: np.ndarray  # m × K

    def raw(self, e):
        K = np.uintp(self.z.shape[1])
        return self.values[np.uintp(e) // K, np.uintp(e) % K]

    def factor(self):
        return 1.0

    def shift(self, e, delta):
        K = np.uintp(self.z.shape[1])
        i, k = np.uintp(e) // K, np.uintp(e) % K
        self.z[i, k] += delta
        if k == K - np.uintp(1):
            self.refresh(i)
        return 0.0

    def refresh(self, i):
        self.loss.derivative(self.z[i], self.y[i], self.values[i])
        for k in range(self.z.shape[1]):
            self.values[i, k] *= self.row_weights[i]

    def settle(self, change):
        pass

    def shift_with_gradient(self, e, delta, rows, g, change):
        """The same as for one output, once all K predictions of the row have changed."""
        K = change.shape[0]
        i, k = e // K, e % K
        self.z[i, k] += delta
        if k < K - 1:
            return 0
        for c in range(K):
            change[c] = -self.values[i, c]
        self.refresh(i)
        for c in range(K):
            change[c] += self.values[i, c]
        rows.adds(i, change, g)
        return rows.count(i)


@kernel
def refresh(derivatives):
    for i in range(derivatives.z.shape[0]):
        derivatives.refresh(i)
