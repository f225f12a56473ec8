"""The constants of the cost model by which ``auto`` chooses solvers, measured here beside those in the code

``auto`` compares second derivatives, which cost multiplications of BLAS or some scattered over memory, with passes of dual ascent.
One thread. A measured constant that is half or double the one in the code changes choices only where two solvers take about the same time.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from common import best, show
from sklearn.exceptions import ConvergenceWarning

import fenchel as fl
from fenchel.core.threads import one_thread
from fenchel.driver import choice
from fenchel.solvers._coordinate.gram_matrix import gram
from fenchel.solvers._second_order import newton_equations, small_problems, weighted_gram


def sparse(m: int, n: int, entries: int) -> sp.csr_array:
    """Random rows with so many entries each."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.random((m, n)).argpartition(entries, axis=1)[:, :entries], axis=1)
    return sp.csr_array((rng.standard_normal(m * entries), columns.ravel(), np.arange(0, m * entries + 1, entries)), shape=(m, n))


def problem_of(X: object, loss: object = fl.Logistic(), strength: float = 1e-3) -> fl.Problem:
    """Labels by a noisy linear function of the rows."""
    rng = np.random.default_rng(1)
    z = X @ rng.standard_normal(X.shape[1])
    return fl.Problem(X, np.where(z + z.std() * rng.standard_normal(len(z)) > 0.0, 1.0, -1.0), loss, fl.L2(strength))


def blas_speed() -> float:
    """Multiplications of BLAS in the time of one that is scattered over memory."""
    X = np.random.default_rng(0).standard_normal((20_000, 200))
    h = np.linspace(0.5, 1.0, len(X))
    of_blas = best(lambda: gram(X.T, None, None, h, 1)) / (X.shape[0] * X.shape[1] ** 2)
    rows = problem_of(sparse(20_000, 300, 12)).design
    scattered = weighted_gram.weighted_gram(rows)
    scattered(h)
    return best(lambda: scattered(h)) / weighted_gram.scattered_cost(rows) / of_blas


def pass_of_dual_ascent(X: object, loss: object) -> float:
    """Seconds of a pass of ``accelerated-sdca``, evaluations included."""
    problem = problem_of(X, loss, 1e-6)

    def run() -> None:
        fl.minimize(problem, "accelerated-sdca", variant="practical", tol=1e-12, max_passes=20, threads=1)

    run()
    return best(run, 3) / 20


def newton_steps(X: object) -> float:
    """Steps of Newton's method from the origin to a gap of 1e-4."""
    result = fl.minimize(problem_of(X, strength=1.0 / X.shape[0]), "newton", tol=1e-4, threads=1)
    return len(result.history) - 1


def rows_whose_products_cost_ten_passes() -> float:
    """m at which XXᵀ takes the time of ten passes of dual ascent over dense rows."""
    X = np.random.default_rng(0).standard_normal((500, 2000))
    design = problem_of(X).design
    products = best(lambda: newton_equations.products_of_rows(design))
    return 500 * 10 * pass_of_dual_ascent(X, fl.SquaredHinge()) / products


def compiled_steps() -> list[str]:
    """The time of compiled Newton steps relative to steps from Python, at and beyond the largest size for which they are chosen."""
    most, found = small_problems.MOST_PRODUCTS, []
    for n in (10, 30, 80):
        for times in (0.5, 1.0, 2.0):
            problem = problem_of(np.random.default_rng(0).standard_normal((int(times * most / n**2), n)))
            seconds = []
            for limit in (np.inf, 0):
                small_problems.MOST_PRODUCTS = limit
                fl.minimize(problem, "newton", tol=1e-4, threads=1)
                seconds.append(best(lambda problem=problem: fl.minimize(problem, "newton", tol=1e-4, threads=1)))
            small_problems.MOST_PRODUCTS = most
            found.append(f"{problem.m:,} x {n}: {seconds[0] / seconds[1]:.2f}")
    return found


@one_thread
def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # runs of twenty passes are not meant to converge
    X = np.random.default_rng(0).standard_normal((5000, 250))
    hessian = best(lambda: gram(X.T, None, None, np.linspace(0.5, 1.0, len(X)), 1))
    rows = [
        ["BLAS_SPEED", f"{weighted_gram.BLAS_SPEED:.0f}", f"{blas_speed():.0f}"],
        ["NEWTON_STEPS", f"{choice.NEWTON_STEPS:.0f}", f"{newton_steps(X):.0f}"],
        ["MANY_ROWS", f"{choice.MANY_ROWS}", f"{rows_whose_products_cost_ten_passes():.0f}"],
    ]
    for loss in (fl.Logistic(), fl.SquaredHinge()):
        passes = hessian / pass_of_dual_ascent(X, loss)
        assumed = weighted_gram.gram_cost(problem_of(X).design) / X.size
        rows.append([f"passes for second derivatives, 5,000 x 250, {type(loss).__name__}", f"{assumed:.1f}", f"{passes:.1f}"])
    show("Cost model of auto", ["constant", "in the code", "measured"], rows)
    show("Compiled Newton steps relative to steps from Python", ["rows x columns: ratio"], [[text] for text in compiled_steps()])


if __name__ == "__main__":
    main()
