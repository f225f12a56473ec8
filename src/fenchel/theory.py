"""The numbers of iterations required by the theory of the Primal Gradient Solver

Theorems 1 and 2 of Zhu et al., *Inverse Time Dependency in Convex Regularized Learning*, ICDM 2009, with their constants
written out, for Ω = σ/(2(p−1))·‖w‖_p² and a loss with subgradients ‖∂ℓ‖_q ≤ L. These are worst-case
bounds: they hold for every problem with that L, and most problems need far fewer iterations.

Theorem 1. Lemma 1 bounds the regret by Σ_t L²/(2σt) ≤ L²(1 + log T)/(2σ). The expected suboptimality of a random one of w_1, …, w_T is
at most the regret divided by T, and by Markov's inequality, with probability 1 − δ,

    P(w) − min P ≤ L²(1 + log T)/(2σTδ)                                                                      (11)

Theorem 2. For any w_0, using half of δ for (11) and half for Theorem 1 of Sridharan, Shalev-Shwartz & Srebro,
*Fast rates for regularized objectives*, NIPS 2008 (with a = 1), which compares the objective on m rows with its expectation. (Its
order is certain; its constants, 8(1 + 1/a)(32 + log 1/δ), were not checked against the printed paper.)

    loss(w) − loss(w_0) ≤ 2·L²(1 + log T)/(σTδ) + 16·L²(32 + log(2/δ))/(σm) + σ/(2(p−1))·‖w_0‖_p²            (20)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from fenchel.core.errors import Argument, InputError, InputTypeError
from fenchel.core.validation import is_number
from fenchel.problems.problem import Problem

MOST_ITERATIONS = 1e300  # the search for T stops here, before floats overflow

__all__ = ["Plan", "balanced_strength", "generalization_bound", "optimization_bound", "plan", "plan_generalization", "plan_optimization"]


class Plan(NamedTuple):
    """The number of iterations and the strength that the theory suggests, with the bound behind them."""

    iterations: int  #: T, steps of pgs
    strength: float  #: σ
    bound: float  #: the bound on the error after T steps, with probability 1 − δ
    passes: float  #: T in passes over the data, if the number of rows is known


def plan_optimization(accuracy: float, strength: float, lipschitz: float, delta: float = 0.1, rows: int | None = None) -> Plan:
    """Iterations after which P(w) − min P ≤ ``accuracy`` with probability 1 − ``delta``, by Theorem 1.

    ``lipschitz`` bounds the subgradients of the loss in the norm ‖·‖_q: its Lipschitz constant times the largest ‖x_i‖_q.

    >>> plan_optimization(accuracy=0.01, strength=1e-2, lipschitz=1.0).iterations
    724674
    """
    _check(accuracy=accuracy, strength=strength, lipschitz=lipschitz, **({} if rows is None else {"rows": rows}))
    _check_delta(delta)
    T = _smallest(lambda T: optimization_bound(T, strength, lipschitz, delta), accuracy)
    return Plan(T, strength, optimization_bound(T, strength, lipschitz, delta), T / rows if rows else math.nan)


def plan_generalization(error: float, rows: int, norm: float, lipschitz: float, p: float = 2.0, delta: float = 0.1) -> Plan:
    """Iterations and strength for which the expected loss exceeds that of any w_0 with ‖w_0‖_p ≤ ``norm`` by at most ``error``.

    With probability 1 − ``delta``, by Theorem 2. The strength balances the bound: the error due to regularization equals the
    optimization error plus the estimation error. The more rows there are, the fewer iterations are needed.

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
            f" cannot be reached by the bound with {rows:,} rows, whatever the number of iterations: "
            f"allow an error above {floor:.3g}, or use more than {needed:,} rows.",
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
            f"{type(problem.loss).__name__} has no method lipschitz, and the theorem needs bounded subgradients: "
            "add that method if the loss is Lipschitz, or use another loss."
        )
    regularizer = problem.regularizer
    if not regularizer.strong_convexity() > 0.0:
        raise InputError(f"{type(regularizer).__name__} is not strongly convex, which the theorem requires: use another regularizer.")
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
    return _error_without_penalty(T, rows, lipschitz, delta) / strength + strength * norm**2 / (2.0 * (p - 1.0))


def balanced_strength(T: float, rows: float, norm: float, lipschitz: float, p: float, delta: float) -> float:
    """The σ that minimises (20), at which its two parts that depend on σ are equal."""
    return math.sqrt(_error_without_penalty(T, rows, lipschitz, delta) * 2.0 * (p - 1.0)) / norm


def _error_without_penalty(T: float, rows: float, lipschitz: float, delta: float) -> float:
    """σ times the first two terms of (20)."""
    optimization = 0.0 if math.isinf(T) else 2.0 * (1.0 + math.log(T)) / (T * delta)
    return lipschitz * lipschitz * (optimization + 16.0 * (32.0 + math.log(2.0 / delta)) / rows)


def _smallest(bound: Callable[[float], float], wanted: float) -> int:
    """The smallest integer T with bound(T) ≤ wanted, for a decreasing bound."""
    high = 1
    while bound(high) > wanted:
        high *= 2
        if high > MOST_ITERATIONS:
            raise InputError("The bound needs more than 1e300 iterations: ask for less accuracy, or a larger strength.")
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
