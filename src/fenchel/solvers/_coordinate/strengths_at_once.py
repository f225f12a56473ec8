"""Points for many l1 strengths in turn, of a quadratic loss, whose certificates cost a pass over the data for several strengths

    P(w) = P(0) + <g, w> + ½<w, G·w> + l1·‖w‖₁ + l2/2·‖w‖²,     G = Xᵀ·diag(h)·X,  h_i = s_i φ''/m

Beside an unpenalised intercept the columns are taken less their means. Few columns are in use at the large strengths, and few are added
from one strength to the next. So the products in G are computed when a column is first used, the weights of some strengths are found
from these alone, each from those before (:mod:`fenchel.solvers._coordinate.dense_model`), and then X·w and v = Xᵀ(sα)/m of all of them
with two products of matrices. Columns come into use if |v_j| nearly reaches the last of these strengths at the last point proven (the
strong rule of R. Tibshirani, J. Bien, J. Friedman, T. Hastie, N. Simon, J. Taylor and R. J. Tibshirani, *Strong rules for discarding
predictors in lasso-type problems*, J. Royal Statistical Society B 2012, assumes twice as fast a change of v_j). Where that misses one, the
certificate tells: the point is rejected, and the columns with |v_j| ≥ l1 there are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.threads import one_thread
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers._coordinate.dense_model import minimise_by_gram
from fenchel.solvers._second_order.curvatures import row_curvatures
from fenchel.solvers.declaration import is_quadratic

RATIO, MOST_AT_ONCE = 0.8, 16  # the smallest strength found at once, relative to the last one proven, and most of them
SLACK = 0.1  # share of the decrease of the strength by which |v_j| may grow without being noticed
NEAR = 0.98  # of l1: at a point rejected, columns with a |v_j| this large are added
ACCURACY = 0.1  # share of the gap aimed at that may be left on the columns in use
FEW = 4  # columns of a dense X for each one used by a point, from which copying these takes less time than a product with all
MOST_STEPS = 200  # Newton steps for one strength


def are_found_at_once(problem: Problem) -> bool:
    """Whether the loss is quadratic, with one output, and every weight but an unpenalised intercept penalised alike."""
    return is_quadratic(problem) and not problem.vector_valued and (problem.free or not problem.intercept)


class GrowingModel:
    """g and G of the columns in use, and what an unpenalised intercept takes up of each of them."""

    def __init__(self, problem: Problem) -> None:
        self.problem, X = problem, problem.design.storage
        self.X: Any = X.tocsc() if sp.issparse(X) else X
        self.h = np.empty(problem.m)
        row_curvatures(problem.loss, problem.origin_predictions, problem.y, problem.row_weights, self.h)
        self.total = float(self.h.sum())
        self.alpha, v = problem.loss_gradient(problem.origin_predictions)
        self.v = v[: X.shape[1]]  #: at the origin
        self.which, self.is_used = np.empty(0, dtype=np.int64), np.zeros(X.shape[1], dtype=bool)
        self.columns: Any = sp.csr_array((0, problem.m)) if sp.issparse(X) else np.empty((0, problem.m))
        self.means, self.G = np.empty(0), np.empty((0, 0))

    @property
    def g(self) -> np.ndarray:
        """The gradient at the origin."""
        return -self.v[self.which]

    def add(self, wanted: np.ndarray) -> int:
        """Use the columns for which ``wanted`` is true as well; how many are new."""
        new = np.flatnonzero(wanted & ~self.is_used)
        if not new.size:
            return 0
        old = len(self.which)
        self.is_used[new] = True
        self.which = np.concatenate([self.which, new])
        G = np.empty((len(self.which), len(self.which)))
        G[:old, :old] = self.G
        G[old:] = self._products(new)
        G[:old, old:] = G[old:, :old].T
        self.G = G
        return len(new)

    def _products(self, new: np.ndarray) -> np.ndarray:
        """Those of new columns with all that are in use."""
        if sp.issparse(self.X):
            columns = self.X[:, new].T.tocsr().astype(np.float64)
            means = columns @ self.h / self.total if self.problem.free else np.zeros(len(new))
            self.columns = sp.vstack([self.columns, columns], format="csr")
            self.means = np.concatenate([self.means, means])
            products = (columns.multiply(self.h) @ self.columns.T).toarray()
            return np.asarray(products - self.total * np.outer(means, self.means))
        columns = np.array(self.X[:, new].T, dtype=np.float64, order="C")
        means = columns @ self.h / self.total if self.problem.free else np.zeros(len(new))
        columns -= means[:, None]  # before they are multiplied, so that no digits cancel
        self.columns, self.means = np.concatenate([self.columns, columns]), np.concatenate([self.means, means])
        with one_thread:
            return (columns * self.h) @ self.columns.T


class StrengthsAtOnce:
    """The columns in use, the weights of the last strength, and v at the last point that was proven."""

    def __init__(self, problem: Problem, strengths: list[tuple[float, float]]) -> None:
        self.problem, self.strengths = problem, strengths
        self.model = GrowingModel(problem)
        self.w = np.empty(0)
        self.v, self.l1 = self.model.v, max(strengths[0][0], float(np.abs(self.model.v).max()))
        self.most, self.passes = MOST_AT_ONCE, 1.0

    def points(self, k: int, target: float) -> list[Iterate]:
        """Points for the strengths number k and following, with a gap of about the target, unless columns are missing."""
        last = k
        while last + 1 < min(k + self.most, len(self.strengths)) and self.strengths[last + 1][0] >= RATIO * self.l1:
            last += 1
        l1 = self.strengths[last][0]
        self._add(np.abs(self.v) >= l1 - SLACK * (self.l1 - l1))
        found, model = np.zeros((self.problem.n, last + 1 - k)), self.model
        if len(self.w):
            g = model.g + model.G @ self.w
            for column, (l1, l2) in enumerate(self.strengths[k : last + 1]):
                minimise_by_gram(model.G, l1, l2, self.w, g, ACCURACY * target, MOST_STEPS)
                found[model.which, column] = self.w
        if self.problem.free:
            found[-1] = self.problem.origin[-1] - model.means @ found[model.which]
        return self._evaluated(found)

    def _evaluated(self, found: np.ndarray) -> list[Iterate]:
        """The points with predictions, dual points and v; an unpenalised intercept becomes the best one, so that the dual points are
        feasible."""
        problem, design = self.problem, self.problem.design
        Z = np.asfortranarray(self._predictions(found))
        alphas = np.empty_like(Z)
        for k in range(Z.shape[1]):
            if problem.free:
                shift = problem.best_intercept(Z[:, k])
                found[-1, k] += shift
                Z[:, k] += shift
            alphas[:, k] = problem.negative_derivatives(Z[:, k], problem.y)
        V = np.asfortranarray(design.rmatvec(alphas * problem.row_weights[:, None]))
        found = np.asfortranarray(found)
        each = 2.0 / Z.shape[1]  # passes over the data for a strength
        points = []
        for k in range(Z.shape[1]):
            self.passes += each
            points.append(Iterate(found[:, k], each, int(each * design.nnz), alphas[:, k], V[:, k], Z[:, k], done=True, exact=True))
        return points

    def _predictions(self, found: np.ndarray) -> np.ndarray:
        """X·w of several points, from the columns that they use where these are few."""
        design = self.problem.design
        S = np.flatnonzero(found[: design.width].any(axis=1))
        if sp.issparse(design.storage) or FEW * len(S) > design.width:
            return design.matvec(found)
        with one_thread:
            Z = design.storage[:, S].astype(np.float64, copy=False) @ found[S]
        return Z + found[-1] if self.problem.free else Z

    def accept(self, k: int, point: Iterate) -> None:
        """The point of strength number k was proven."""
        self._take(k, point)
        self.most = min(self.most + 1, MOST_AT_ONCE)

    def reject(self, k: int, point: Iterate) -> bool:
        """Add the columns that the point of strength number k lacks; whether there are any."""
        self._take(k, point)
        self.most = max(1, self.most // 2)
        return self._add(np.abs(self.v) >= NEAR * self.l1) > 0

    def _take(self, k: int, point: Iterate) -> None:
        assert point.v is not None
        self.v, self.l1 = point.v[: len(self.model.is_used)], self.strengths[k][0]
        self.w = point.w[self.model.which]

    def _add(self, wanted: np.ndarray) -> int:
        count = self.model.add(wanted)
        self.w = np.append(self.w, np.zeros(count))
        return count
