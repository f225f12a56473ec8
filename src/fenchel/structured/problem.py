"""min_w P(w) = (1/m) Σ_i s_i·ℓ_i(w) + Ω(w) for structured outputs

    loss="margin"       ℓ_i(w) = max_y [Δ(y, y_i) + <w, ψ(x_i, y) − ψ(x_i, y_i)>]        (Tsochantaridis, Joachims, Hofmann & Altun,
                        *Large margin methods for structured and interdependent output variables*, JMLR 2005: margin rescaling)
    loss="likelihood"   ℓ_i(w) = log Σ_y exp<w, ψ(x_i, y)> − <w, ψ(x_i, y_i)>             (Lafferty, McCallum & Pereira, *Conditional
                        random fields*, ICML 2001)

Both are convex and non-negative, and the model's decoder computes their values and subgradients. A cutting plane of the mean loss,
ℓ(w') ≥ b + <a, w'>, scaled by any c in [0, 1] (0 is a cutting plane too), gives a lower bound on the smallest objective:

    min P ≥ c·b − Ω*(−c·a)
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fenchel.core.errors import InputError, InputTypeError
from fenchel.core.threads import available_threads
from fenchel.core.validation import checked_choice
from fenchel.problems.labels import checked_sample_weights
from fenchel.problems.objective import Chunk, Objective, gap_between, row_orders
from fenchel.problems.parts import checked_part
from fenchel.problems.rounding import TERM, relative_error
from fenchel.regularizers import regularizers
from fenchel.structured.oracle import decode_all, loss_and_subgradient, measure, split_by_work
from fenchel.structured.structured_model import MARGIN, StructuredModel
from fenchel.structured.training_losses import LOSSES, Likelihood, norms_at_zero


class LossAtPoint(NamedTuple):
    """The mean loss at weights w and a subgradient of it, from decoding every example."""

    w: np.ndarray
    loss: float
    subgradient: np.ndarray


class Problem(Objective):
    """A structured model on examples, with a loss and a regularizer: everything that solvers need to know about the problem.

    ``X`` and ``Y`` are inputs and outputs in the format of the model, ``loss`` is ``"margin"`` or ``"likelihood"``. The solvers are
    ``bundle``, ``proximal-bundle``, ``block-frank-wolfe`` and the subgradient methods for a margin, ``lbfgs``, ``fista`` and the
    subgradient methods for a likelihood. Examples are decoded in parallel threads.

    >>> import fenchel as fl
    >>> X, Y = np.eye(3), ["a", "b", "a"]
    >>> problem = fl.structured.Problem(fl.structured.Multiclass(), X, Y, fl.L2(0.1))
    >>> problem.objective_at_zero
    1.0
    >>> result = fl.minimize(problem, tol=1e-4)
    >>> problem.decode(result.w)
    ['a', 'b', 'a']
    """

    structured = True
    outputs = 1
    intercept = 0.0
    smoothness = math.inf  # unknown

    def __init__(self, model: StructuredModel, X: Any, Y: Any, regularizer: Any, loss: str = MARGIN, *, sample_weight: Any = None) -> None:
        if not isinstance(model, StructuredModel):
            raise InputTypeError(f"model is a {type(model).__name__}, not a structured model: give one, such as structured.Chain().")
        checked_choice("loss", loss, LOSSES)
        if loss not in model.losses:
            raise InputError(f"{type(model).__name__} does not support the loss {loss!r}: use {' or '.join(map(repr, model.losses))}.")
        self.regularizer = checked_part(regularizer, "regularizer", ("separable",), regularizers())
        self.loss, self.labels = LOSSES[loss], "structure"
        self.model, self.examples = model.prepared(X, Y)
        self.m, self.n = int(self.examples.count()), self.model.n
        if self.m == 0:
            raise InputError("There are no examples: give at least one.")
        self._check_bounds()
        self.work, _, self.part_sizes = measure(self.examples)
        self.row_weights = checked_sample_weights(sample_weight, self.m) / self.m  # s_i / m
        self.threads = available_threads()
        self.memo: dict[str, Any] = {}
        self.token = os.urandom(16).hex()

    def __repr__(self) -> str:
        kind = "likelihood" if self.likelihood else "margin"
        return f"structured.Problem({type(self.model).__name__}, {self.m:,} examples, {self.n:,} weights, {kind}, {self.regularizer!r})"

    @property
    def likelihood(self) -> bool:
        """Whether the loss is the likelihood rather than the margin."""
        return isinstance(self.loss, Likelihood)

    @property
    def entries(self) -> int:
        """The number of examples read in one pass."""
        return self.m

    # ---- losses, gradients and bounds ----

    def predict(self, w: np.ndarray) -> LossAtPoint:
        """Decode every example under w: the mean loss and its subgradient."""
        w = np.ascontiguousarray(self._as_weights(w))
        if w.any():
            return self._evaluate(w)
        if "at zero" not in self.memo:  # cached, because every run starts at w = 0
            self.memo["at zero"] = self._evaluate(w)
        return self.memo["at zero"]

    def _evaluate(self, w: np.ndarray) -> LossAtPoint:
        loss, subgradient = loss_and_subgradient(self.examples, self.loss, self.row_weights, self.split_by_threads, w)
        return LossAtPoint(w.copy(), loss, subgradient)

    @cached_property
    def split_by_threads(self) -> list[np.ndarray]:
        """The examples of each thread."""
        return split_by_work(self.work, self.threads)

    def between(self, w: np.ndarray, z: LossAtPoint, z_old: LossAtPoint, beta: float) -> LossAtPoint:
        """The loss at w; it is not linear in the weights, so it cannot be interpolated between ``z`` and ``z_old``."""
        return self.predict(w) if beta else z

    def mean_loss(self, z: LossAtPoint) -> float:
        """(1/m) Σ s_i·ℓ_i(w)"""
        return z.loss

    def loss_gradient(self, z: LossAtPoint) -> tuple[None, np.ndarray]:
        """v = −∇(mean loss); the corresponding dual point, a mixture of outputs for each example, is not stored."""
        return None, -z.subgradient

    def objective(self, w: np.ndarray, z: LossAtPoint | None = None) -> float:
        """P(w); ``z`` is the result of ``predict``, if already known."""
        return (self.predict(w) if z is None else z).loss + self.penalty(w)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇P(w) if P is smooth, otherwise a subgradient."""
        return self.penalty_gradient(self._as_weights(w)) + self.predict(w).subgradient

    def lower_bound(
        self, alpha: None, v: np.ndarray, objective: float = math.inf, z: LossAtPoint | None = None, wanted: float = math.inf
    ) -> float:
        """The lower bound on the smallest objective from the cutting plane found by ``predict``."""
        if z is None:
            raise InputError("The bound needs a cutting plane of the mean loss: give z = problem.predict(w).")
        size = z.loss + self._size_of_planes(z.w)
        b = z.loss - float(z.subgradient @ z.w) - relative_error(self.m + self.n) * size
        return self.bound_of_plane(b, z.subgradient, objective, wanted)

    def bound_of_plane(self, b: float, a: np.ndarray, objective: float = math.inf, wanted: float = math.inf) -> float:
        """max over 0 ≤ c ≤ 1 of c·b − Ω*(−c·a): a lower bound on the smallest objective if ℓ(w) ≥ b + <a, w> and ℓ ≥ 0."""
        error = relative_error(self.m) * np.abs(a)

        def value(c: float) -> float:
            return c * b - TERM * abs(b) - self.penalty_conjugate_around(-c * a, c * error, objective)

        return max(self.best_scaled(value, -a, error, objective, wanted), -self.penalty_conjugate(np.zeros(self.n)))

    def objective_error(self, w: np.ndarray, z: LossAtPoint | None, objective: float) -> float:
        """An estimate of how much larger the exact P(w) may be than the computed one: a score is a sum over the features of a structure."""
        return relative_error(self.m + self.n) * self._size_of_planes(w) + self.penalty_error(w)

    def plane_errors(self, w: np.ndarray, loss: float, alpha: np.ndarray | None, a: np.ndarray) -> tuple[float, float]:
        """Estimates of the rounding of a plane's value at 0 and of its subgradient."""
        return relative_error(self.m + self.n) * (loss + self._size_of_planes(w)), relative_error(self.m) * float(np.linalg.norm(a))

    @np.errstate(over="ignore")
    def _size_of_planes(self, w: np.ndarray) -> float:
        at_zero = self.predict(np.zeros(self.n))  # known to every run, unlike the norm for each example, which takes another pass
        return at_zero.loss + float(np.linalg.norm(w)) * float(np.linalg.norm(at_zero.subgradient))

    def gap(self, w: np.ndarray) -> float:
        """An upper bound on P(w) − min P, from w alone."""
        z = self.predict(w)
        objective = self.objective(w, z)
        return gap_between(objective, self.lower_bound(None, -z.subgradient, objective, z) - self.objective_error(w, z, objective))

    def is_dual_point(self, alpha: Any) -> bool:
        """Always False: the dual points of solvers are internal to them, and a mixture of outputs cannot be validated."""
        return False

    # ---- one example at a time ----

    def chunks(self, sampling: str, rng: np.random.Generator, batch: int) -> Iterator[Chunk]:
        """The examples in the order given by ``sampling``, in endless passes."""
        s, none = self.m * self.row_weights, np.zeros(0)
        for order, passes in row_orders(self.m, sampling, rng, batch):
            yield Chunk(self.examples, none, s, order, passes)

    @cached_property
    def at_zero(self) -> tuple[float, float]:
        """The means of ℓ_i(0) and of the norm of its subgradient."""
        return self.loss_at_zero, float(self.row_norms @ self.row_weights)

    @property
    def loss_at_zero(self) -> float:
        """The mean of ℓ_i(0)."""
        return self.predict(np.zeros(self.n)).loss

    @cached_property
    def row_norms(self) -> np.ndarray:
        """The norm of a subgradient of each example's loss at w = 0."""
        return norms_at_zero(self.examples, self.loss, self.n)

    # ---- predictions ----

    def decode(self, w: np.ndarray, X: Any = None) -> list[Any]:
        """The best output for every input under w, in the format of the model; without ``X``, for the problem's own inputs."""
        examples = self.examples if X is None else self.model.examples(X)
        ys = decode_all(examples, np.ascontiguousarray(self._as_weights(w)), self.threads)
        return [self.model.output(examples, i, y) for i, y in enumerate(ys)]

    # ---- modified copies ----

    def replace(self, *, regularizer: Any = None) -> Problem:
        """The same problem with another regularizer."""
        changed = self._changed(regularizer=self.regularizer if regularizer is None else regularizer, token=os.urandom(16).hex())
        changed._check_bounds()
        return changed

    def with_threads(self, threads: int | None) -> Problem:
        """The same problem with another number of decoding threads."""
        return self if threads is None or threads == self.threads else self._changed(threads=int(threads))
