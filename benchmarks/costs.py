"""The constants of the cost model by which ``auto`` compares solvers (fenchel.driver.costs), measured here beside those in the code

Nanoseconds of one thread. A measured constant that is half or double the one in the code changes choices only where two solvers take about
the same time.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from common import best, show
from sklearn.exceptions import ConvergenceWarning

import fenchel as fl
from fenchel.core.threads import one_thread
from fenchel.driver import costs
from fenchel.linalg.gram import gram
from fenchel.linalg.weights import weights_of
from fenchel.losses.outputs import outputs_of
from fenchel.solvers._second_order import small_problems, weighted_gram
from fenchel.solvers.sdca import dual_curvatures, sdca_pass


def dense(m: int, n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((m, n))


def sparse(m: int, n: int, entries: int) -> sp.csr_array:
    """Random rows with so many entries each."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(n, size=(m, entries)), axis=1).astype(np.int32)
    X = sp.csr_array((rng.standard_normal(m * entries), columns.ravel(), np.arange(0, m * entries + 1, entries, np.int32)), shape=(m, n))
    X.sum_duplicates()
    return X


def problem_of(X: object, loss: object = fl.Logistic(), strength: float = 1e-3) -> fl.Problem:
    """Labels by a noisy linear function of the rows."""
    rng = np.random.default_rng(1)
    z = X @ rng.standard_normal(X.shape[1])
    problem = fl.Problem(X, np.where(z + z.std() * rng.standard_normal(len(z)) > 0.0, 1.0, -1.0), loss, fl.L2(strength))
    problem.design.threads = 1
    return problem


def nanoseconds(action: object) -> float:
    action()
    return 1e9 * best(action, 7)


def product(X: object) -> float:
    """For each entry, the mean of X·w and Xᵀ·a."""
    problem = problem_of(X)
    w, a = np.ones(problem.n), np.ones(problem.m)
    return nanoseconds(lambda: (problem.design.matvec(w), problem.design.rmatvec(a))) / (2.0 * problem.design.nnz)


def dual_pass(X: object, loss: object) -> float:
    """A pass of dual ascent over rows that all move."""
    problem = problem_of(X, loss, 1e-4)
    alpha, v, q, order = np.zeros(problem.m), np.zeros(problem.n), dual_curvatures(problem), np.random.default_rng(0).permutation(problem.m)
    w, outputs = weights_of(problem.regularizer, v), outputs_of(problem)
    arguments = (problem.design.rows, problem.y, problem.row_weights, problem.loss, outputs, w, alpha, q, order, False, 0)
    return nanoseconds(lambda: sdca_pass(*arguments))


def evaluation(problem: fl.Problem) -> float:
    """Objective and proven bound at a point, without the products."""
    w = 0.1 * np.ones(problem.n)
    z, alpha = problem.predict(w), problem.dual_point(w)
    v = problem.adjoint(alpha)

    def run() -> None:
        objective = problem.objective(w, z)
        problem.objective_error(w, z, objective)
        problem.estimated_bound(alpha, v, objective, objective)
        problem.lower_bound(alpha, v, objective)

    return nanoseconds(run)


def multiplication() -> tuple[float, float]:
    """One of BLAS, and one that is scattered over memory."""
    X = dense(20_000, 200)
    h = np.linspace(0.5, 1.0, len(X))
    of_blas = nanoseconds(lambda: gram(X.T, None, None, h, 1)) / (X.shape[0] * X.shape[1] ** 2)
    rows = problem_of(sparse(20_000, 300, 12)).design
    scattered = weighted_gram.WeightedGram(rows)
    return of_blas, nanoseconds(lambda: scattered(h)) / weighted_gram.scattered_cost(rows)


def steps(solver: str, loss: object, passes: float) -> float:
    """Steps from the origin to a gap of 1e-4, of so many passes each."""
    X = dense(5000, 250)
    result = fl.minimize(problem_of(X, loss, strength=1.0 / X.shape[0]), solver, tol=1e-4, threads=1)
    return result.passes / passes


def compiled_steps() -> list[str]:
    """The time of compiled Newton steps relative to steps from Python, at and beyond the largest size for which they are chosen."""
    most, found = small_problems.MOST_PRODUCTS, []
    for n in (10, 30, 80):
        for times in (0.5, 1.0, 2.0):
            problem = problem_of(dense(int(times * most / n**2), n))
            seconds = []
            for limit in (np.inf, 0):
                small_problems.MOST_PRODUCTS = limit
                seconds.append(nanoseconds(lambda problem=problem: fl.minimize(problem, "newton", tol=1e-4, threads=1)))
            small_problems.MOST_PRODUCTS = most
            found.append(f"{problem.m:,} x {n}: {seconds[0] / seconds[1]:.2f}")
    return found


@one_thread
def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    narrow, wide, text = dense(20_000, 8), dense(20_000, 200), sparse(20_000, 20_000, 60)
    rows = {type(loss).__name__: dual_pass(narrow, loss) / len(narrow) for loss in (fl.Hinge(), fl.SquaredHinge(), fl.Logistic())}
    row = min(rows.values())
    blas, scattered = multiplication()
    per_row = (evaluation(problem_of(wide)) - evaluation(problem_of(wide[:200]))) / (len(wide) - 200)
    measured = {
        "PRODUCT_DENSE": product(wide),
        "PRODUCT_SPARSE": product(text),
        "STEP_DENSE": (dual_pass(wide, fl.Hinge()) - row * len(wide)) / wide.size,
        "STEP_SPARSE": (dual_pass(text, fl.Hinge()) - row * text.shape[0]) / text.nnz,
        "STEP_ROW": ", ".join(f"{value:.0f} ({name})" for name, value in rows.items()),
        "EVALUATION": evaluation(problem_of(wide[:200])),
        "EVALUATION_ROW": per_row,
        "MULTIPLICATION": blas,
        "SCATTERED": scattered,
        "NEWTON_STEPS": steps("newton", fl.Logistic(), 2.0),
        "INTERIOR_STEPS": steps("interior-point", fl.Hinge(), 3.0),
    }
    table = [[name, f"{getattr(costs, name):g}", f"{value:.3g}" if isinstance(value, float) else value] for name, value in measured.items()]
    table.append(["BLAS_SPEED", f"{weighted_gram.BLAS_SPEED:g}", f"{scattered / blas:.3g}"])
    show("Cost model of auto", ["constant", "in the code", "measured"], table)
    show("Compiled Newton steps relative to steps from Python", ["rows x columns: ratio"], [[line] for line in compiled_steps()])


if __name__ == "__main__":
    main()
