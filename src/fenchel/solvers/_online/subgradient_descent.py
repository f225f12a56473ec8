"""Projected subgradient steps on λ-strongly convex objectives: w_{t+1} = Π_S[w_t − η_t g_t]

Algorithm 1 of Do, Le & Foo, *Proximal regularization for online and batch learning*, ICML 2009, where in step t

    g_t ∈ ∂f_t(w_t),   f_t(w) = λ/2·‖w‖² + ℓ_t(w),   S = {‖w‖ ≤ √(P(0)/λ)}

S contains the minimiser for every mean loss that is nowhere negative: λ‖w*‖² ≤ P(0) − mean loss, for P(w*) = D(α*) and
−φ*(−α) ≤ φ(0). For the hinge it is Pegasos' ball of radius 1/√λ.

A :class:`.protocols.StepSchedule` gives η_t, and is all that the methods differ in. It also gets the natural length
r = mean φ(0) / mean ‖φ'(0)·x‖ of w, from which it can choose lengths that do not depend on the scale of the rows.

``descend`` takes these steps for any oracle of subgradients. ``SubgradientStep`` takes them for linear models, where only
the entries of the rows drawn and a few numbers change in a step: w = scale·u.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.compiled import compiled, kernel
from fenchel.core.errors import Argument, InputError
from fenchel.core.numeric import TINY
from fenchel.core.record import record
from fenchel.core.validation import is_number
from fenchel.linalg.weights import SMALLEST_SHARE_OF_PEAK
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.problems.sums import sum_losses
from fenchel.solvers._online.online_loop import ROWS_BEFORE_START, checked_batch
from fenchel.solvers._online.predictors import predictor_of
from fenchel.solvers._online.protocols import StepSchedule
from fenchel.solvers._online.structured_loop import loop_of

SMALL_SCALE = 1e-30  # a smaller scale is multiplied into u, long before u overflows
ZERO_SCALE = 1e-60  # the smallest factor that w is multiplied with, in place of 0: what is left of w rounds to nothing


@compiled
def balancing(curvature, G, R):
    """The τ ≥ 0 with τ(curvature + τ) = (G/2R)²: ½(√(c² + G²/R²) − c), without subtracting nearly equal numbers."""
    a = G / max(R, TINY)
    return 0.5 * a * (a / (curvature + math.hypot(curvature, a))) if a > 0.0 else 0.0


@compiled
class ScaledWeights(NamedTuple):
    """w = scale·u with ‖u‖² kept up to date: multiplying w by a number costs one multiplication."""

    v: np.ndarray  # u
    state: Any  # scale; ‖u‖² as square, and its peak since it was last computed from u

    def raw(self, j):
        return self.v[j]

    def factor(self):
        return self.state.scale

    def shift(self, j, delta):
        old = self.v[j]
        self.v[j] = old + delta
        return delta * (2.0 * old + delta)

    def settle(self, change):
        self.state.square += change
        self.state.peak = max(self.state.peak, self.state.square)

    def has_common_factor(self):
        return True

    def is_outdated(self):
        return self.state.scale < SMALL_SCALE or not self.state.square >= SMALLEST_SHARE_OF_PEAK * self.state.peak

    def refresh(self):
        if self.state.scale < SMALL_SCALE:
            for j in range(self.v.shape[0]):
                self.v[j] *= self.state.scale
            self.state.scale = 1.0
        self.compute_square()

    def compute_square(self):
        square = 0.0
        for j in range(self.v.shape[0]):
            square += self.v[j] * self.v[j]
        self.state.square = square
        self.state.peak = square

    def end_shifts(self):
        if self.is_outdated():
            self.refresh()

    def end_step(self):
        pass

    def norm(self):
        return self.state.scale * math.sqrt(self.state.square)

    def multiply(self, c):
        self.state.scale *= c


@compiled
class SubgradientStep(NamedTuple):
    """The update rule w_{t+1} = Π_S[w_t − η_t g_t]."""

    schedule: Any
    l2: float
    weights: ScaledWeights
    norms: np.ndarray  # ‖x_i‖
    state: Any  # the radius of S

    def needs_values_at_zero(self):
        return True

    def gradient_norm(self, i, derivative):
        return abs(derivative) * self.norms[i]

    def step_size(self, G, loss_at_zero, natural_length):
        # While no row had a loss, S is not yet known.
        self.state.radius = math.sqrt(loss_at_zero / self.l2) if loss_at_zero > 0.0 else math.inf
        eta, tau = self.schedule.step(G + self.l2 * self.weights.norm(), self.state.radius, natural_length)
        self.weights.multiply(max(1.0 - eta * (self.l2 + tau), ZERO_SCALE))
        return eta / self.weights.factor()

    def finish_step(self):
        norm = self.weights.norm()
        if norm > self.state.radius:
            self.weights.multiply(self.state.radius / norm)
            norm = self.state.radius
        return self.schedule.after(norm)


@kernel
def compute_square(weights):
    weights.compute_square()


def descend(
    oracle: Callable[[np.ndarray], np.ndarray],
    schedule: StepSchedule,
    l2: float,
    w: np.ndarray,
    radius: float = math.inf,
    natural_length: float = 1.0,
) -> Iterator[np.ndarray]:
    """The same steps for any oracle: ``oracle(w)`` is a subgradient at w of the loss of this step.

    >>> from fenchel.solvers.pegasos import Pegasos
    >>> steps = descend(lambda w: np.array([-1.0]), Pegasos(0.5, new_schedule_state()), 0.5, np.zeros(1))
    >>> [float(next(steps)[0]) for _ in range(2)]
    [2.0, 2.0]
    """
    while True:
        g = oracle(w)
        eta, tau = schedule.step(float(np.linalg.norm(g)) + l2 * float(np.linalg.norm(w)), radius, natural_length)
        w = w - eta * ((l2 + tau) * w + g)
        norm = float(np.linalg.norm(w))
        if norm > radius:
            w, norm = w * (radius / norm), radius
        schedule.after(norm)
        yield w


class SubgradientRun:
    """A run of the steps above on a problem or a stream, with the step sizes of one method."""

    def __init__(
        self,
        problem: Any,
        schedule: StepSchedule,
        *,
        start: Iterate | None,
        rng: np.random.Generator,
        batch: int | str,
        sampling: str,
        predictor: str,
    ) -> None:
        self.problem, self.schedule, self.l2 = problem, schedule, problem.regularizer.l2
        self.batch = checked_batch(batch)
        self.loop = loop_of(problem, batch=self.batch, sampling=sampling, rng=rng, start=start)
        state = self.loop.state
        u = np.zeros(math.prod(problem.shape)) if start is None else state.get("u", start.w.reshape(-1)).copy()
        weights = ScaledWeights(u, state.get("weights", record(scale=1.0, square=0.0, peak=0.0)).copy())
        compute_square(weights)
        self.rule = SubgradientStep(schedule, self.l2, weights, np.zeros(0), record(radius=math.inf))
        self.predictor = predictor_of(predictor, weights, rng, state)

    def __iter__(self) -> Iterator[Iterate]:
        for chunk in self.loop.chunks():
            self.run(chunk)
            del chunk
            yield self.iterate()

    def run(self, chunk: Chunk) -> None:
        """The steps of one chunk."""
        rule = self.rule_for(chunk)
        for part in self.predictor.parts(chunk.order, self.batch):
            self.loop.run(chunk, rule, self.predictor.weights, part)

    def rule_for(self, chunk: Chunk) -> SubgradientStep:
        """The update rule with the norms of the rows of a chunk."""
        compute_square(self.rule.weights)  # bounds the drift of ‖u‖²
        return self.rule._replace(norms=norms_of(self.problem, chunk))

    def iterate(self) -> Iterate:
        """What the solver yields."""
        own = {"u": self.rule.weights.v, "weights": self.rule.weights.state, "schedule": self.schedule.state}
        return self.loop.iterate(self.predictor.read(), {**own, **self.predictor.state()})


def new_schedule_state() -> Any:
    """The state of a schedule before the first step: λ_{1:t} and τ_{1:t} as sums; the R in use, the R wanted for the next step, and the
    largest that R may become; a bound G on subgradients; whether R has grown. Each schedule uses what it needs.
    """
    return record(lambda_sum=0.0, tau_sum=0.0, R=0.0, R_wanted=0.0, largest_R=0.0, G=0.0, grew=0.0)


def schedule_state(problem: Any, start: Iterate | None) -> Any:
    """The state to begin with; weights given as a start count for the steps of one pass, or of 10,000 rows of a stream."""
    if start is not None and "schedule" in start.state:
        return start.state["schedule"].copy()
    state = new_schedule_state()
    if start is not None:
        steps = float(problem.m) if problem.in_memory else ROWS_BEFORE_START
        norm = float(np.linalg.norm(start.w))
        _, gradient = mean_at_zero(problem)
        state.lambda_sum = steps * problem.regularizer.l2
        state.tau_sum = gradient * math.sqrt(steps) / max(norm, natural_length(problem))
        state.R_wanted = norm
    return state


def natural_length(problem: Any) -> float:
    """r = mean φ(0) / mean ‖φ'(0)·x‖: how long w must be to bring a typical loss to zero."""
    loss, gradient = mean_at_zero(problem)
    return loss / gradient if gradient > 0.0 else 1.0


def mean_at_zero(problem: Any) -> tuple[float, float]:
    """The means of φ(0, y) and of ‖φ'(0, y)·x‖, over the first chunk of a stream."""
    if problem.structured:
        return problem.at_zero
    sample = problem.sample()
    m = len(sample.y)
    zero = np.zeros((m, *problem.shape[1:]))
    derivatives = np.linalg.norm(problem.negative_derivatives(zero, sample.y).reshape(m, -1), axis=1)
    loss = float(sum_losses(problem.loss, zero, sample.y, sample.s)) / m
    return loss, float(np.mean(sample.s * norms_of(problem, sample) * derivatives))


def norms_of(problem: Any, chunk: Chunk) -> np.ndarray:
    """‖x_i‖ of the rows of a chunk; those in memory are computed once. Structured examples have none: their subgradients are measured."""
    if problem.structured:
        return np.zeros(0)
    return np.asarray(problem.row_norms if problem.in_memory else chunk.design.row_norms())


def gradient_bound(problem: Any, option: str) -> float:
    """G: no subgradient on S is longer, for a Lipschitz loss on rows in memory."""
    if not (problem.in_memory and hasattr(problem.loss, "lipschitz")):
        raise InputError(f"{option} needs a bound on every subgradient: a loss with bounded derivatives, and rows in memory.")
    rows = float((problem.m * problem.row_weights * problem.row_norms).max())
    return float(problem.loss.lipschitz()) * rows + math.sqrt(problem.regularizer.l2 * problem.objective_at_zero)


def checked_radius(radius: Any) -> float:
    """R as given, or 0 for one that is taken from the data."""
    if radius is None:
        return 0.0
    if not (is_number(radius) and 0.0 < radius < math.inf):
        raise InputError(Argument("radius", radius), ": give a positive number, a guess of the norm of the solution, or None.")
    return float(radius)
