"""How many iterations the theory of the Primal Gradient Solver asks for

Theorems 1 and 2 of Zhu et al., *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, with their constants
written out, for Ω = σ/(2(p−1))·‖w‖_p² and a loss with slopes ‖∂ℓ‖_q ≤ L. These are bounds, not promises of how long a run
will take: they hold for every problem with that L, and most need far less.

Theorem 1. Lemma 1 bounds the regret by Σ_t L²/(2σt) ≤ L²(1 + log T)/(2σ). A random one of w_1, …, w_T has the mean of the
regret in expectation, and by Markov's inequality, with probability 1 − δ,

    P(w) − min P ≤ L²(1 + log T)/(2σTδ)                                                                      (11)

Theorem 2. For any w_0, half of δ spent on the line above and half on Theorem 1 of Sridharan, Shalev-Shwartz & Srebro,
*Fast rates for regularized objectives*, NIPS 2008 (with a = 1), which compares the objective on m rows with the expected one. (Its
order is certain; its constants, 8(1 + 1/a)(32 + log 1/δ), were not checked against the print.)

    loss(w) − loss(w_0) ≤ 2·L²(1 + log T)/(σTδ) + 16·L²(32 + log(2/δ))/(σm) + σ/(2(p−1))·‖w_0‖_p²            (20)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fenchel.core.errors import Argument, InputError, InputTypeError
from fenchel.core.validation import is_number
from fenchel.problems.problem import Problem

MOST_ITERATIONS = 1e300  # iterations

__all__ = ["Plan", "balanced_strength", "generalization_bound", "optimization_bound", "plan", "plan_generalization", "plan_optimization"]


class Plan(NamedTuple):
    """What the theory suggests, and the bound it rests on."""

    iterations: int  #: T, steps of pgs
    strength: float  #: σ
    bound: float  #: the error that T steps are bounded by, with probability 1 − δ
    passes: float  #: T in passes over the data, if the number of rows is known


def plan_optimization(accuracy: float, strength: float, lipschitz: float, delta: float = 0.1, rows: int | None = None) -> Plan:
    """Iterations after which P(w) − min P ≤ ``accuracy`` with probability 1 − ``delta``, by Theorem 1.

    ``lipschitz`` bounds the slopes of the loss in the norm ‖·‖_q: its Lipschitz constant times the largest ‖x_i‖_q.

    >>> plan_optimization(accuracy=0.01, strength=1e-2, lipschitz=1.0).iterations
    724674
    """
    _check(accuracy=accuracy, strength=strength, lipschitz=lipschitz, **({} if rows is None else {"rows": rows}))
    _check_delta(delta)
    T = _smallest(lambda T: optimization_bound(T, strength, lipschitz, delta), accuracy)
    return Plan(T, strength, optimization_bound(T, strength, lipschitz, delta), T / rows if rows else math.nan)


def plan_generalization(error: float, rows: int, norm: float, lipschitz: float, p: float = 2.0, delta: float = 0.1) -> Plan:
    """Iterations and strength for which the expected loss exceeds that of any w_0 with ‖w_0‖_p ≤ ``norm`` by at most ``error``.

    With probability 1 − ``delta``, by Theorem 2. The strength balances the bound: what is lost by regularizing equals what
    is lost by not having solved and not having seen everything. The more rows there are, the fewer iterations it takes.

    >>> few, many = (plan_generalization(0.5, rows, norm=1.0, lipschitz=1.0) for rows in (10**5, 10**6))
    >>> few.iterations > many.iterations
    True
    """
    _check(error=error, rows=rows, norm=norm, lipschitz=lipschitz)
    _check_delta(delta)
    if not (is_number(p) and 1.0 < p <= 2.0):
        raise InputError(Argument("p", p), ": p must lie in (1, 2].")
    floor = generalization_bound(math.inf, balanced_strength(math.inf, rows, norm, lipschitz, p, delta), rows, norm, lipschitz, p, delta)
    if floor >= error:
        needed = math.ceil(rows * (floor / error) ** 2)
        raise InputError(
            Argument("error", error),
            f" is out of reach of the bound with {rows:,} rows, whatever the number of iterations: "
            f"ask for more than {floor:.3g}, or have more than {needed:,} rows.",
        )

    def bound(T: float) -> float:
        return generalization_bound(T, balanced_strength(T, rows, norm, lipschitz, p, delta), rows, norm, lipschitz, p, delta)

    T = _smallest(bound, error)
    return Plan(T, balanced_strength(T, rows, norm, lipschitz, p, delta), bound(T), T / rows)


def plan(problem: Problem, accuracy: float, delta: float = 0.1) -> Plan:
    """Theorem 1 for a problem: iterations of ``pgs`` after which P(w) − min P ≤ ``accuracy``·P(0) with probability 1 − ``delta``.

    >>> import numpy as np, fenchel as fl
    >>> X, y = fl.datasets.make_text(1000)
    >>> fl.plan(fl.Problem(X, y, fl.Hinge(), fl.L2(1e-3)), accuracy=0.1).passes > 1
    True
    """
    if not isinstance(problem, Problem):
        raise InputTypeError("plan takes a fenchel.Problem: for anything else give the constants to fenchel.theory.plan_optimization.")
    if not hasattr(problem.loss, "lipschitz"):
        raise InputError(
            f"{type(problem.loss).__name__} has no bound on its slopes, and the theorem rests on one: "
            "give it a method lipschitz, or use another loss."
        )
    regularizer = problem.regularizer
    if not regularizer.strong_convexity() > 0.0:
        raise InputError(f"{type(regularizer).__name__} is not strongly convex, and the theorem rests on that: use another regularizer.")
    _check(accuracy=accuracy)
    if problem.objective_at_zero == 0.0:
        raise InputError("The objective at w = 0 is 0 already: there is nothing to plan.")
    order = 2.0 if regularizer.separable else regularizer.dual_order()
    L = problem.loss.lipschitz() * float((problem.m * problem.row_weights * problem.design.row_norms(order)).max())
    return plan_optimization(accuracy * problem.objective_at_zero, regularizer.strong_convexity(), max(L, 1e-300), delta, problem.m)


def optimization_bound(T: float, strength: float, lipschitz: float, delta: float) -> float:
    """The right-hand side of (11)."""
    return lipschitz * lipschitz * (1.0 + math.log(T)) / (2.0 * strength * T * delta)


def generalization_bound(T: float, strength: float, rows: float, norm: float, lipschitz: float, p: float, delta: float) -> float:
    """The right-hand side of (20)."""
    return _unlearnt(T, rows, lipschitz, delta) / strength + strength * norm**2 / (2.0 * (p - 1.0))


def balanced_strength(T: float, rows: float, norm: float, lipschitz: float, p: float, delta: float) -> float:
    """The σ that makes (20) smallest: the two parts that depend on it are then equal."""
    return math.sqrt(_unlearnt(T, rows, lipschitz, delta) * 2.0 * (p - 1.0)) / norm


def _unlearnt(T: float, rows: float, lipschitz: float, delta: float) -> float:
    optimization = 0.0 if math.isinf(T) else 2.0 * (1.0 + math.log(T)) / (T * delta)
    return lipschitz * lipschitz * (optimization + 16.0 * (32.0 + math.log(2.0 / delta)) / rows)


def _smallest(bound: Any, wanted: float) -> int:
    """The smallest whole T with bound(T) ≤ wanted, for a bound that falls."""
    high = 1
    while bound(high) > wanted:
        high *= 2
        if high > MOST_ITERATIONS:
            raise InputError("The bound asks for more than 1e300 iterations: ask for less accuracy, or a larger strength.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= wanted else (middle, high)
    return high


def _check(**values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and value > 0 and math.isfinite(value)):
            raise InputError(Argument(name, value), ": give a positive number.")


def _check_delta(delta: float) -> None:
    if not (is_number(delta) and 0.0 < delta < 1.0):
        raise InputError(Argument("delta", delta), ": the probability of failure must lie between 0 and 1.")


def __dir__() -> list[str]:
    return sorted(__all__)
