"""The step size η of SMIDAS and TRUNCGRAD, by theorem or by trial

Theorem 3 and Proposition 4 of Shalev-Shwartz & Tewari, *Stochastic methods for l1-regularized loss minimization*, JMLR 2011.
With ‖x_i‖_p ≤ R, ‖w*‖_q ≤ B and w_o drawn uniformly from the first T iterates, E P(w_o) − P(w*) is at most

    (13)  where |φ'| ≤ ρ     ηρa + B²/(ηT),                             a = (p−1)ρR²/2    smallest at η = B/√(ρaT)
    (14)  where φ'² ≤ ρφ     aη/(1−aη)·P(0) + B²/(ηT(1−aη))                               smallest at Lemma 7's η
          and, for every K > 0, K·P(w*) + (1+K)²/K·aB²/T                                  at η = K/(a(1+K))

A loss of smoothness β that is nowhere negative has φ'² ≤ 2βφ. Weights s_i of the rows go with R: max s_i‖x_i‖ in (13) and
max √s_i·‖x_i‖ in (14). SMIDAS has R² = e·max x_ij², as d^{2/p} = e at p = 2 ln d, and B ≥ ‖w*‖₁ ≥ ‖w*‖_q. TRUNCGRAD is the
case p = q = 2, where f is the identity and nothing in the proof changes: R = max ‖x_i‖₂ and B ≥ ‖w*‖₂. B = P(0)/σ always
holds, and is as a rule so loose that the η for it is far too large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import is_number
from fenchel.linalg.design import Design
from fenchel.linalg.weights import read_weights
from fenchel.problems.objective import Chunk
from fenchel.problems.sums import sum_losses
from fenchel.solvers._online.online_loop import ROWS_BEFORE_START, OnlineLoop

RULES = ("auto", "theorem", "proposition")
DEFAULT_PASSES = 10  # the assumed length of a run, unless steps= is given
TRIAL_ROWS, LARGE_DATA_SHARE = 1000, 256  # a trial uses this many rows and steps, or one row in 256 of large data
MOST_TRIAL_PASSES = 100  # over the rows of a trial, whatever the batch
COARSE, FINE = 4.0, 2.0  # factors between neighbours on the grid of η
MOST_EXPANSIONS = 12  # of the grid to one side


class StepSize:
    """Where η comes from: ``first_rule(w, eta)`` makes the method's update rule at w, ``size(chunk)`` bounds ‖x_i‖_p of the rows."""

    def __init__(
        self, problem: Any, first_rule: Callable[[np.ndarray, float], Any], size: Callable[[Chunk], np.ndarray], p: float, batch: int
    ) -> None:
        self.problem, self.first_rule, self.size, self.p, self.batch = problem, first_rule, size, p, batch
        self.accesses = 0  # entries of X read by trials

    def find(
        self, eta: float | str, norm: float | None, steps: int | None, K: float | None, w: np.ndarray, rng: np.random.Generator
    ) -> float:
        """η as given, by the theory, or by trials from w."""
        if not isinstance(eta, str):
            return eta
        if eta == "auto":
            return self.tried(w, rng.spawn(1)[0])
        found = self.theorem(norm, steps) if eta == "theorem" else self.proposition(1.0 if K is None else K)
        return found if 0.0 < found < math.inf else 1.0  # nothing to learn: P(0) = 0, or no entry of X but zeros

    def theorem(self, norm: float | None, steps: int | None) -> float:
        """η of Theorem 3, of the case with the smaller bound."""
        sample = self.problem.sample()
        P0 = objective_at_zero(self.problem, sample)
        B = P0 / self.problem.regularizer.l1 if norm is None else norm
        T = default_steps(self.problem, self.batch) if steps is None else steps
        rho, steep = self.curvature(sample, smooth=False)
        _, a = self.curvature(sample, smooth=True)
        if math.isinf(steep) and math.isinf(a):
            raise InputError(
                Argument("eta", "theorem"),
                f" needs a loss with a finite lipschitz() or smoothness(), and {type(self.problem.loss).__name__} has neither: use ",
                Argument("eta", "auto"),
                ", or give a number.",
            )
        found = []
        if 0.0 < steep < math.inf:
            found.append((2.0 * B * math.sqrt(rho * steep / T), B / math.sqrt(rho * steep * T)))
        if 0.0 < a < math.inf and B > 0.0:
            eta = 1.0 / (a * (1.0 + math.sqrt(1.0 + P0 * T / (a * B * B))))  # Lemma 7's, without a difference of equal numbers
            found.append(((a * eta * P0 + B * B / (eta * T)) / (1.0 - a * eta), eta))
        return min(found)[1] if found else math.inf

    def proposition(self, K: float) -> float:
        """η of Proposition 4."""
        _, a = self.curvature(self.problem.sample(), smooth=True)
        if math.isinf(a):
            raise InputError(
                Argument("eta", "proposition"),
                f" needs a loss with a finite smoothness(), and {type(self.problem.loss).__name__} has none: use ",
                Argument("eta", "theorem"),
                " or ",
                Argument("eta", "auto"),
                ".",
            )
        return K / (a * (1.0 + K)) if a > 0.0 else math.inf

    def curvature(self, sample: Chunk, smooth: bool) -> tuple[float, float]:
        """ρ and a = (p−1)ρR²/2 of (13), or of (14) for a smooth loss; infinite where the case does not hold."""
        loss = self.problem.loss
        rho = 2.0 * float(loss.smoothness()) if smooth and hasattr(loss, "smoothness") else math.inf
        rho = float(loss.lipschitz()) if not smooth and hasattr(loss, "lipschitz") else rho
        R = float(((np.sqrt(sample.s) if smooth else sample.s) * self.size(sample)).max())
        return rho, 0.5 * (self.p - 1.0) * rho * R * R if math.isfinite(rho) else math.inf

    def tried(self, w: np.ndarray, rng: np.random.Generator) -> float:
        """The η with the smallest objective after a short run on a sample of the rows, on a grid that follows the smallest.

        By the theorem the best η falls as 1/√T: the best of the trials is scaled to the steps of one pass.
        """
        trial = Trial(self, w, rng)
        centre = trial.guess()
        tried: dict[float, float] = {}

        def best(factors: list[float]) -> float:
            for factor in factors:
                if factor not in tried:
                    tried[factor] = trial.objective(centre * factor)
            return min(tried, key=lambda factor: (tried[factor], abs(math.log(factor))))

        at = best([COARSE**k for k in (-2, -1, 0, 1, 2)])
        for _ in range(MOST_EXPANSIONS):
            if min(tried) < at < max(tried):
                break
            at = best([at / COARSE, at * COARSE])
        at = best([at / FINE, at * FINE])
        self.accesses = trial.accesses
        steps = (self.problem.m if self.problem.in_memory else ROWS_BEFORE_START) / self.batch
        return centre * at * math.sqrt(min(1.0, len(trial.order) / self.batch / steps))


class Trial:
    """Short runs on a sample of the rows."""

    def __init__(self, method: StepSize, w: np.ndarray, rng: np.random.Generator) -> None:
        problem, sample = method.problem, method.problem.sample()
        m = len(sample.y)
        count = min(m, max(TRIAL_ROWS, m // LARGE_DATA_SHARE))
        which = np.arange(m) if count == m else np.sort(rng.choice(m, count, replace=False))
        storage = sample.design.storage if count == m else sample.design.storage[which]
        self.design = Design(storage, sample.design.intercept, sample.design.width)
        self.y, self.s = sample.y[which], sample.s[which]
        passes = min(MOST_TRIAL_PASSES, -(-TRIAL_ROWS * method.batch // count))
        self.order = np.concatenate([rng.permutation(count) for _ in range(passes)])
        self.method, self.problem, self.w, self.rng, self.accesses = method, problem, w, rng, 0

    def chunk(self) -> Chunk:
        """The sample, in the order of a trial."""
        return Chunk(self.design, self.y, self.s, self.order)

    def guess(self) -> float:
        """B/(G√((p−1)T)), with the mean norm G of the subgradients at w = 0 and the natural length B = mean φ(0)/G of w."""
        problem = self.problem
        zero = np.zeros((len(self.y), *problem.shape[1:]))
        derivatives = np.linalg.norm(problem.slopes(zero, self.y).reshape(len(self.y), -1), axis=1)
        G = float(np.mean(self.s * self.method.size(self.chunk()) * derivatives))
        loss = float(sum_losses(problem.loss, zero, self.y, self.s)) / len(self.y)
        found = loss / G / G / math.sqrt((self.method.p - 1.0) * len(self.order)) if G > 0.0 else 1.0
        return found if 0.0 < found < math.inf else 1.0

    def objective(self, eta: float) -> float:
        """On the sample, after a run with this η."""
        rule = self.method.first_rule(self.w, eta)
        loop = OnlineLoop(self.problem, batch=self.method.batch, sampling="sequential", rng=self.rng, start=None, certify=False)
        loop.evaluate, loop.gradients = False, np.zeros(0)
        loop.run(self.chunk(), rule, rule.weights, self.order)
        w = np.asarray(read_weights(rule.weights)).reshape(self.problem.shape)
        self.accesses += int(loop.counters.accesses) + self.design.nnz
        if not np.isfinite(w).all():
            return math.inf
        value = float(sum_losses(self.problem.loss, self.design.matvec(w), self.y, self.s)) / len(self.y) + self.problem.penalty(w)
        return value if math.isfinite(value) else math.inf


def objective_at_zero(problem: Any, sample: Chunk) -> float:
    """P(0), over the first chunk of a stream."""
    if problem.in_memory:
        return float(problem.objective_at_zero)
    zero = np.zeros((len(sample.y), *problem.shape[1:]))
    return float(sum_losses(problem.loss, zero, sample.y, sample.s)) / len(sample.y)


def default_steps(problem: Any, batch: int) -> int:
    """The steps of ten passes, or of one over a stream of 10,000 rows."""
    rows = DEFAULT_PASSES * problem.m if problem.in_memory else int(ROWS_BEFORE_START)
    return max(1, rows // batch)


def checked_eta(eta: Any) -> float | str:
    """A positive step size, or how to find one."""
    if isinstance(eta, str) and eta in RULES:
        return eta
    if isinstance(eta, bool) or not (is_number(eta) and 0.0 < eta < math.inf):
        raise InputError(Argument("eta", eta), ': give a positive number, or "auto", "theorem" or "proposition".')
    return float(eta)


def checked_rest(eta: float | str, norm: Any, steps: Any, K: Any) -> None:
    """What goes with a rule for η is a positive number, and given with that rule only."""
    for name, value, rule in (("norm", norm, "theorem"), ("steps", steps, "theorem"), ("K", K, "proposition")):
        if value is None:
            continue
        if isinstance(value, bool) or not (is_number(value) and 0.0 < value < math.inf):
            raise InputError(Argument(name, value), ": give a positive number, or leave it out.")
        if eta != rule:
            raise InputError(Argument(name, value), " belongs to ", Argument("eta", rule), ": leave it out, or choose that eta.")
