"""What every solver declares: its name, its options, and the properties that it requires of a problem"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers.names import SolverName

Need = Callable[[Problem], str | None]  # None if the problem has the property, else what is missing, as the end of a sentence


@dataclass(frozen=True)
class Solver:
    """A generator of iterates, and the properties that it requires."""

    name: SolverName
    run: Callable[..., Iterator[Iterate]]
    needs: tuple[Need, ...]
    online: bool = False  #: whether it can work on rows that are read once
    evaluates_start: bool = False  #: whether its first iterate is the start itself, with its dual point
    aims: bool = False  #: whether its private state depends on the accuracy wanted
    limited: bool = False  #: whether it is given the limit ``most_passes``, because it may make many passes before its first iterate
    by_rows: bool = False  #: whether its way to the weights depends on the order of rows, or on equal rows being one of more weight
    by_columns: bool = False  #: whether it reads X by columns, which a matrix stored by rows is copied for
    structured: bool = False  #: whether values and subgradients of the mean loss, or of one example's loss, are enough for it

    def refusal(self, problem: Problem) -> str | None:
        """Why the solver cannot be used for this problem, or None if it can."""
        if not (problem.in_memory or self.online):
            return "rows that can be read again, and a Stream is read once"
        if problem.structured and not self.structured:
            return "a problem with rows, and this one is structured"
        if self.by_columns and problem.in_memory and problem.design.on_disk is not None:
            return "X by columns, and rows on disk that are larger than the memory are read by rows"
        for need in self.needs:
            reason = need(problem)
            if reason is not None:
                return reason
        return None

    @cached_property
    def options(self) -> dict[str, Any]:
        """The solver's own options with their defaults."""
        parameters = inspect.signature(self.run).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def solver(
    name: SolverName,
    needs: tuple[Need, ...],
    online: bool = False,
    evaluates_start: bool = False,
    aims: bool = False,
    limited: bool = False,
    by_rows: bool = False,
    by_columns: bool = False,
    structured: bool = False,
) -> Callable[[Callable[..., Iterator[Iterate]]], Solver]:
    """Make a generator function a solver that ``minimize`` finds by name; the other arguments are the fields of :class:`Solver`."""
    return lambda run: Solver(name, run, needs, online, evaluates_start, aims, limited, by_rows or online, by_columns, structured)


# ---- properties that a solver may require ----


def smooth_loss(problem: Problem) -> str | None:
    """A differentiable loss, or one that does not state its smoothness."""
    smoothness = getattr(problem.loss, "smoothness", None)
    return f"a smooth loss, and {_name(problem.loss)} is not differentiable" if smoothness and math.isinf(smoothness()) else None


def known_smoothness(problem: Problem) -> str | None:
    """A differentiable loss that states its smoothness."""
    if not hasattr(problem.loss, "smoothness"):
        return f"a loss that states its smoothness, and {_name(problem.loss)} does not"
    return smooth_loss(problem)


def second_derivatives(problem: Problem) -> str | None:
    """A loss with a second derivative: ``curvature``, or ``curvature_times`` for several outputs."""
    name = "curvature_times" if problem.vector_valued else "curvature"
    return None if hasattr(problem.loss, name) else f"a loss with a {name}, and {_name(problem.loss)} has none"


def dual_steps(problem: Problem) -> str | None:
    """A conjugate, and a dual step or, in its place, a known smoothness."""
    loss = problem.loss
    if not hasattr(loss, "conjugate"):
        return f"a loss with a conjugate, and {_name(loss)} has none"
    if hasattr(loss, "dual_step"):
        return None
    smooth = hasattr(loss, "smoothness") and math.isfinite(loss.smoothness())
    return None if smooth else f"a loss with a dual_step or a finite smoothness, and {_name(loss)} has neither"


def smooth_or_smoothable(problem: Problem) -> str | None:
    """A loss of known smoothness, or a non-smooth one with a Lipschitz constant and a dual step, which can be smoothed."""
    loss = problem.loss
    if not hasattr(loss, "smoothness"):
        return f"a loss that states its smoothness, and {_name(loss)} does not"
    if math.isfinite(loss.smoothness()) or (hasattr(loss, "lipschitz") and hasattr(loss, "dual_step")):
        return None
    return f"a smooth loss, or one with a dual_step and a Lipschitz constant, and {_name(loss)} is neither"


def strongly_convex_regularizer(problem: Problem) -> str | None:
    """A strongly convex regularizer, and no unpenalised intercept."""
    if problem.free:
        return penalised_throughout(problem)
    regularizer = problem.regularizer
    return None if regularizer.strong_convexity() > 0.0 else f"a strongly convex regularizer, and {_name(regularizer)} is not"


def strongly_convex_penalty(problem: Problem) -> str | None:
    """A regularizer that is strongly convex in the penalised weights."""
    penalty = problem.penalised
    return None if penalty.strong_convexity() > 0.0 else f"a strongly convex regularizer, and {_name(penalty)} is not"


def known_link(problem: Problem) -> str | None:
    """A regularizer that gives w = ∇Ω*(v)."""
    penalty = problem.penalised
    known = hasattr(penalty, "link") or not problem.regularizer.separable
    return None if known else f"a regularizer with a method link, and {_name(penalty)} has none"


def bounded_below(problem: Problem) -> str | None:
    """A penalty that is bounded below."""
    return None if getattr(getattr(problem.penalised, "penalty", None), "nonnegative", True) else "a penalty other than Linear"


def penalised_throughout(problem: Problem) -> str | None:
    """No unpenalised intercept, and a penalty that is bounded below."""
    if (reason := bounded_below(problem)) is not None:
        return reason
    return "an intercept that is penalised, such as intercept=10.0, and this one is free" if problem.free else None


def bounded_derivatives(problem: Problem) -> str | None:
    """A Lipschitz loss, or a bounded domain: that of Ω, or the ball in which the minimiser lies because P(w) ≤ P(0)."""
    loss, regularizer = problem.loss, problem.regularizer
    if has_bounded_derivatives(problem) or hasattr(regularizer, "radius_of_minimiser"):
        return None
    return (
        f"a loss with bounded derivatives (a method lipschitz) or a bounded domain, and {_name(loss)} with {_name(regularizer)} has neither"
    )


def has_bounded_derivatives(problem: Problem) -> bool:
    """Whether the loss is Lipschitz where Ω is finite."""
    bounded = getattr(problem.regularizer, "bounded", None)
    return hasattr(problem.loss, "lipschitz") or (bounded is not None and bool(bounded()))


def ridge(problem: Problem) -> str | None:
    """Ω(w) = λ/2·‖w‖²."""
    if problem.free:
        return penalised_throughout(problem)
    return None if is_ridge(problem.regularizer) else f"the ridge penalty L2, and {_name(problem.regularizer)} is not it"


def ridge_throughout(problem: Problem) -> str | None:
    """Ω(w) = λ/2·‖w‖², with or without an unpenalised intercept."""
    return None if is_ridge(problem.penalised) else f"the ridge penalty L2, and {_name(problem.penalised)} is not it"


def sparse_penalty(problem: Problem) -> str | None:
    """Ω(w) = l1·‖w‖₁, alone or with l2/2·‖w‖²."""
    found = elastic_net_strengths(problem.penalised)[0] > 0.0
    return None if found else f"L1 or L1L2, and {_name(problem.penalised)} is neither"


def lasso(problem: Problem) -> str | None:
    """Ω(w) = σ‖w‖₁."""
    if problem.free:
        return penalised_throughout(problem)
    return None if is_lasso(problem.regularizer) else f"the lasso penalty L1, and {_name(problem.regularizer)} is not it"


def separable(problem: Problem) -> str | None:
    """A regularizer that is a sum over weights."""
    return None if problem.regularizer.separable else f"a regularizer that is a sum over weights, and {_name(problem.regularizer)} is not"


def is_ridge(regularizer: Any) -> bool:
    """Whether Ω(w) = l2/2·‖w‖²."""
    l1, l2 = elastic_net_strengths(regularizer)
    return l1 == 0.0 < l2


def is_lasso(regularizer: Any) -> bool:
    """Whether Ω(w) = l1·‖w‖₁."""
    l1, l2 = elastic_net_strengths(regularizer)
    return l2 == 0.0 < l1


def is_quadratic(problem: Problem) -> bool:
    """Whether the loss is a quadratic function of z whose second derivative is known: then its second-order model is exact."""
    return bool(getattr(problem.loss, "is_quadratic", False)) and second_derivatives(problem) is None


def _name(part: Any) -> str:
    return type(part).__name__
