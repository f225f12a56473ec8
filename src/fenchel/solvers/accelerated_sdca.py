"""min_w (1/m) Σ_i s_i φ(<w, x_i>, y_i) + Ω(w) by Accelerated Proximal SDCA

Section 3.2 of Shalev-Shwartz & Zhang, *Accelerated Proximal Stochastic Dual Coordinate Ascent for Regularized Loss
Minimization*, ICML 2014. φ is (1/γ)-smooth, Ω is λ-strongly convex in the Euclidean norm, R = max √s_i·‖x_i‖. With

    κ = R²/(γm) − λ,   μ = λ/2,   ρ = μ + κ,   η = √(μ/ρ),   β = (1 − η)/(1 + η),   ξ_1 = (1 + η⁻²)(P(w⁽¹⁾) − D(α⁽¹⁾))

(η⁻² = 1 + 2κ/λ; the proceedings print √(−1 + κ/λ) for η⁻¹) repeat for t = 2, 3, …

    w⁽ᵗ⁾, α⁽ᵗ⁾ ← Prox-SDCA on P(w) + κ/2·‖w − y⁽ᵗ⁻¹⁾‖² from α⁽ᵗ⁻¹⁾, to the gap ε_t = η·ξ_{t−1} / (2(1 + η⁻²))
    y⁽ᵗ⁾ = w⁽ᵗ⁾ + β(w⁽ᵗ⁾ − w⁽ᵗ⁻¹⁾),   ξ_t = (1 − η/2)^{t−1}·ξ_1

Both stopping rules of the paper are lower bounds on min P, and are reported as such:

    P(w⁽ᵗ⁾) − ξ_t      and      P(w⁽ᵗ⁾) − (1 + ρ/μ)ε_t − ρκ/(2μ)·‖w⁽ᵗ⁾ − y⁽ᵗ⁻¹⁾‖².

That is ``variant="faithful"``. There, a non-smooth loss is smoothed with γ = ε/L² (section 4.5; L its Lipschitz
constant, ε the accuracy wanted) and a regularizer that is not strongly convex gets curvature (section 4.4). Where
R²/(λγ) ≤ 10m acceleration gains nothing, and plain Prox-SDCA runs instead.

``variant="practical"`` solves the problem unchanged: the proximal term κ/2·‖w − y‖² is curvature enough for an inner pass, and
dual steps need no smoothness. It makes one inner pass per outer step with κ = R²/(γm), R² the mean of s_i‖x_i‖² (γ = 1 for
non-smooth losses). The momentum grows like Nesterov's (t_k − 1)/t_{k+1} and restarts whenever it points uphill or
‖w − y‖ grows, so that it need not know how strongly convex the problem is, and does not accumulate the errors of inexact
passes. A non-smooth loss gets no momentum, because the errors of its passes are too large; instead κ is reduced whenever the rows that
moved in a pass nearly stop moving, so that this proximal point method (R. T. Rockafellar, *Monotone operators and the proximal point
algorithm*, SIAM J. Control and Optimization 1976) takes the longest steps that its passes can follow. No inner gap is computed.
An unpenalised intercept, which has no bound known beforehand, always uses this variant, with a κ_b of its own as in
:mod:`fenchel.solvers.sdca`, where ``shrinking`` and ``progressive`` are described.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fenchel.core.compiled import kernel, reassociated
from fenchel.core.errors import InputError
from fenchel.core.numeric import TINY
from fenchel.linalg.weights import read_weights, weights_of
from fenchel.losses.smoothed import smoothed
from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers.declaration import bounded_below, dual_steps, known_link, separable, smooth_or_smoothable, solver
from fenchel.solvers.sdca import DualPasses, dual_curvatures, intercept_term, sdca, start_alpha, with_dual_step

VARIANTS = ("faithful", "practical")
SMALLEST_CONDITION = 10.0  # the paper's bound on R²/(λγm), below which acceleration gains nothing
SMALLEST_ACCURACY = 1e-12  # tol = 0 would ask for more than floating point can give
SUM_ERROR = 1e-15  # rounding error of a sum, relative to its terms and to the square root of their number
LARGEST_GROWTH = 1.2  # of ‖w − y‖² from one step to another; with more, momentum restarts
# κ after settled passes, relative to κ before. With 0.5 some hinge problems took twice as long; letting κ grow again where passes do not
# settle made others (usps, λ = 0.01/m) ten times as slow.
WEAKER = 0.7
OVERLAPPING_FACTOR = 3.0  # κ is multiplied by this where rows share most coordinates, and so undo each other's steps


@solver("accelerated-sdca", needs=(dual_steps, separable, smooth_or_smoothable, bounded_below, known_link), aims=True, by_rows=True)
def accelerated_sdca(
    problem: Problem,
    *,
    start: Iterate | None,
    rng: np.random.Generator,
    accuracy: float,
    variant: str = "faithful",
    shrinking: bool = True,
    progressive: bool = False,
) -> Iterator[Iterate]:
    """Accelerated proximal SDCA: for weak regularization, where plain SDCA slows down."""
    if variant not in VARIANTS:
        raise InputError(f"accelerated-sdca has no variant {variant!r}: choose 'faithful' or 'practical'.")
    if variant == "practical" or problem.free:
        return practical(with_dual_step(problem), start, rng, shrinking, progressive)
    reduced = with_dual_step(smooth(strongly_convex(problem, accuracy), accuracy))
    lam, gamma = reduced.regularizer.strong_convexity(), 1.0 / reduced.loss.smoothness()
    norm = largest_norm(reduced)
    kappa = norm * norm / (gamma * reduced.m) - lam
    if norm * norm / (lam * gamma) <= SMALLEST_CONDITION * reduced.m or not math.isfinite(kappa):
        return sdca.run(reduced, start=start, rng=rng, accuracy=accuracy, shrinking=shrinking)
    inner = Inner(reduced, kappa, start, rng, shrinking)
    # Added curvature raises the optimum by at most ε/2.
    return faithful(inner, slack=0.5 * max(accuracy, SMALLEST_ACCURACY) if problem.regularizer.strong_convexity() == 0.0 else 0.0)


def faithful(inner: Inner, slack: float) -> Iterator[Iterate]:
    """Every parameter as in the theory."""
    problem, kappa = inner.problem, inner.kappa
    mu = problem.regularizer.strong_convexity() / 2.0
    rho = mu + kappa
    eta = math.sqrt(mu / rho)
    beta = (1.0 - eta) / (1.0 + eta)
    if "xi" not in inner.state:
        inner.state["xi_holds"] = True
        inner.state["xi"] = (1.0 + rho / mu) * problem.gap(inner.y, inner.alpha)
    while True:
        epsilon = eta * inner.state["xi"] / (2.0 * (1.0 + rho / mu))
        xi = (1.0 - eta / 2.0) * inner.state["xi"]
        solved = False
        while not solved:
            w, z = inner.run_pass(), inner.predict()
            objective = problem.objective(w, z)
            gap, rounding = inner.gap(w, objective)
            drift = rho * kappa / (2.0 * mu) * float(np.sum((w - inner.y) ** 2))
            # Whether an ε_t below the rounding error is reached is unknown; from there on ξ_t proves nothing.
            solved = gap <= max(epsilon, rounding)
            inner.state["xi_holds"] &= not solved or gap + rounding <= epsilon
            excess = (1.0 + rho / mu) * (gap + rounding) + drift
            if solved:
                inner.state["xi"] = xi
                inner.move(beta)
                excess = min(excess, xi) if inner.state["xi_holds"] else excess
            yield inner.iterate(w, z, objective - excess - slack)


def practical(
    problem: Problem, start: Iterate | None, rng: np.random.Generator, shrinking: bool = True, progressive: bool = False
) -> Iterator[Iterate]:
    """One inner pass per outer step, momentum by Nesterov's rule with restarts."""
    smoothness = problem.loss.smoothness()
    non_smooth = math.isinf(smoothness)
    R2 = float(problem.row_weights @ problem.row_norms**2) or 1.0
    kappa = R2 / problem.m * (1.0 if non_smooth else smoothness)
    if problem.design.overlapping and not non_smooth:
        kappa *= OVERLAPPING_FACTOR
    inner = Inner(problem, kappa, start, rng, shrinking, progressive)
    mu = problem.regularizer.strong_convexity() / 2.0
    most = 0.0 if non_smooth else (math.sqrt(mu + kappa) - math.sqrt(mu)) / (math.sqrt(mu + kappa) + math.sqrt(mu))
    t, least = inner.state.get("t", 1.0), inner.state.get("least", math.inf)
    while True:
        w = inner.run_pass()
        if non_smooth and inner.is_settled:
            inner.set_kappa(WEAKER * inner.kappa)
        if most > 0.0:
            distance, turn = change_of_direction(w.reshape(-1), inner.y.reshape(-1), inner.w_old.reshape(-1))
            if turn > 0.0 or distance > LARGEST_GROWTH * least:
                t, least = 1.0, distance
            least = min(least, distance)
        t, t_old = (1.0 + math.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        inner.move(min((t_old - 1.0) / t, most))
        inner.state.update(t=t, least=least)
        yield inner.iterate(w)


@kernel
@reassociated
def change_of_direction(w, y, w_old):
    """‖w − y‖², and <y − w, w − w_old>, which is positive where momentum points away from the minimum"""
    distance = 0.0
    turn = 0.0
    for j in range(w.shape[0]):
        distance += (w[j] - y[j]) ** 2
        turn += (y[j] - w[j]) * (w[j] - w_old[j])
    return distance, turn


@kernel
def add_multiple(x, y, c, out):
    """out ← x + c·y"""
    for j in range(x.shape[0]):
        out[j] = x[j] + c * y[j]


@kernel
def extrapolate(w, w_old, beta):
    """w + β(w − w_old)"""
    out = np.empty(w.shape[0])
    for j in range(w.shape[0]):
        out[j] = w[j] + beta * (w[j] - w_old[j])
    return out


def largest_norm(problem: Problem) -> float:
    """R = max √s_i·‖x_i‖"""
    return float((np.sqrt(problem.row_weights * problem.m) * problem.row_norms).max())


class Inner:
    """Prox-SDCA on P(w) + κ/2·‖w − y‖² around the extrapolated point y: Ω_κ = Ω + κ/2·‖w‖² has more curvature, and w = ∇Ω_κ*(v + κy)."""

    def __init__(
        self,
        problem: Problem,
        kappa: float,
        start: Iterate | None,
        rng: np.random.Generator,
        shrinking: bool = True,
        progressive: bool = False,
    ) -> None:
        self.problem, self.rng, self.shrinking, self.progressive = problem, rng, shrinking, progressive
        self.mean_loss = math.nan  # of the last pass, each loss just before the step on its row
        self.alpha = start_alpha(problem, start)
        self.state = dict(start.state) if start is not None else {}
        self.v = np.ascontiguousarray(problem.adjoint(self.alpha))
        self._room = np.empty(self.v.size)
        origin = problem.origin if start is None else start.w
        self.y, self.w_old = self.state.get("y", origin), self.state.get("w_old", origin)
        self.passes, self.accesses = 0.0, 0
        self.is_settled = False  # whether the rows that moved in the last pass have nearly stopped moving
        self._dual = DualPasses(problem, self.alpha)
        if problem.free:
            self._intercept = intercept_term(problem)
        self.set_kappa(self.state.get("kappa", kappa))

    def set_kappa(self, kappa: float) -> None:
        """Change the strength of the proximal term."""
        self.kappa = self.state["kappa"] = kappa
        self.regularizer = self.problem.regularizer.with_l2(kappa)  # Ω_κ
        self._proximal: Problem | None = None  # the problem with it, where its gap is computed
        if self.problem.free:
            self._kappa_b = self._intercept.strength(self.regularizer.penalty)
            self.regularizer = self.regularizer._replace(intercept_l2=self._kappa_b)
        self._q = dual_curvatures(self.problem, self.regularizer)

    def run_pass(self) -> np.ndarray:
        """One pass of Prox-SDCA; the weights it ends with."""
        problem, v = self.problem, self.v.reshape(-1)
        # The two vectors are used again in every pass: new ones of many weights would cost as much as the additions.
        self._add_proximal(v, 1.0, self._room)
        u = weights_of(self.regularizer, self._room)
        read, self.is_settled, loss = self._dual.whole_pass(u, self._q, self.rng, self.progressive, self.shrinking)
        self.passes, self.accesses = self.passes + max(1.0, read / max(1, problem.design.nnz)), self.accesses + read
        self.mean_loss = loss if self.progressive else math.nan
        self._add_proximal(u.v, -1.0, v)
        self.w = read_weights(u).reshape(problem.shape)
        return self.w

    def _add_proximal(self, v: np.ndarray, sign: float, out: np.ndarray) -> None:
        """out ← v ± κy, with κ_b for an unpenalised intercept"""
        y = self.y.reshape(-1)
        add_multiple(v, y, sign * self.kappa, out)
        if self.problem.free:
            intercept = slice(self.problem.regularizer.first, None)
            out[intercept] = v[intercept] + sign * self._kappa_b * y[intercept]

    def predict(self) -> np.ndarray:
        """X·w, counted among the entries read."""
        self.accesses += self.problem.design.nnz
        return self.problem.predict(self.w)

    def gap(self, w: np.ndarray, objective: float) -> tuple[float, float]:
        """The duality gap of the inner problem, P(w) being the outer objective; and how much of it may be rounding."""
        if self._proximal is None:
            self._proximal = self.problem.replace(regularizer=self.regularizer)
        self.v = self.problem.adjoint(self.alpha)  # computed again, because the rounding errors of its updates would be multiplied by κ/λ
        u = self.v + self.kappa * self.y
        terms = (
            objective,
            0.5 * self.kappa * float(np.sum((w - self.y) ** 2)),
            self.problem.mean_conjugate(self.alpha),
            self._proximal.penalty_conjugate(u.reshape(-1)),
            -0.5 * self.kappa * float(np.sum(self.y**2)),
        )
        return sum(terms), SUM_ERROR * math.sqrt(self.problem.m + self.problem.n) * sum(map(abs, terms))

    def move(self, beta: float) -> None:
        """y ← w + β(w − w_old)"""
        ahead = self.w if beta == 0.0 else extrapolate(self.w.reshape(-1), self.w_old.reshape(-1), float(beta)).reshape(self.w.shape)
        self.y, self.w_old = ahead, self.w

    def iterate(self, w: np.ndarray, z: np.ndarray | None = None, lower_bound: float = -math.inf) -> Iterate:
        state = {**self.state, "y": self.y, "w_old": self.w_old}
        return Iterate(w, self.passes, self.accesses, self.alpha, self.v, z, lower_bound, state, mean_loss=self.mean_loss)


def smooth(problem: Problem, accuracy: float) -> Problem:
    """The problem itself, or with its loss smoothed so that ε/2-accurate means ε-accurate for the original."""
    if math.isfinite(problem.loss.smoothness()):
        return problem
    return problem.replace(loss=smoothed(problem.loss, max(accuracy, SMALLEST_ACCURACY) / problem.loss.lipschitz() ** 2))


def strongly_convex(problem: Problem, accuracy: float) -> Problem:
    """The problem itself, or with λ/2·‖w‖², λ = ε/B², B ≥ ‖w*‖: ε/2-accurate then means ε-accurate for the original."""
    if problem.regularizer.strong_convexity() > 0.0:
        return problem
    reach = problem.regularizer.reach(problem.objective_at_zero, problem.n * problem.outputs)
    reach = max(reach, SMALLEST_ACCURACY)
    return problem.replace(regularizer=problem.regularizer.with_l2(max(max(accuracy, SMALLEST_ACCURACY) / reach / reach, TINY)))
