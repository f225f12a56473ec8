"""SMIDAS and TRUNCGRAD: the compiled steps against those of the paper, the bounds of the theorems, and the sparsity of the weights."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers._online.truncated_steps import FIRST_WINDOW
from fenchel.solvers.smidas import first_rule, mirrored, whole_power

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TEXT = {"m": 120, "n": 90, "nonzeros": 8, "seed": 3}
SOLVERS = ["smidas", "truncgrad"]


def forward(w, q):
    """f(w), as printed before (12)"""
    norm = (np.abs(w) ** q).sum() ** (1.0 / q)
    return np.sign(w) * np.abs(w) ** (q - 1.0) / norm ** (q - 2.0) if norm else np.zeros_like(w)


def backward(theta, p):
    """f⁻¹(θ), (12)"""
    norm = (np.abs(theta) ** p).sum() ** (1.0 / p)
    return np.sign(theta) * np.abs(theta) ** (p - 1.0) / norm ** (p - 2.0) if norm else np.zeros_like(theta)


def printed(problem, X, eta, p, passes, k=1, w=None):
    """Algorithm 3 on the rows in their own order, whole vectors in every step; TRUNCGRAD is p = 2."""
    loss, y, s, l1 = problem.loss, problem.y, problem.m * problem.row_weights, problem.regularizer.l1
    w = np.zeros(problem.shape) if w is None else w
    theta = forward(w, p / (p - 1.0))
    for first in [*range(0, problem.m, k)] * passes:
        rows = range(first, min(first + k, problem.m))
        g = np.zeros(problem.shape)
        for i in rows:
            if problem.vector_valued:
                slope = np.empty(problem.outputs)
                loss.derivative(X[i] @ w, y[i], slope)
                g += np.outer(X[i], s[i] * slope)
            else:
                g += s[i] * loss.derivative(float(X[i] @ w), y[i]) * X[i]
        theta = theta - eta * g / len(rows)
        theta = np.sign(theta) * np.maximum(0.0, np.abs(theta) - eta * l1)
        w = backward(theta, p)
    return w


def order_of(solver, problem):
    return max(2, math.ceil(2.0 * math.log(math.prod(problem.shape)))) if solver == "smidas" else 2


def last(problem, solver, passes=3, **options):
    return fl.minimize(problem, solver, tol=0.0, max_passes=passes, **{"sampling": "sequential", **options}).iterate.w


def close(w, expected, tol=1e-9):
    assert np.abs(expected).max() > 0.0
    np.testing.assert_allclose(w, expected, rtol=0, atol=tol * np.abs(expected).max())


# ---- steps ----


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("layout", [pytest.param("sparse", marks=pytest.mark.slow), "dense"])
@pytest.mark.parametrize(
    ("loss", "k"),
    [(fl.Logistic(), 1), *(pytest.param(x, k, marks=pytest.mark.slow) for x, k in [(fl.Hinge(), 7), (fl.Squared(), 1), (fl.Softmax(), 5)])],
    ids=str,
)
def test_steps_equal_those_of_the_paper(text, solver, layout, loss, k):
    X, y = text
    y = np.arange(len(y)) % 3 if loss.labels == "class" else y
    problem = fl.Problem(X if layout == "sparse" else X.toarray(), y, loss, fl.L1(0.01))
    eta = 0.3 if solver == "truncgrad" else 3.0
    w = last(problem, solver, eta=eta, batch=k)
    close(w, printed(problem, X.toarray(), eta, order_of(solver, problem), 3, k))
    assert (w == 0.0).any(), "something was to be truncated"


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_with_sample_weights_and_an_intercept_equal_those_of_the_paper(text, solver):
    X, y = text
    s = np.random.default_rng(0).uniform(0.0, 3.0, len(y))
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(0.01), sample_weight=s, intercept=0.7)
    rows = np.c_[X.toarray(), np.full(len(y), 0.7)]
    close(last(problem, solver, eta=0.5), printed(problem, rows, 0.5, order_of(solver, problem), 3))


@pytest.mark.parametrize("p", [2, 3, *(pytest.param(p, marks=pytest.mark.slow) for p in (2.5, 22, 63, 64, 100))])
def test_steps_equal_those_of_the_paper_for_every_p(text, p):
    X, y = text
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(0.01))
    close(last(problem, "smidas", eta=1.0, p=p), printed(problem, X.toarray(), 1.0, p, 3))


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_can_be_given_as_a_start(text, solver):
    X, y = text
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(0.01))
    w = np.random.default_rng(0).standard_normal(problem.n) * (np.arange(problem.n) % 3 > 0)
    p = order_of(solver, problem)
    close(last(problem, solver, passes=1, eta=0.5, start=w), printed(problem, X.toarray(), 0.5, p, 1, w=w))
    np.testing.assert_allclose(backward(mirrored(w, 9.0), 9.0), w, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "options",
    [{}, {"eta": 0.5, "predictor": "random"}, pytest.param({"eta": 0.5, "predictor": "average"}, marks=pytest.mark.slow)],
    ids=str,
)
def test_continuing_from_a_result_equals_an_uninterrupted_run(text, solver, options):
    problem = fl.Problem(*text, fl.Logistic(), fl.L1(0.003))
    straight = fl.minimize(problem, solver, tol=0.0, max_passes=23, **options)
    half = fl.minimize(problem, solver, tol=0.0, max_passes=12, **options)
    rest = fl.minimize(problem, solver, tol=0.0, max_passes=11, start=half, seed=9, **options)
    close(rest.iterate.w, straight.iterate.w)
    assert rest.iterate.state["eta"] == straight.iterate.state["eta"]


def test_powers_by_squaring_equal_floating_point_powers():
    x = np.array([0.0, 1e-3, 0.3, 0.999, 1.0])
    for k in range(64):
        np.testing.assert_allclose([whole_power(value, k) for value in x], x**k, rtol=1e-13)


@pytest.mark.parametrize("small", [1e-15, 1e-100, 1e-290])
def test_small_weights_survive_when_the_largest_vanishes(small):
    """Relative to the largest before, powers of the others underflow."""
    rule = first_rule(1e-300, 22.0, np.zeros(3), 1.0)
    weights = rule.weights
    weights.shift(0, 1.0)
    weights.shift(2, small)
    rule.finish_step()
    assert weights.state.norm == pytest.approx(1.0)
    weights.shift(0, -1.0)
    rule.finish_step()
    assert weights.state.norm == pytest.approx(small)
    assert weights.factor() * weights.raw(2) == pytest.approx(small)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e8, 1e100])
def test_the_scale_of_the_rows_does_not_matter(text, solver, size):
    """x → cx and σ → cσ is w → w/c, for the automatic η too."""
    c = 2.0 ** round(math.log2(size))
    X, y = text
    plain, scaled = (fl.minimize(fl.Problem(k * X, y, fl.Hinge(), fl.L1(0.003 * k)), solver, tol=0.0, max_passes=9) for k in (1.0, c))
    close(c * scaled.iterate.w, plain.iterate.w)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_of_zeros_keep_zero_weights(text, solver):
    X, y = text
    wide = sp.csr_array(sp.hstack([sp.csr_array((len(y), 3)), X]))
    options = {"eta": 0.5, **({"p": 9} if solver == "smidas" else {})}
    narrow, padded = (last(fl.Problem(A, y, fl.Logistic(), fl.L1(0.01)), solver, **options) for A in (X, wide))
    close(padded[3:], narrow)
    assert not padded[:3].any()


def test_a_weight_that_no_row_touches_is_shrunk_once_per_step(text):
    X, y = text
    wide = sp.csr_array(sp.hstack([sp.csr_array((len(y), 3)), X]))
    problem = fl.Problem(wide, y, fl.Logistic(), fl.L1(0.01))
    start = np.zeros(problem.n)
    start[:3] = 1.0, -2.0, 0.1
    w = last(problem, "truncgrad", eta=0.25, start=start, passes=2)
    np.testing.assert_allclose(w[:3], [1.0 - 240 * 0.0025, -2.0 + 240 * 0.0025, 0.0], rtol=1e-14)


# ---- η ----


def lasso_data(loss, seed=0, m=100, n=20):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (m, n))
    z = 2.0 * X[:, 0] - 2.0 * X[:, 1]
    y = z + 0.3 * rng.standard_normal(m) if loss.labels == "real" else np.where(z + 0.5 * rng.standard_normal(m) > 0, 1.0, -1.0)
    return fl.Problem(X, y, loss, fl.L1(0.02))


class Bound:
    """Theorem 3, as printed; TRUNCGRAD with p = 2, ‖w*‖₂ and ‖x_i‖₂ in place of e·max x_ij²."""

    def __init__(self, problem, solver, T, norm=None):
        X = problem.design.storage
        self.p = order_of(solver, problem)
        self.R2 = math.e * np.abs(X).max() ** 2 if solver == "smidas" else (X**2).sum(axis=1).max()
        self.P0, self.T, self.norm = problem.objective_at_zero, T, norm
        if norm is None:
            best = fl.minimize(problem, "fista", tol=1e-10, max_passes=100_000)
            self.best, self.norm = best.objective, np.linalg.norm(best.w, 1 if solver == "smidas" else 2)

    def lipschitz(self, rho):
        eta = self.norm / rho * math.sqrt(2.0 / ((self.p - 1) * self.R2 * self.T))
        return eta * (self.p - 1) * rho**2 * self.R2 / 2 + self.norm**2 / (eta * self.T), eta

    def smooth(self, rho):
        B2, T, P0 = self.norm**2, self.T, self.P0
        eta = B2 / (P0 * T) * (math.sqrt(1.0 + 2.0 * P0 * T / ((self.p - 1) * rho * self.R2 * B2)) - 1.0)
        a = (self.p - 1) * rho * self.R2 / 2
        return (1.0 / (1.0 - a * eta) - 1.0) * P0 + B2 / (eta * T * (1.0 - a * eta)), eta

    def proposition(self, rho, K):
        eta = 2.0 / ((self.p - 1) * rho * self.R2) * K / (1.0 + K)
        return K * self.best + (1.0 + K) ** 2 / K * (self.p - 1) * rho * self.R2 / 2 * self.norm**2 / self.T, eta


def mean_excess(problem, solver, best, T, seeds=12, **options):
    """E P(w_o) − P(w*), and the η that was used."""
    options = {"tol": 0.0, "max_passes": T // problem.m, "sampling": "replacement", "predictor": "random", **options}
    results = [fl.minimize(problem, solver, seed=seed, **options) for seed in range(seeds)]
    return np.mean([problem.objective(r.iterate.w) for r in results]) - best, results[0].iterate.state["eta"]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("loss", "case", "rho"), [(fl.Logistic(), 13, 1.0), (fl.Logistic(), 14, 0.5), (fl.Squared(), 14, 2.0)], ids=str)
def test_theorem_3(solver, loss, case, rho):
    problem, T = lasso_data(loss), 50_000
    known = Bound(problem, solver, T)
    bound, eta = known.lipschitz(rho) if case == 13 else known.smooth(rho)
    assert bound < 0.9 * (known.P0 - known.best), "otherwise w = 0 would do"
    excess, _ = mean_excess(problem, solver, known.best, T, eta=eta)
    assert 0.0 < excess <= bound


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("loss", "smaller"),
    [
        (fl.Logistic(), lambda bound: min(bound.lipschitz(1.0), bound.smooth(0.5))),
        pytest.param(fl.Hinge(), lambda bound: bound.lipschitz(1.0), marks=pytest.mark.slow),
        pytest.param(fl.Squared(), lambda bound: bound.smooth(2.0), marks=pytest.mark.slow),
    ],
    ids=["logistic", "hinge", "squared"],
)
def test_the_eta_of_the_theorem_belongs_to_the_smaller_bound(solver, loss, smaller):
    problem = lasso_data(loss)
    for T, norm in [(300, 4.0), (10**6, 0.5), (10 * problem.m, problem.objective_at_zero / 0.02)]:
        given = {"norm": norm, "steps": T} if 10 * problem.m != T else {}  # the last are the defaults
        result = fl.minimize(problem, solver, tol=0.0, max_passes=1, eta="theorem", **given)
        assert result.iterate.state["eta"] == pytest.approx(smaller(Bound(problem, solver, T, norm))[1], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("loss", "rho"), [(fl.Logistic(), 0.5), (fl.Squared(), 2.0)], ids=str)
def test_proposition_4(solver, loss, rho):
    problem, T, K = lasso_data(loss), 20_000, 0.3
    known = Bound(problem, solver, T)
    bound, eta = known.proposition(rho, K)
    assert bound < 0.9 * (known.P0 - known.best), "otherwise w = 0 would do"
    excess, used = mean_excess(problem, solver, known.best, T, eta="proposition", K=K)
    assert used == pytest.approx(eta, rel=1e-9)
    assert 0.0 < excess <= bound


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_automatic_eta_is_close_to_the_best(solver):
    X, y = fl.datasets.make_text(4000, n=2000, nonzeros=20, seed=1)
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(1e-3))
    best = fl.minimize(problem, "fista", tol=1e-6).objective
    found = fl.minimize(problem, solver, tol=0.0, max_passes=3).objective
    grid = [fl.minimize(problem, solver, tol=0.0, max_passes=3, eta=10.0**k).objective for k in range(-4, 4)]
    assert np.argmin(grid) not in (0, len(grid) - 1)
    assert found - best <= 2.0 * (min(grid) - best)
    assert sorted(grid)[2] - best > 2.0 * (min(grid) - best), "few would have done"


@pytest.mark.parametrize("solver", SOLVERS)
def test_eta_decreases_only_when_progress_ends(solver):
    problem = lasso_data(fl.Logistic())
    noisy, calm = 1.0, 1e-4
    falling = fl.minimize(problem, solver, tol=0.0, max_passes=640, eta=noisy, schedule="decreasing")
    constant = fl.minimize(problem, solver, tol=0.0, max_passes=640, eta=noisy)
    assert constant.iterate.state["eta"] == noisy
    assert noisy * FIRST_WINDOW / (640 * problem.m) <= falling.iterate.state["eta"] < 0.2 * noisy
    assert problem.objective(falling.iterate.w) < problem.objective(constant.iterate.w)
    slow = fl.minimize(problem, solver, tol=0.0, max_passes=40, eta=calm, schedule="decreasing")
    assert slow.iterate.state["eta"] == calm


@pytest.mark.parametrize("solver", SOLVERS)
def test_entries_read_by_trials_are_counted(text, solver):
    problem = fl.Problem(*text, fl.Logistic(), fl.L1(0.003))
    plain, tried = (fl.minimize(problem, solver, tol=0.0, max_passes=5, **options) for options in ({"eta": 0.5}, {}))
    assert plain.history["accesses"].tolist() == [problem.design.nnz * k for k in plain.history["passes"]]
    assert plain.history["passes"].tolist() == tried.history["passes"].tolist()
    trials = tried.history["accesses"][1:] - plain.history["accesses"][1:]
    assert (trials == trials[0]).all()
    runs = trials[0] / problem.design.nnz / 10  # each is nine passes over these 120 rows, and one to evaluate it
    assert runs.is_integer()
    assert 7 <= runs <= 30


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_weights(text, solver):
    problem = fl.Problem(*text, fl.Logistic(), fl.L1(0.003))
    first, second, other = (fl.minimize(problem, solver, tol=0.0, max_passes=3, seed=seed).iterate.w for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


# ---- sparsity ----


def noise_features(kind, m=2000):
    """Ten informative features and a thousand of noise: section 4.1."""
    rng = np.random.default_rng(0)
    informative = rng.standard_normal((m, 10))
    score = informative @ rng.standard_normal(10)
    y = np.where(score + 0.5 * score.std() * rng.standard_normal(m) > 0.0, 1.0, -1.0)
    noise = (rng.random((m, 1000)) < 0.05) * 1.0 if kind == "sparse" else rng.choice([-1.0, 1.0], (m, 1000))
    X = np.hstack([informative, noise])
    return (sp.csr_array(X) if kind == "sparse" else X), y


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_smidas_is_sparser_at_the_same_objective(kind):
    problem = fl.Problem(*noise_features(kind), fl.Logistic(), fl.L1(0.01))
    best = fl.minimize(problem, "fista", tol=1e-6)
    wanted = best.objective + 0.1 * (problem.objective_at_zero - best.objective)
    nnz = {}
    for solver in SOLVERS:
        history = fl.minimize(problem, solver, tol=0.0, max_passes=60).history
        reached = np.flatnonzero(history["objective"] <= wanted)
        assert len(reached), solver
        nnz[solver] = history["nnz"][reached[0]]
    assert nnz["smidas"] <= {"sparse": 0.05, "dense": 0.5}[kind] * nnz["truncgrad"], nnz


# ---- streams ----


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", [{}, {"batch": 8}, {"schedule": "decreasing"}, {"predictor": "random"}], ids=str)
def test_a_stream_is_the_same_rows_in_memory(text, solver, options):
    X, y = text
    noisy = {"truncgrad": 5.0, "smidas": 50.0}[solver]
    options = {"eta": noisy if "schedule" in options else 0.5, **options}
    chunks = [(X[i:j], y[i:j]) for i, j in [(0, 1), (1, 70), (70, 120)]]
    stream = fl.Stream(chunks, fl.Logistic(), fl.L1(0.003), passes=20)
    read = fl.minimize(stream, solver, max_passes=20, **options)
    assert read.status == "exhausted"
    close(read.w, last(fl.Problem(X, y, fl.Logistic(), fl.L1(0.003)), solver, passes=20, **options), 1e-11)
    if "schedule" in options:
        assert read.iterate.state["eta"] < noisy


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", [{"eta": "auto"}, {"eta": "theorem", "norm": 5.0}, {"eta": "proposition"}], ids=str)
def test_trials_on_a_stream_use_its_first_chunk(solver, options):
    X, y = fl.datasets.make_text(3000, n=200, nonzeros=10, seed=2)
    stream = fl.Stream([(X[i : i + 500], y[i : i + 500]) for i in range(0, 3000, 500)], fl.Logistic(), fl.L1(1e-3))
    result = fl.minimize(stream, solver, **options)
    problem = fl.Problem(X, y, fl.Logistic(), fl.L1(1e-3))
    best = fl.minimize(problem, "fista", tol=1e-6).objective
    assert result.dual_objective <= best + 1e-9
    share = (problem.objective(result.w) - best) / (problem.objective_at_zero - best)
    assert share < (0.3 if options["eta"] == "auto" else 1.0)


# ---- errors ----


@fl.compiled
class Unstated(NamedTuple):
    """The squared loss, without its smoothness."""

    def value(self, z, y):
        return 0.5 * (z - y) ** 2

    def derivative(self, z, y):
        return z - y


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_user_defined_losses_need_a_bound_for_the_theorems(solver):
    stated = lasso_data(fl.Squared())
    problem = stated.replace(loss=Unstated())
    close(last(problem, solver), last(stated, solver))
    with pytest.raises(
        ValueError, match=r"eta='theorem' needs a loss with a finite lipschitz\(\) or smoothness\(\), and Unstated has neither"
    ):
        fl.minimize(problem, solver, eta="theorem")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": "best"}, 'eta=\'best\': give a positive number, or "auto", "theorem" or "proposition".'),
        ({"eta": 0.0}, "eta=0.0: give a positive number"),
        ({"eta": True}, "eta=True: give a positive number"),
        ({"eta": math.nan}, "eta=nan: give a positive number"),
        ({"eta": "theorem", "norm": -1.0}, "norm=-1.0: give a positive number, or leave it out."),
        ({"eta": "theorem", "steps": "many"}, "steps='many': give a positive number, or leave it out."),
        ({"norm": 1.0}, "norm=1.0 belongs to eta='theorem': leave it out, or choose that eta."),
        ({"eta": 0.1, "K": 1.0}, "K=1.0 belongs to eta='proposition': leave it out, or choose that eta."),
        (
            {"eta": "proposition"},
            "eta='proposition' needs a loss with a finite smoothness(), and Hinge has none: use eta='theorem' or eta='auto'.",
        ),
        ({"schedule": "falling"}, "schedule='falling': choose one of auto, constant, decreasing."),
        ({"predictor": "mean"}, "predictor='mean': "),
        ({"batch": 0}, "batch=0: "),
        ({"sampling": "rows"}, "sampling='rows': "),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_invalid_options_are_refused(text, solver, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fl.minimize(fl.Problem(*text, fl.Hinge(), fl.L1(0.05)), solver, **options)


def test_invalid_orders_are_refused(text):
    for p in (1.5, math.inf, "large", True):
        with pytest.raises(ValueError, match=re.escape(f"p={p!r}: give a number of at least 2, or leave it out")):
            fl.minimize(fl.Problem(*text, fl.Hinge(), fl.L1(0.05)), "smidas", p=p)


@pytest.mark.parametrize("solver", SOLVERS)
def test_other_penalties_are_refused(text, solver):
    with pytest.raises(ValueError, match=f"{solver} needs the lasso penalty L1, and L1L2 is not it: use solver="):
        fl.minimize(fl.Problem(*text, fl.Hinge(), fl.L1L2(l1=0.05, l2=0.05)), solver)
