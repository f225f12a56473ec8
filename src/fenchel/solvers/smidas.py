"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + σ‖w‖₁ by stochastic mirror descent made sparse

Algorithm 3 (SMIDAS) of Shalev-Shwartz & Tewari, *Stochastic methods for l1-regularized loss minimization*, JMLR 2011:

    θ ← 0, w ← 0;   for t = 1, 2, …:   draw k rows A_t;   θ ← θ − η∂g_t(w),  g_t the mean loss on A_t
                                       θ_j ← sign(θ_j)·max(0, |θ_j| − ησ) for all j
                                       w ← f⁻¹(θ),   f⁻¹_j(θ) = sign(θ_j)·|θ_j|^{p−1} / ‖θ‖_p^{p−2},   p = ⌈2 ln n⌉

Each step changes every θ_j and with them ‖θ‖_p, so it costs O(n): one sweep over θ that shrinks and adds up |θ_j|^p, at the
speed of memory, for powers are products where p is a whole number. Of w only the entries that the next row reads are
computed. All powers are of |θ_j|/‖θ‖_p, with the norm before the sweep, or after: numbers up to 1, whatever the scale.

Every row with |φ'(z_i)x_ij| > σ makes θ_j differ from zero, so θ is about as dense as the rows. What makes w sparse is the
power p − 1: most |w_j| are then below the rounding of the largest, and those are zero here.
η and what is proven about it: :mod:`fenchel.solvers._online.step_size`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel, reassociated
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import TINY
from fenchel.core.record import record
from fenchel.core.validation import is_number
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.truncated_steps import TruncatedStep, TruncationRun
from fenchel.solvers.declaration import lasso, solver

NEGLIGIBLE = 2.0**-53  # weights below this share of ‖w‖ are smaller than the rounding error of the largest, and count as 0
UNDERFLOWN = 1e-200  # a sum of powers below this has lost most of its terms to underflow
LARGEST_WHOLE = 64  # powers with whole p below this are computed by squaring


@compiled
def whole_power(x, k):
    """x^k for 0 ≤ k < 64 without a loop or a branch, so that loops around it vectorise."""
    power = x if k & 1 else 1.0
    x = x * x
    power = power * x if k & 2 else power
    x = x * x
    power = power * x if k & 4 else power
    x = x * x
    power = power * x if k & 8 else power
    x = x * x
    power = power * x if k & 16 else power
    x = x * x
    return power * x if k & 32 else power


@compiled
class WholePower(NamedTuple):
    """x^p and x^{p−1} for a whole number p."""

    p: int

    def mass(self, x):
        return whole_power(x, self.p)

    def image(self, x):
        return whole_power(x, self.p - 1)


@compiled
class RealPower(NamedTuple):
    """The same for any p."""

    p: float

    def mass(self, x):
        return x**self.p

    def image(self, x):
        return x ** (self.p - 1.0)


@compiled
class MirrorWeights(NamedTuple):
    """w = f⁻¹(θ), from θ and its norm."""

    power: Any
    v: np.ndarray  # θ
    state: Any  # ‖θ‖_p as norm, its inverse, and an upper bound on every |θ_j|

    def raw(self, j):
        image = self.power.image(abs(self.v[j]) * self.state.inverse)
        return math.copysign(image if image > NEGLIGIBLE else 0.0, self.v[j])

    def factor(self):
        return self.state.norm

    def shift(self, j, delta):
        self.v[j] += delta
        self.state.bound = max(self.state.bound, abs(self.v[j]))
        return 0.0

    def settle(self, change):
        pass

    def has_common_factor(self):
        return False

    def end_shifts(self):
        pass

    def end_step(self):
        pass

    def shrink(self, threshold):
        """θ ← soft(θ, threshold), and its norm."""
        scale = self.state.bound
        total = 0.0
        if scale > threshold:
            total = self.sweep(threshold, 1.0 / max(scale, TINY))
            if total < UNDERFLOWN:
                scale = self.largest()
                total = self.sweep(0.0, 1.0 / max(scale, TINY))
        else:
            self.v[:] = 0.0
        norm = scale * total ** (1.0 / self.power.p)
        self.state.norm = norm
        self.state.inverse = 1.0 / norm if norm > 0.0 else 0.0
        self.state.bound = norm  # no less than any |θ_j|, and no more than √e times the largest

    def apply_deferred(self):
        pass

    @reassociated
    def sweep(self, threshold, scale):
        total = 0.0
        for j in range(self.v.shape[0]):
            size = max(abs(self.v[j]) - threshold, 0.0)
            self.v[j] = math.copysign(size, self.v[j])
            total += self.power.mass(size * scale)
        return total

    def largest(self):
        largest = 0.0
        for j in range(self.v.shape[0]):
            largest = max(largest, abs(self.v[j]))
        return largest


@kernel
def compute_norm(weights):
    weights.shrink(0.0)


@solver("smidas", needs=(lasso,), online=True)
def smidas(
    problem: Any,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    p: float | None = None,
    eta: float | str = "auto",
    schedule: str = "auto",
    norm: float | None = None,
    steps: int | None = None,
    K: float | None = None,
    batch: int | str = "auto",
    sampling: str = "auto",
    predictor: str = "last",
) -> Iterator[Iterate]:
    """Mirror descent with truncation: one row a step at O(features), sparse at every step, any loss, lasso penalty.

    ``eta`` is the step size: a number, "auto" (the best of several on a sample of the rows), or that of the "theorem", from a bound
    ``norm`` on ‖w*‖₁ and the number of ``steps``, or of the "proposition", from ``K``. ``schedule`` "decreasing" halves it where
    progress ends, which is the default after eta="auto"; the theorems are about "constant" with ``predictor="random"``, one of
    w_1, …, w_T (in the paper from w_0 = 0 on).
    """
    size = math.prod(problem.shape)
    order = checked_order(p, size)
    spread = math.sqrt(max(math.e, size ** (2.0 / order)))  # ‖x‖_p ≤ spread·‖x‖_∞; e is n^{2/p} at p = 2 ln n

    def largest_entries(chunk: Chunk) -> np.ndarray:
        return spread * chunk.design.row_norms(math.inf)

    settings: dict[str, Any] = {"start": start, "rng": rng, "batch": batch, "sampling": sampling, "predictor": predictor}
    rules: dict[str, Any] = {"eta": eta, "schedule": schedule, "norm": norm, "steps": steps, "K": K}
    first = partial(first_rule, problem.regularizer.l1, order)
    yield from TruncationRun(problem, first, largest_entries, order, **rules, **settings)


def first_rule(l1: float, p: float, w: np.ndarray, eta: float) -> TruncatedStep:
    """The update rule at w."""
    power = WholePower(int(p)) if p < LARGEST_WHOLE and p == int(p) else RealPower(p)
    theta = mirrored(w.reshape(-1), p)
    weights = MirrorWeights(power, theta, record(norm=0.0, inverse=0.0, bound=np.abs(theta).max()))
    compute_norm(weights)
    return TruncatedStep(weights, l1, record(eta=eta))


def mirrored(w: np.ndarray, p: float) -> np.ndarray:
    """θ = f(w) = ∇(½‖w‖_q²): the θ whose weights are w."""
    q = p / (p - 1.0)
    top = float(np.abs(w).max())
    if top == 0.0:
        return np.zeros(len(w))
    x = np.abs(w) / top
    return np.copysign(top * x ** (q - 1.0) * (x**q).sum() ** (2.0 / q - 1.0), w)


def checked_order(p: Any, size: int) -> float:
    """p as given, or ⌈2 ln n⌉, and at least 2."""
    if p is None:
        return float(max(2, math.ceil(2.0 * math.log(size))))
    if isinstance(p, bool) or not (is_number(p) and 2.0 <= p < math.inf):
        raise InputError(Argument("p", p), ": give a number of at least 2, or leave it out for 2 ln n, rounded up.")
    return float(p)
