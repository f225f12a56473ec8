"""Projected subgradient methods: compiled steps against plain ones, regret against the theorems, and the guarantee of Theorem 4."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.solvers._online.subgradient_descent import balancing, descend, natural_length, new_schedule_state
from fenchel.solvers.adaptive import Adaptive
from fenchel.solvers.optimistic import PrintedGrowth, Robust, steps_of_phase
from fenchel.solvers.pegasos import Pegasos
from fenchel.solvers.proximal import Proximal, SingleTau, best_single_tau
from tests import naive
from tests.data import signed_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TEXT = {"m": 300, "n": 200, "nonzeros": 10, "seed": 1}
X, Y = signed_rows()
SCHEDULES = {
    "pegasos": (lambda l2: Pegasos(l2, new_schedule_state()), {}),
    "adaptive": (lambda l2: Adaptive(l2, 5.0, new_schedule_state()), {"radius": 5.0}),
    "proximal": (lambda l2: Proximal(l2, 5.0, new_schedule_state()), {"radius": 5.0}),
    "optimistic": (lambda l2: Robust(l2, 0.5, 0.0, new_schedule_state()), {"radius": 0.5}),
}


def steps_on_rows(loss, X, y, schedule, l2, radius, shape, **known):
    """``descend`` on the rows in their own order, without end."""
    rows = iter(i for _ in range(10**6) for i in range(len(y)))

    def oracle(w):
        i = next(rows)
        if len(shape) == 1:
            return loss.derivative(float(X[i] @ w), y[i]) * X[i]
        derivative = np.empty(shape[1])
        loss.derivative(X[i] @ w, y[i], derivative)
        return np.outer(X[i], derivative)

    return descend(oracle, schedule, l2, np.zeros(shape), radius, **known)


@pytest.mark.parametrize("solver", SCHEDULES)
@pytest.mark.parametrize("l2", [1e-2, 1e-6])
@pytest.mark.parametrize("loss", [fl.Hinge(), *(pytest.param(x, marks=pytest.mark.slow) for x in (fl.Logistic(), fl.Softmax()))], ids=str)
def test_compiled_steps_equal_plain_steps(text, solver, l2, loss):
    X, y = text
    y = (np.arange(len(y)) % 3) if loss.labels == "class" else y
    problem = fl.Problem(X, y, loss, fl.L2(l2))
    make, options = SCHEDULES[solver]
    radius = math.sqrt(problem.objective_at_zero / l2)
    plain = steps_on_rows(loss, X.toarray(), problem.y, make(l2), l2, radius, problem.shape)
    for _ in range(4 * len(y)):
        w = next(plain)
    result = fl.minimize(problem, solver, tol=0.0, max_passes=4, sampling="sequential", **options)
    np.testing.assert_allclose(result.iterate.w, w, rtol=0, atol=1e-11 * np.abs(w).max())


@pytest.mark.slow
@pytest.mark.parametrize("solver", SCHEDULES)
@pytest.mark.parametrize("predictor", ["average", "suffix"])
def test_averages_equal_those_of_stored_iterates(text, solver, predictor):
    X, y = text
    l2 = 1e-3
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(l2))
    make, options = SCHEDULES[solver]
    plain = steps_on_rows(fl.Hinge(), X.toarray(), y, make(l2), l2, 1 / math.sqrt(l2), problem.shape)
    visited = np.array([next(plain) for _ in range(4 * len(y))])
    since = {"average": 0, "suffix": 2 ** int(math.log2(len(visited))) // 2}[predictor]
    result = fl.minimize(problem, solver, tol=0.0, max_passes=4, sampling="sequential", predictor=predictor, **options)
    expected = visited[since:].mean(axis=0)
    np.testing.assert_allclose(result.iterate.w, expected, rtol=0, atol=1e-10 * np.abs(visited).max())


# ---- regret ----


class OnlineProblem:
    """A sequence of random hinge losses: the losses that a method incurs on it, and its regret against the best fixed weights."""

    def __init__(self, seed, T=400, n=5, l2=1e-3, R=3.0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((T, n)) * rng.uniform(0.1, 2.0, (T, 1))
        self.y = rng.choice([-1.0, 1.0], T)
        self.l2, self.R, self.T = l2, R, T
        self.G, self.incurred = [], 0.0

    def run(self, schedule):
        t = iter(range(self.T))
        w = np.zeros(self.X.shape[1])

        def oracle(w):
            i = next(t)
            g = -self.y[i] * self.X[i] * (self.y[i] * self.X[i] @ w < 1.0)
            self.incurred += 0.5 * self.l2 * w @ w + max(0.0, 1.0 - self.y[i] * self.X[i] @ w)
            self.G.append(np.linalg.norm(self.l2 * w + g))
            return g

        steps = descend(oracle, schedule, self.l2, w, self.R)
        for _ in range(self.T):
            next(steps)
        return np.array(self.G)

    def regret(self):
        problem = fl.Problem(self.X, self.y, fl.Hinge(), fl.SquaredLp(self.l2, 2.0, radius=self.R))
        best = fl.minimize(problem, "sdca", tol=1e-7, max_passes=20_000)
        return self.incurred - self.T * best.objective


@pytest.mark.parametrize("seed", range(5))
def test_lemma_1_bounds_the_regret_of_projected_subgradients(seed):
    online = OnlineProblem(seed, l2=0.05)
    G = online.run(Pegasos(online.l2, new_schedule_state()))
    bound = 0.5 * np.sum(G**2 / (online.l2 * np.arange(1, online.T + 1)))
    assert 0.0 < online.regret() <= bound


@pytest.mark.parametrize("l2", [1e-6, 1e-2])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_corollary_1_and_theorem_1_bound_the_regret_of_proximal_steps(seed, l2):
    online = OnlineProblem(seed, l2=l2)

    class Recorded:
        def __init__(self):
            self.schedule, self.taus = Proximal(l2, online.R, new_schedule_state()), []

        def step(self, G, radius, natural_length):
            before = float(self.schedule.state.tau_sum)
            out = self.schedule.step(G, radius, natural_length)
            self.taus.append(self.schedule.state.tau_sum - before)
            return out

        def after(self, norm):
            return self.schedule.after(norm)

    recorded = Recorded()
    G, lam, taus = online.run(recorded), l2 * np.arange(1, online.T + 1), np.array(recorded.taus)
    regret = online.regret()
    assert 0.0 < regret <= 0.5 * np.sum(4.0 * taus * online.R**2 + G**2 / (lam + np.cumsum(taus)))
    # By Proposition 1 the best in hindsight has a single τ.
    hindsight = min(2.0 * tau * online.R**2 + 0.5 * np.sum(G**2 / (lam + tau)) for tau in np.logspace(-6, 4, 2000))
    assert regret <= 2.0 * hindsight


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_the_bound_of_bartlett_et_al_holds_for_adaptive_steps(seed):
    online = OnlineProblem(seed, l2=1e-6)
    G = online.run(Adaptive(online.l2, online.R, new_schedule_state()))
    lam = online.l2 * np.arange(1, online.T + 1)
    hindsight = min(3.0 * tau * online.R**2 + 2.0 * np.sum(G**2 / (lam + tau)) for tau in np.logspace(-6, 4, 2000))
    assert 0.0 < online.regret() <= hindsight


def test_a_single_tau_satisfies_its_bound():
    online = OnlineProblem(0, l2=1e-4)
    G = 2.0 * float(np.linalg.norm(online.X, axis=1).max())
    tau = best_single_tau(online.l2, G, online.R, online.T)
    lam = online.l2 * np.arange(1, online.T + 1)

    def bound(tau):
        return 2.0 * tau * online.R**2 + 0.5 * np.sum(G**2 / (lam + tau))

    assert all(bound(tau) <= bound(factor * tau) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0))
    state = new_schedule_state()
    state.tau_sum = tau
    online.run(SingleTau(online.l2, state))
    assert 0.0 < online.regret() <= bound(tau)


@pytest.mark.parametrize("p", [2.0, 1.5, 1.2])
@pytest.mark.parametrize("seed", range(3))
def test_lemma_1_bounds_the_regret_of_the_primal_gradient_solver(seed, p):
    online = OnlineProblem(seed, T=300)
    sigma, q, loss = 0.02, p / (p - 1.0), fl.Hinge()
    regularizer = fl.SquaredLp(sigma, p)
    visited = naive.pgs(loss, online.X, online.y, naive.batches(online.T, 1, 1), lambda v: naive.squared_lp_link(v, sigma, p, math.inf))
    predicted_with = np.vstack([np.zeros(online.X.shape[1]), visited[:-1]])
    problem = fl.Problem(online.X, online.y, loss, regularizer)
    z = np.einsum("ij,ij->i", predicted_with, online.X)
    incurred = sum(problem.penalty(w) + loss.value(float(zi), yi) for w, zi, yi in zip(predicted_with, z, online.y, strict=True))
    derivatives = np.array([loss.derivative(float(zi), yi) for zi, yi in zip(z, online.y, strict=True)])
    norms = np.linalg.norm(derivatives[:, None] * online.X, ord=q, axis=1)
    bound = 0.5 * np.sum(norms**2 / (sigma * np.arange(1, online.T + 1)))
    best = fl.minimize(problem, "sdca", tol=1e-7, max_passes=20_000).objective
    assert 0.0 < incurred - online.T * best <= bound


# ---- step sizes ----


@given(st.floats(0.0, 1e6), st.floats(1e-150, 1e6), st.floats(1e-6, 1e6))
def test_balancing_solves_its_equation(curvature, G, R):
    tau = balancing(curvature, G, R)
    assert tau >= 0.0
    assert tau * (curvature + tau) == pytest.approx((G / (2.0 * R)) ** 2, rel=1e-9, abs=1e-300)


@settings(max_examples=20, deadline=None)
@given(st.floats(-6.0, 6.0), st.sampled_from(["adaptive", "proximal", "optimistic"]))
def test_default_step_sizes_do_not_depend_on_the_scale_of_the_rows(exponent, solver):
    X, y = fl.datasets.make_text(**TEXT)
    c = 10.0**exponent
    plain, scaled = (fl.minimize(fl.Problem(k * X, y, fl.Hinge(), fl.L2(1e-6 * k * k)), solver, tol=0.0, max_passes=3) for k in (1.0, c))
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-9)
    np.testing.assert_allclose(c * scaled.iterate.w, plain.iterate.w, rtol=0, atol=1e-8 * np.abs(plain.iterate.w).max())


def test_printed_adaptive_steps_have_the_constants_of_the_papers_experiments(text):
    X, y, l2 = text[0].toarray(), text[1], 1e-2
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(l2))
    R = 1.0 / math.sqrt(l2)  # √(P(0)/λ)
    G = float(np.linalg.norm(X, axis=1).max()) + math.sqrt(l2)
    w, curvature = np.zeros(X.shape[1]), 0.0
    for _ in range(2):
        for row, label in zip(X, y, strict=True):
            curvature += l2
            tau = 0.5 * (math.sqrt(curvature**2 + 8.0 * G * G / (3.0 * R * R)) - curvature)
            curvature += tau
            slope = -label if label * (row @ w) < 1.0 else 0.0
            w = w - (slope * row + (l2 + tau) * w) / curvature
            w *= min(1.0, R / max(float(np.linalg.norm(w)), 1e-300))
    result = fl.minimize(problem, "adaptive", tol=0.0, max_passes=2, sampling="sequential", batch=1, rule="printed")
    np.testing.assert_allclose(result.iterate.w, w, rtol=0, atol=1e-11 * np.abs(w).max())


def test_the_robust_guess_follows_the_norm_and_the_printed_one_grows_by_sqrt_2(text):
    X, y = text
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-6))
    for rule, kind in (("robust", Robust), ("printed", PrintedGrowth)):
        steps = steps_on_rows(fl.Hinge(), X.toarray(), y, made := kind(1e-6, 0.25, 0.0, new_schedule_state()), 1e-6, 1000.0, problem.shape)
        norms = [0.0]
        for _ in range(600):
            norms.append(float(np.linalg.norm(next(steps))))
            R = float(made.state.R_wanted)
            if rule == "robust":
                assert pytest.approx(max(norms)) == R
            elif R:
                assert math.log2((R / 0.25) ** 2) == pytest.approx(round(math.log2((R / 0.25) ** 2)))
        assert R > 0.25, "it had to grow"


def test_a_phase_is_as_long_as_the_paper_says():
    for epsilon, delta, l2, G, R in [(0.1, 0.5, 1e-2, 2.0, 1.0), (0.01, 1.0, 1e-4, 1.0, 0.3), (1e-3, 0.1, 1.0, 1.0, 1e3)]:
        T = steps_of_phase(epsilon, delta, l2, G, R)

        def bound(T, epsilon=epsilon, delta=delta, l2=l2, G=G, R=R):
            return min(G * G * (1.0 + math.log(T)) / (delta * l2 * T), 4.0 * R * G / (delta * math.sqrt(T)))

        assert bound(T) <= epsilon
        assert T == 1 or bound(T - 1) > epsilon


@pytest.mark.parametrize("rule", ["robust", "printed"])
def test_an_optimistic_run_with_an_epsilon_ends_and_is_within_epsilon(text, rule):
    X, y = text
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(0.1))
    best = fl.minimize(problem, "sdca", tol=1e-8).objective
    kept = 0
    for seed in range(10):
        result = fl.minimize(problem, "optimistic", tol=0.0, max_passes=10_000, seed=seed, rule=rule, epsilon=0.1, delta=0.5)
        assert result.status == "finished"
        kept += problem.objective(result.iterate.w) - best <= 0.1
    assert kept >= 5, "with probability 1 − δ each"


def test_epsilon_is_refused_without_the_assumptions_of_its_theorem(text):
    X, y = text
    with pytest.raises(ValueError, match="epsilon needs a bound on every subgradient"):
        fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(0.1)), "optimistic", epsilon=0.1)
    with pytest.raises(ValueError, match='tau="single" needs a bound on every subgradient'):
        fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L2(0.1)), "proximal", tau="single")
    with pytest.raises(ValueError, match="pegasos needs the ridge penalty L2, and L1L2 is not it"):
        fl.minimize(fl.Problem(X, y, fl.Hinge(), fl.L1L2(l1=0.1, l2=0.1)), "pegasos")


def test_weights_of_natural_length_bring_the_loss_to_zero():
    X = np.full((10, 1), 4.0)
    y = np.ones(10)
    assert natural_length(fl.Problem(X, y, fl.Hinge(), fl.L2(1.0))) == pytest.approx(0.25)
    assert natural_length(fl.Problem(0.0 * X, y, fl.Hinge(), fl.L2(1.0))) == 1.0


# ---- weak regularization ----


@pytest.mark.slow
@pytest.mark.parametrize("l2", [1e-7, 1e-8])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic()], ids=str)
def test_ten_passes_beat_a_hundred_of_pegasos_under_weak_regularization(l2, loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 20))
    y = np.sign(X @ rng.standard_normal(20) + 2.0 * rng.standard_normal(3000))
    problem = fl.Problem(X, y, loss, fl.L2(l2))
    pegasos = fl.minimize(problem, "pegasos", tol=0.0, max_passes=100)
    for solver in ("proximal", "optimistic"):
        assert fl.minimize(problem, solver, tol=0.0, max_passes=10).objective < pegasos.objective


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["pgs", *SCHEDULES])
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.MulticlassHinge(), fl.Squared()], ids=str)
def test_the_certificate_shrinks(text, solver, loss):
    X, y = text
    y = (np.arange(len(y)) % 3) if loss.labels == "class" else y
    problem = fl.Problem(X, y, loss, fl.L2(0.05))
    gaps = [fl.minimize(problem, solver, tol=0.0, max_passes=passes).gap for passes in (4, 40, 400)]
    assert gaps[1] < 0.7 * gaps[0]
    assert gaps[2] < 0.5 * gaps[1]


def test_a_start_of_weights_alone_is_used(text):
    X, y = text
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-2))
    good = fl.minimize(problem, "sdca", tol=1e-4)
    for solver in ("pgs", *SCHEDULES):
        warm, cold = (fl.minimize(problem, solver, tol=0.0, max_passes=1, start=start).iterate.w for start in (good.w, None))
        assert problem.objective(warm) < problem.objective(cold), solver


# ---- start, end and options ----


def test_the_last_iterate_of_a_finished_solver_is_evaluated(monkeypatch):
    import fenchel.problems.objective

    monkeypatch.setattr(fenchel.problems.objective, "PIECE", 64)  # so that it ends within a pass
    problem = fl.Problem(X / 10.0, Y, fl.Hinge(), fl.L2(0.1))
    result = fl.minimize(problem, "optimistic", epsilon=0.9, tol=1e-9, max_passes=50)
    assert result.status == "finished"
    assert result.history["passes"][-1] == result.passes
    assert result.w.any()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["robust", "printed"])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("l2", [0.1, 1.0, 10.0])
def test_a_run_ends_for_every_epsilon(rule, epsilon, l2):
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    result = fl.minimize(fl.Problem(rows, Y, fl.Hinge(), fl.L2(l2)), "optimistic", epsilon=epsilon, rule=rule, tol=0.0, max_passes=20_000)
    assert result.status == "finished"


@pytest.mark.slow
@pytest.mark.parametrize("options", [("adaptive", {}), ("proximal", {}), ("optimistic", {}), ("optimistic", {"rule": "printed"})], ids=str)
def test_first_rows_without_a_loss_are_accepted(options):
    solver, extra = options
    weights = np.where(np.arange(200) < 100, 0.0, 1.0)
    zero_first = 3.0 * X[:, 0] * (np.arange(200) > 0)
    for start in (None, np.full(5, 0.3)):
        for problem in (
            fl.Problem(X, Y, fl.Hinge(), fl.L2(1e-3), sample_weight=weights),
            fl.Problem(X, zero_first, fl.Squared(), fl.L2(1e-3)),
            fl.Problem(X, 0.0 * Y, fl.Absolute(), fl.L2(1e-3)),
        ):
            result = fl.minimize(problem, solver, sampling="sequential", start=start, tol=0.0, max_passes=3, **extra)
            assert np.isfinite(result.iterate.w).all()
            assert result.status == "max_passes" or problem.objective_at_zero == 0.0


def test_a_tiny_guess_of_the_norm_is_corrected():
    result = fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(1e-3)), "proximal", radius=1e-300, tol=0.0, max_passes=2)
    assert np.isfinite(result.iterate.w).all()


def test_a_run_can_be_continued_within_a_phase():
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.01))
    options = {"epsilon": 0.2, "tol": 0.0}
    straight = fl.minimize(problem, "optimistic", max_passes=9, **options)
    half = fl.minimize(problem, "optimistic", max_passes=4, **options)
    rest = fl.minimize(problem, "optimistic", max_passes=5, start=half, **options)
    np.testing.assert_allclose(rest.iterate.w, straight.iterate.w, atol=1e-12)
    assert rest.iterate.state["phase"] == straight.iterate.state["phase"]


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("proximal", {"tau": "single", "batch": 0}, "batch=0: give a whole number"),
        ("proximal", {"tau": "single", "batch": None}, "batch=None: give a whole number"),
        ("proximal", {"horizon": "x"}, "horizon='x': give the number of passes"),
        ("proximal", {"tau": "single", "horizon": np.inf}, "horizon=inf: give the number of passes"),
        ("optimistic", {"epsilon": "x"}, "epsilon='x', delta=1.0: give an epsilon"),
        ("optimistic", {"epsilon": np.inf}, "epsilon=inf, delta=1.0: give an epsilon"),
        ("optimistic", {"delta": "a"}, "epsilon=0.0, delta='a': give an epsilon"),
        ("pgs", {"predictor": ["last"]}, r"predictor=\['last'\]: did you mean 'last'\?"),
        ("pgs", {"divisor": []}, r"divisor=\[\]: choose one of"),
        ("pgs", {"batch": np.array([1, 2])}, r"batch=array\(\[1, 2\]\): give a whole number"),
    ],
)
def test_invalid_options_are_refused(solver, options, message):
    with pytest.raises(ValueError, match=message):
        fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(0.1)), solver, **options)


def test_extreme_epsilons_and_batches_are_accepted():
    problem = fl.Problem(X, Y, fl.Hinge(), fl.L2(0.1))
    for epsilon in (1e-20, 1e-300):
        assert fl.minimize(problem, "optimistic", epsilon=epsilon, tol=0.0, max_passes=1).status == "max_passes"
    for batch in (200, 10**12, 10**30):
        run = {"tol": 0.0, "max_passes": 3, "sampling": "sequential"}
        one, other = (fl.minimize(problem, "pgs", batch=size, **run).iterate.w for size in (200, batch))
        assert np.array_equal(one, other)
