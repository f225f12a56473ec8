"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by Proximal Stochastic Dual Coordinate Ascent

Section 3.1 of Shalev-Shwartz & Zhang, *Accelerated Proximal Stochastic Dual Coordinate Ascent for Regularized Loss
Minimization*, ICML 2014. Ω is λ-strongly convex with respect to some norm. For one row i at a time

    z  = <w, x_i>,   w = ∇Ω*(v)
    α' = argmax_a −φ*(−a) − z·a − q_i/2·(a − α_i)²,     q_i = s_i‖x_i‖²/(λm)   (dual norm)
    v ← v + s_i(α' − α_i)·x_i/m,   α_i ← α'

which maximises a lower bound of the dual over α_i. Only the coordinates of x_i are touched, for every Ω.

An unpenalised intercept b gets the term λ/2·(b − c)², c being its value after the last pass: a proximal point method in b alone,
which converges in a few passes, because λ is far below the curvature of the losses in b.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.core.numeric import TINY
from fenchel.linalg.weights import Coupled, read_weights, refresh, weights_of
from fenchel.losses.outputs import outputs_of
from fenchel.losses.step_rule import with_step_rule
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.problems.row_order import block_shuffled
from fenchel.solvers.declaration import dual_steps, known_link, solver, strongly_convex_penalty


@kernel
def sdca_pass(rows, y, row_weights, loss, outputs, w, alpha, q, order, progressive):
    """One step on each row of ``order``; the entries of X that they read, and if ``progressive`` the sum of r_i φ(z_i) before each step."""
    accesses, total = 0, 0.0
    for i in order:
        if row_weights[i] == 0.0:
            continue
        z = outputs.predict(rows, i, w)
        if progressive:
            total += row_weights[i] * loss.value(z, y[i])
        delta = outputs.dual_step(loss, alpha, i, z, y[i], q[i])
        outputs.add(rows, i, row_weights[i], delta, w)
        accesses += rows.count(i)
    return accesses, total


@solver("sdca", needs=(dual_steps, strongly_convex_penalty, known_link), by_rows=True)
def sdca(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float) -> Iterator[Iterate]:
    """Proximal stochastic dual coordinate ascent: any loss with a conjugate, any strongly convex regularizer."""
    problem = with_dual_step(problem)
    alpha = start_alpha(problem, start)
    centred = problem.replace(regularizer=problem.regularizer.with_l2_on_free()) if problem.free else problem
    strength, intercept = (centred.regularizer.intercept_l2, slice(centred.regularizer.first, None)) if problem.free else (0.0, slice(0, 0))
    centre = (problem.origin if start is None else start.w).reshape(-1)[intercept].copy()
    v = problem.adjoint(alpha).reshape(-1)
    v[intercept] += strength * centre
    w = weights_of(centred.regularizer, v)
    q = dual_curvatures(centred)
    outputs = outputs_of(problem)
    passes, accesses = 0, 0
    while True:
        order = block_shuffled(problem.m, rng)
        read, _ = sdca_pass(problem.design.rows, problem.y, problem.row_weights, problem.loss, outputs, w, alpha, q, order, False)
        passes, accesses = passes + 1, accesses + read
        if isinstance(w, Coupled):
            refresh(w)
        found = read_weights(w)
        w.v[intercept] -= strength * centre
        yield Iterate(found.reshape(problem.shape), passes, accesses, alpha, w.v.reshape(problem.shape))
        centre = found[intercept].copy()
        w.v[intercept] += strength * centre


def with_dual_step(problem: Problem) -> Problem:
    """The problem itself, or with the paper's step size rule for a loss that has no dual step of its own."""
    return problem if hasattr(problem.loss, "dual_step") else problem.replace(loss=with_step_rule(problem.loss))


def dual_curvatures(problem: Problem) -> np.ndarray:
    """q_i = s_i‖x_i‖²/(λm) in the dual norm; a tiny number for empty rows, whose step saturates and moves no weight."""
    regularizer = problem.regularizer
    norms = problem.row_norms if regularizer.separable else problem.design.row_norms(regularizer.dual_order())
    return np.maximum(problem.row_weights * norms**2 / regularizer.strong_convexity(), TINY)


def start_alpha(problem: Problem, start: Iterate | None) -> np.ndarray:
    """The dual point to begin with: 0, the start's own, or the one its weights give."""
    if start is None:
        return np.zeros(problem.dual_shape)
    return problem.dual_point(start.w) if start.alpha is None else start.alpha.copy()
