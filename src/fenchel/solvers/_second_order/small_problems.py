"""Newton's method on small dense problems, all steps in one compiled call

The steps are those of :mod:`fenchel.solvers.newton`. Between two of them Python would take about a hundred microseconds, which is more than
the arithmetic of a step on a few hundred rows. With the ridge penalty the gap of w and α = −φ'(z) is ‖∇P(w)‖²/(2λ), up to what
balancing α for an unpenalised intercept costs: the steps end where it is small enough, and the driver certifies the last point. For a
quadratic loss the only step is the solution of the normal equations, by BLAS and LAPACK.
"""

from __future__ import annotations

import math

import numpy as np

from fenchel.core.compiled import compiled, inside, kernel, reassociated
from fenchel.losses.outputs import outputs_of
from fenchel.problems.problem import Problem
from fenchel.solvers._second_order.continuation import SHORT as STEP_IS_SHORT, stronger, weakened
from fenchel.solvers._second_order.normal_equations import NormalEquations, has_normal_equations
from fenchel.solvers._second_order.step_length import length_along

# Most multiplications m·n² of a step, because BLAS makes up for the time of Python on larger problems. Time relative to steps from Python,
# logistic loss: 0.96 on 80,000 × 10, 1.07 on 8,888 × 30, 1.22 on 1,250 × 80 (benchmarks/costs.py); squared hinge, which leaves out rows
# without curvature: 0.5 on 1,797 × 65.
MOST_PRODUCTS = 8_000_000
MOST_STEPS = 50
FEW = 0.5  # share of rows with a curvature below which they are copied before their products are computed
BLOCK = 512  # rows whose products are added at a time
SUFFICIENT = 1e-4  # share of t·<∇P, d> by which P must fall
SHORT = 1e-3  # a shorter step means that φ'' at z is a poor model, and the solver goes on from Python

length_of_step = inside(length_along)


def steps_are_compiled(problem: Problem, weights: int | None = None) -> bool:
    """Whether one compiled call takes less time than steps from Python; for so many weights in place of those of the problem."""
    return not problem.vector_valued and problem.m * (weights or problem.n) ** 2 <= MOST_PRODUCTS


def dense_columns(problem: Problem) -> np.ndarray:
    """The columns of X as rows of an array, the constant feature included."""
    X = problem.design.storage
    columns = np.empty((problem.n, problem.m))
    columns[: X.shape[1]] = X.T if isinstance(X, np.ndarray) else X.T.toarray()
    if problem.intercept:
        columns[-1] = problem.intercept
    return columns


def steps_of_small_problem(problem: Problem, w: np.ndarray, z: np.ndarray, accuracy: float, most_passes: float) -> tuple[np.ndarray, int]:
    """A point at which the gap is about the accuracy, or no step is long enough; and the steps taken."""
    if has_normal_equations(problem) and most_passes >= 2.0:
        solution = NormalEquations(problem).ridge(problem.penalised.l2)
        if solution is not None:
            return solution, 1
    columns = dense_columns(problem)
    w, z = w.copy(), z.copy()
    most = int(min(MOST_STEPS, max(0.0, most_passes) // 2))  # a step makes two passes
    smoothness = float(getattr(problem.loss, "smoothness", lambda: math.inf)())
    rows = columns, problem.y, problem.row_weights
    taken = newton_steps(problem.loss, outputs_of(problem), smoothness, *rows, problem.penalised.l2, problem.free, w, z, accuracy, most)
    return w, int(taken)


@kernel
def newton_steps(loss, outputs, smoothness, columns, y, r, l2, free, w, z, accuracy, most):
    """Change w and z = X·w by Newton steps; how many. ``columns`` are those of X; continuation needs a finite ``smoothness``."""
    n, m = columns.shape
    penalised = n - 1 if free else n
    gradient, d, H, Ad = np.empty(n), np.empty(n), np.empty((n, n)), np.empty(m)
    slopes, curvatures = np.empty(m), np.empty(m)
    rows, chosen = np.empty(m, np.int64), np.empty((n, int(FEW * m)))
    strength, strongest, is_continued = l2, l2, False
    value = objective(loss, z, Ad, 0.0, y, r, l2, penalised, w, d)
    if value <= accuracy:  # losses are not negative, so that 0 is a lower bound
        return 0
    for step in range(most):
        for i in range(m):
            slopes[i] = r[i] * loss.derivative(z[i], y[i])
            curvatures[i] = r[i] * loss.curvature(z[i], y[i])
        for j in range(n):
            gradient[j] = dot(columns[j], slopes)
        square, product = dot(gradient, gradient), dot(gradient[:penalised], w[:penalised])
        length = dot(w[:penalised], w[:penalised])
        if square + 2.0 * l2 * product + l2 * l2 * length <= 2.0 * l2 * accuracy:
            return step
        mean_loss = value - 0.5 * strength * length
        strength = weakened(strength, l2, mean_loss, square, product, length)
        value = mean_loss + 0.5 * strength * length
        for j in range(penalised):
            gradient[j] += strength * w[j]
        used = 0
        for i in range(m):
            if curvatures[i] > 0.0:
                rows[used] = i
                used += 1
        if used < FEW * m:
            for j in range(n):
                for i in range(used):
                    chosen[j, i] = columns[j, rows[i]]
            for i in range(used):
                curvatures[i] = curvatures[rows[i]]
            weighted_products(chosen, curvatures, used, Ad, H)
        else:
            weighted_products(columns, curvatures, m, Ad, H)
        for j in range(penalised):
            H[j, j] += strength
        if not solve_in_place(H, gradient, d):
            return step
        slope = dot(gradient, d)
        combine(columns, d, Ad)
        penalty = strength * dot(w[:penalised], d[:penalised]), strength * dot(d[:penalised], d[:penalised])
        t = length_of_step(loss, outputs, z, Ad, y, r, slope, *penalty)
        new = objective(loss, z, Ad, t, y, r, strength, penalised, w, d)
        while not new <= value + SUFFICIENT * t * slope:
            t *= 0.5
            if t < SHORT:
                break
            new = objective(loss, z, Ad, t, y, r, strength, penalised, w, d)
        is_first_short = t < STEP_IS_SHORT and not is_continued
        if is_first_short:
            strongest = stronger(l2, smoothness * mean_square(columns, r))
            is_continued = strongest == l2
        if t < SHORT:
            if is_continued:
                return step
            t, new = 0.0, value
        value = new
        for j in range(n):
            w[j] += t * d[j]
        for i in range(m):
            z[i] += t * Ad[i]
        if is_first_short and not is_continued:
            is_continued = True
            value += 0.5 * (strongest - strength) * dot(w[:penalised], w[:penalised])
            strength = strongest
    return most


@compiled
@reassociated
def mean_square(columns, r):
    """Σ_i r_i‖x_i‖²"""
    total = 0.0
    for j in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            total += r[i] * columns[j, i] * columns[j, i]
    return total


@compiled
@reassociated
def dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@compiled
@reassociated
def objective(loss, z, Ad, t, y, r, l2, penalised, w, d):
    """P(w + t·d)"""
    total = 0.0
    for j in range(penalised):
        total += 0.5 * l2 * (w[j] + (t * d[j] if t > 0.0 else 0.0)) ** 2
    for i in range(z.shape[0]):
        total += r[i] * loss.value(z[i] + (t * Ad[i] if t > 0.0 else 0.0), y[i])
    return total


@compiled
def weighted_products(columns, h, m, room, H):
    """The lower triangle of Σ_i h_i x_i x_iᵀ over the first m rows, by blocks that stay in the fastest cache; ``room`` is overwritten."""
    n = columns.shape[0]
    H[:] = 0.0
    for first in range(0, m, BLOCK):
        last = min(first + BLOCK, m)
        for j in range(n):
            for i in range(first, last):
                room[i] = h[i] * columns[j, i]
            for k in range(j + 1):
                H[j, k] += dot(room[first:last], columns[k, first:last])


@compiled
def combine(columns, d, out):
    """Σ_j d_j times column j."""
    out[:] = 0.0
    for j in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            out[i] += d[j] * columns[j, i]


@compiled
def solve_in_place(H, gradient, d):
    """d = −H⁻¹·gradient by Cholesky's method, which overwrites the lower triangle of H; whether H is positive definite."""
    if not factorise(H):
        return False
    solve_factorised(H, gradient, d)
    return True


@compiled
@reassociated
def factorise(H):
    """Overwrite the lower triangle of H by its Cholesky factor; whether H is positive definite."""
    n = H.shape[0]
    for j in range(n):
        pivot = H[j, j]
        for k in range(j):
            pivot -= H[j, k] * H[j, k]
        if not pivot > 1e-14 * H[j, j]:
            return False
        pivot = math.sqrt(pivot)
        H[j, j] = pivot
        for i in range(j + 1, n):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            H[i, j] = total / pivot
    return True


@compiled
@reassociated
def solve_factorised(L, gradient, d):
    """d = −(L·Lᵀ)⁻¹·gradient"""
    n = L.shape[0]
    for j in range(n):
        total = -gradient[j]
        for k in range(j):
            total -= L[j, k] * d[k]
        d[j] = total / L[j, j]
    for j in range(n - 1, -1, -1):
        total = d[j]
        for k in range(j + 1, n):
            total -= L[k, j] * d[k]
        d[j] = total / L[j, j]
