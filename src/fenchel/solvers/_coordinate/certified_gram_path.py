"""The results of a path of a quadratic loss, from the products of all columns alone"""

from __future__ import annotations

from fenchel.problems.problem import Problem
from fenchel.problems.result import Result, result_of_weights
from fenchel.regularizers.parameters import elastic_net_strengths
from fenchel.solvers._coordinate.gram_certificate import GramCertificate
from fenchel.solvers._coordinate.gram_path import GramPath

SHARE = 0.2  # of the gap aimed at that the estimated one may be
TIGHTER = 0.05  # the same share where the first point was not accurate enough
PASSES = 2.0  # over the data, for their products


class CertifiedGramPath:
    """Points and certificates in turn; the passes over the data count for the first."""

    def __init__(self, problem: Problem) -> None:
        self.path = GramPath(problem)
        self.certificate = GramCertificate(self.path.equations)
        self.passes = PASSES

    def result(self, problem: Problem, tol: float) -> Result:
        """The result for the strengths of a problem: "stalled" if its gap is above the tolerance."""
        l1, l2 = elastic_net_strengths(problem.penalised)
        target = tol * problem.objective_at_zero
        self.path.move_to(l1, l2, SHARE * target)
        found = self._result(problem, l1, l2, tol, target)
        if not found.converged:
            self.path.improve(l1, l2, TIGHTER * SHARE * target)
            found = self._result(problem, l1, l2, tol, target)
        self.passes = 0.0
        return found

    def _result(self, problem: Problem, l1: float, l2: float, tol: float, target: float) -> Result:
        path = self.path
        path.g[:] = self.certificate.gradient(path.w)
        objective, error, bound = self.certificate.bounds(path.w, path.g, l1, l2)
        is_reached = bool(objective + error - bound <= target)
        return result_of_weights(
            problem,
            path.equations.with_intercept(path.w.copy()),
            objective=objective,
            objective_error=error,
            dual_objective=bound,
            converged=is_reached,
            status="converged" if is_reached else "stalled",
            passes=self.passes,
            seconds=0.0,
            solver="working-set",
            tol=tol,
            target=target,
            regularizer=problem.regularizer,
        )
