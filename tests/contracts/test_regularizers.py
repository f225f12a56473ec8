"""Properties of every regularizer. A new file in fenchel/regularizers is tested automatically."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fenchel.linalg.weights import read_weights, weights_of
from fenchel.regularizers import L1, L1L2, L2, Box, Entropy, SquaredLp, regularizers
from tests.naive import entropy_link, squared_lp_link

INF, NAN = math.inf, math.nan
N = 4  # number of weights

# Parameter values to test. Other regularizers are tested with 0.7 for every parameter without a default.
EXAMPLES = {
    "l1": [L1(0.5)],
    "l2": [L2(0.5), L2(3.0)],
    "l1-l2": [L1L2(l1=1.0, l2=0.5), L1L2(l1=0.1, l2=2.0)],
    "box": [
        Box(-1.0, 2.0),
        Box(0.0, 1.0, L2(0.5)),
        Box(-0.5, INF, L1L2(l1=0.3, l2=0.5)),
        Box(-1.0, 1.0, L1(0.4)),
        Box(0.5, 2.0, L1(0.4)),
        Box(-INF, 0.5, L1(0.4)),
        Box([-1.0, 0.0, -2.0, 1.0], [1.0, 0.0, -1.0, 3.0], L2(1.0)),
    ],
    "squared-lp": [
        SquaredLp(0.5, 2.0),
        SquaredLp(0.5, 1.5),
        SquaredLp(2.0, 1.2),
        SquaredLp(1.0, 1.05),
        SquaredLp(0.5, 1.5, radius=0.5),
        SquaredLp(0.5, 1.5, radius=1e3),
    ],
    "entropy": [Entropy(1.0), Entropy(0.1, radius=5.0), Entropy(3.0, radius=0.2)],
}


def some(cls):
    return cls(**{field: 0.7 for field in cls._fields if field not in cls._field_defaults})


ALL = [example for name, cls in regularizers().items() for example in EXAMPLES.get(name) or [some(cls)]]
SEPARABLE = [regularizer for regularizer in ALL if regularizer.separable]
NON_SEPARABLE = [regularizer for regularizer in ALL if not regularizer.separable]


def each(chosen):
    return pytest.mark.parametrize("regularizer", chosen, ids=repr)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def link(regularizer, v):
    v = np.array(v, dtype=np.float64)
    return read_weights(weights_of(regularizer, v))


def value(regularizer, w):
    if regularizer.separable:
        return sum(regularizer.term(float(x), j) for j, x in enumerate(w))
    return regularizer.value(np.asarray(w, dtype=np.float64))


def conjugate(regularizer, v):
    if regularizer.separable:
        return sum(regularizer.conjugate_term(float(x), j) for j, x in enumerate(v))
    return regularizer.conjugate(np.asarray(v, dtype=np.float64))


def norm(regularizer, w):
    """The norm in which the regularizer is strongly convex: l2 if it is separable, else the dual of its ``dual_order``."""
    q = 2.0 if regularizer.separable else regularizer.dual_order()
    p = 1.0 if math.isinf(q) else q / (q - 1.0)
    return np.linalg.norm(w, p)


def domain(regularizer, rng, count, size=1.0):
    """Random weights at which Ω is finite, some of them zero."""
    w = size * rng.standard_normal((count, N)) * (rng.uniform(size=(count, N)) < 0.8)
    if isinstance(regularizer, Box):
        return np.clip(w, regularizer.lower, regularizer.upper)
    radius = getattr(regularizer, "radius", INF)
    if math.isinf(radius):
        return w
    norms = np.array([norm(regularizer, x) for x in w])
    return w * np.minimum(1.0, radius * rng.uniform(0.1, 1.0, count) / np.maximum(norms, 1e-300))[:, None]


def terms_on_grid(regularizer, j):
    grid = np.concatenate([np.linspace(-20.0, 20.0, 801), np.linspace(-0.1, 0.1, 101)])
    return grid, np.array([regularizer.term(x, j) for x in grid.tolist()])


# ---- separable regularizers ----


@each(SEPARABLE)
def test_link_maximises_the_conjugate_term(regularizer):
    for j in range(N):
        grid, terms = terms_on_grid(regularizer, j)
        for v in [-3.0, -1.0, -0.5, -0.41, -0.1, 0.0, 0.1, 0.4, 0.7, 1.0, 2.5]:
            w, best = regularizer.link(v, j), regularizer.conjugate_term(v, j)
            if math.isinf(w):
                # No maximiser: the conjugate is infinite, as large weights in this direction show.
                assert best == INF
                far = [v * x - regularizer.term(x, j) for x in (math.copysign(1e3, w), math.copysign(1e6, w))]
                assert far[1] > 100.0 * far[0] > 0.0
            else:
                assert best == pytest.approx(v * w - regularizer.term(w, j), abs=1e-12)
                assert best >= (v * grid - terms).max() - 1e-12


@each(SEPARABLE)
def test_prox_minimises_its_objective(regularizer):
    for j in range(N):
        grid, terms = terms_on_grid(regularizer, j)
        for step in (1e-300, 0.01, 0.5, 2.0, 1e4):
            for x in (-4.0, -1.0, -0.2, 0.0, 0.3, 1.5, 6.0):
                w = regularizer.prox(x, step, j)
                reached = step * regularizer.term(w, j) + 0.5 * (w - x) ** 2
                near = [step * regularizer.term(w + e, j) + 0.5 * (w + e - x) ** 2 for e in (-1e-4, 1e-4)]
                assert reached <= min(*near, (step * terms + 0.5 * (grid - x) ** 2).min()) + 1e-12 * (1.0 + step)


@each(SEPARABLE)
def test_derivative_is_a_subgradient(regularizer, rng):
    for w in domain(regularizer, rng, 40, size=2.0):
        for j in range(N):
            grid, terms = terms_on_grid(regularizer, j)
            x = float(w[j])
            assert (terms >= regularizer.term(x, j) + regularizer.derivative(x, j) * (grid - x) - 1e-12).all()


@each(SEPARABLE)
def test_with_l2_adds_the_quadratic_term(regularizer, rng):
    more = regularizer.with_l2(0.7)
    assert more.strong_convexity() == pytest.approx(regularizer.strong_convexity() + 0.7)
    for w in domain(regularizer, rng, 20):
        assert value(more, w) == pytest.approx(value(regularizer, w) + 0.35 * w @ w)


@each([regularizer for regularizer in SEPARABLE if regularizer.strong_convexity() == 0.0])
def test_reach_bounds_all_weights_of_at_most_the_given_objective(regularizer, rng):
    assert math.isfinite(regularizer.reach(1.0, N))
    for w in domain(regularizer, rng, 200, size=3.0):
        assert np.linalg.norm(w) <= regularizer.reach(value(regularizer, w), N) + 1e-12


@each([regularizer for regularizer in SEPARABLE if hasattr(regularizer, "conjugate_within")])
@given(v=st.lists(st.floats(-5.0, 5.0), min_size=N, max_size=N), w=st.lists(st.floats(-5.0, 5.0), min_size=N, max_size=N))
@settings(deadline=None, max_examples=100, database=None)
def test_conjugate_within_bounds_all_weights_of_at_most_the_given_objective(regularizer, v, w):
    v, w = np.array(v), np.array(w)
    bound = regularizer.conjugate_within(v, value(regularizer, w))
    assert math.isfinite(bound)
    assert bound >= v @ w - value(regularizer, w) - 1e-10


@each([regularizer for regularizer in SEPARABLE if hasattr(regularizer, "within") and isinstance(regularizer.penalty, L1)])
def test_within_keeps_all_weights_of_at_most_the_given_objective(regularizer, rng):
    for w in domain(regularizer, rng, 100, size=3.0):
        cut = regularizer.within(value(regularizer, w))
        assert value(cut, w) == pytest.approx(value(regularizer, w))
        assert math.isfinite(conjugate(cut, 10.0 * rng.standard_normal(N)))


# ---- all regularizers, on vectors ----


@each(ALL)
def test_value_is_convex_and_finite_at_links(regularizer, rng):
    points = domain(regularizer, rng, 60)
    for a, b, t in zip(points, points[1:], rng.uniform(size=60), strict=False):
        assert value(regularizer, t * a + (1.0 - t) * b) <= t * value(regularizer, a) + (1.0 - t) * value(regularizer, b) + 1e-12
    for v in 0.2 * rng.standard_normal((20, N)):
        if math.isfinite(conjugate(regularizer, v)):
            assert math.isfinite(value(regularizer, link(regularizer, v)))


@each(ALL)
def test_fenchel_young(regularizer, rng):
    for scale in (0.1, 1.0, 30.0):
        for w, v in zip(domain(regularizer, rng, 60, scale), scale * rng.standard_normal((60, N)), strict=True):
            assert value(regularizer, w) + conjugate(regularizer, v) >= v @ w - 1e-10 * (1.0 + abs(v @ w))


@each(ALL)
def test_fenchel_young_is_an_equality_at_the_link(regularizer, rng):
    finite = 0
    for v in np.vstack([np.zeros(N), np.eye(N), *(scale * rng.standard_normal((10, N)) for scale in (0.1, 1.0, 30.0))]):
        best = conjugate(regularizer, v)
        if math.isfinite(best):
            w = link(regularizer, v)
            assert v @ w - value(regularizer, w) == pytest.approx(best, rel=1e-9, abs=1e-12)
            finite += 1
    assert finite > 0


@each(ALL)
def test_strong_convexity_holds_for_every_pair(regularizer, rng):
    constant = regularizer.strong_convexity()
    for size in (0.1, 1.0):
        points = domain(regularizer, rng, 200, size)
        for a, b in itertools.pairwise(points):
            middle = 0.5 * value(regularizer, a) + 0.5 * value(regularizer, b) - value(regularizer, 0.5 * (a + b))
            assert middle >= constant / 8.0 * norm(regularizer, a - b) ** 2 - 1e-12


@each([regularizer for regularizer in ALL if not isinstance(regularizer, Box)])
def test_strong_convexity_is_attained(regularizer):
    # These norms have the least curvature along steps that keep Σ|w| constant; too small a constant slows the dual solvers.
    radius = getattr(regularizer, "radius", INF)
    centre = np.array([0.0, 0.0]) if isinstance(regularizer, Entropy) else np.array([1.0, 1.0]) * min(1.0, 0.25 * radius)
    step = 1e-3 * np.array([1.0, -1.0]) * min(1.0, radius)
    least = value(regularizer, centre + step) + value(regularizer, centre - step) - 2.0 * value(regularizer, centre)
    assert least / norm(regularizer, step) ** 2 == pytest.approx(regularizer.strong_convexity(), rel=1e-3, abs=1e-8)


# ---- non-separable regularizers ----


@each(NON_SEPARABLE)
def test_link_maximises_the_conjugate(regularizer, rng):
    for v in (*rng.standard_normal((5, N)), 10.0 * np.eye(N)[0], np.array([1.0, -1.0, 0.0, 0.0])):
        w, best = link(regularizer, v), conjugate(regularizer, v)
        others = domain(regularizer, rng, 50)
        for t in (1e-4, 1e-2, 1.0):
            assert all(v @ x - value(regularizer, x) <= best + 1e-11 * (1.0 + abs(best)) for x in w + t * (others - w))


@each([regularizer for regularizer in NON_SEPARABLE if isinstance(regularizer, SquaredLp)])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e8])
def test_squared_lp_link_agrees_with_its_formula(regularizer, scale, rng):
    v = scale * np.append(rng.standard_normal(20), 0.0)
    assert link(regularizer, v) == pytest.approx(squared_lp_link(v, *regularizer), rel=1e-10, abs=1e-300)


@each([regularizer for regularizer in NON_SEPARABLE if isinstance(regularizer, Entropy)])
@pytest.mark.parametrize(
    ("scale", "accuracy"), [(1e-12, 1e-12), (1e-3, 1e-12), (1.0, 1e-12), (1e8, 1e-5)]
)  # e^x has relative accuracy x·1e-16
def test_entropy_link_agrees_with_its_formula(regularizer, scale, accuracy, rng):
    v = scale * np.append(rng.standard_normal(20), 0.0)
    assert link(regularizer, v) == pytest.approx(entropy_link(v, *regularizer), rel=accuracy, abs=1e-300)


@each(NON_SEPARABLE)
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e8, 1e100])
def test_links_of_extreme_vectors_neither_overflow_nor_underflow(regularizer, scale):
    v = scale * np.array([1.0, -0.5, 0.0, 0.9])
    w = link(regularizer, v)
    assert np.isfinite(w).all()
    assert math.isfinite(conjugate(regularizer, v))
    assert math.isfinite(value(regularizer, w))
    assert w[0] > 0.0 or scale == 1e-300
    assert w[1] <= 0.0
    assert w[2] == 0.0


@each(NON_SEPARABLE)
def test_link_conjugate_and_value_are_zero_at_zero(regularizer):
    assert link(regularizer, np.zeros(N)).tolist() == [0.0] * N
    assert conjugate(regularizer, np.zeros(N)) == pytest.approx(0.0, abs=1e-15)
    assert value(regularizer, np.zeros(N)) == pytest.approx(0.0, abs=1e-15)


@each(NON_SEPARABLE)
def test_gradient_agrees_with_finite_differences(regularizer, rng):
    h = 1e-6
    for w in 0.9 * domain(regularizer, rng, 20):
        gradient = np.full(N, np.nan)
        regularizer.gradient(w, gradient)
        d = rng.standard_normal(N) * min(1.0, getattr(regularizer, "radius", 1.0))
        low, high = value(regularizer, w - h * d), value(regularizer, w + h * d)
        # At w = 0 the second derivative of l_p norms is infinite, so compare with one-sided differences too.
        here = value(regularizer, w)
        assert (here - low) / h - 1e-6 <= gradient @ d <= (high - here) / h + 1e-6
        assert (high - low) / (2.0 * h) == pytest.approx(gradient @ d, rel=1e-3, abs=1e-3)


@each(NON_SEPARABLE)
def test_gradient_is_the_inverse_of_the_link(regularizer, rng):
    for v in 0.2 * rng.standard_normal((10, N)):
        w, back = link(regularizer, v), np.empty(N)
        if norm(regularizer, w) < 0.999 * regularizer.radius:  # on the sphere the link is not invertible
            regularizer.gradient(w, back)
            assert back == pytest.approx(v, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("size", [0.01, 1.0, 50.0])
def test_squared_lp_with_p_two_is_ridge(size, rng):
    for v in size * rng.standard_normal((10, N)):
        lp, l2 = SquaredLp(0.3, 2.0), L2(0.3)
        w = link(lp, v)
        assert w == pytest.approx(link(l2, v), rel=1e-12)
        assert value(lp, w) == pytest.approx(value(l2, w), rel=1e-12)
        assert conjugate(lp, v) == pytest.approx(conjugate(l2, v), rel=1e-12)


def test_a_radius_changes_the_link_only_if_it_is_exceeded(rng):
    v = rng.standard_normal(N)
    unbounded = link(SquaredLp(0.5, 1.5), v)
    length = np.linalg.norm(unbounded, 1.5)
    assert link(SquaredLp(0.5, 1.5, 1.01 * length), v) == pytest.approx(unbounded, rel=1e-12)
    bounded = link(SquaredLp(0.5, 1.5, 0.3 * length), v)
    assert bounded == pytest.approx(0.3 * unbounded, rel=1e-12)
    assert SquaredLp(0.5, 1.5, 0.3 * length).value(unbounded) == INF
    assert Entropy(1.0, 2.0).value(np.array([1.0, -1.5])) == INF
    assert np.abs(link(Entropy(1.0, 2.0), 100.0 * v)).sum() <= 2.0 * (1.0 + 1e-12)


def test_entropy_at_the_vertices_of_its_ball_is_log_2n():
    assert Entropy(0.5, 3.0).value(np.array([0.0, -3.0, 0.0, 0.0])) == pytest.approx(0.5 * 3.0 * math.log(2 * 4))


@each([Entropy(0.1, 5.0), SquaredLp(0.5, 1.5, 0.5), SquaredLp(0.5, 1.5)])
def test_link_and_value_agree_with_a_conic_solver(regularizer, rng):
    cp = pytest.importorskip("cvxpy")
    v = 0.2 * rng.standard_normal(N)
    w = cp.Variable(N)
    if isinstance(regularizer, Entropy):
        up, down = cp.Variable(N), cp.Variable(N)
        atoms = regularizer.radius / (2 * N)
        penalty = regularizer.strength * (cp.sum(cp.rel_entr(up, atoms)) + cp.sum(cp.rel_entr(down, atoms)))
        constraints = [w == up - down, cp.sum(up + down) == regularizer.radius]
    else:
        penalty = regularizer.strength / (2.0 * (regularizer.p - 1.0)) * cp.square(cp.pnorm(w, regularizer.p))
        constraints = [cp.pnorm(w, regularizer.p) <= regularizer.radius] if math.isfinite(regularizer.radius) else []
    best = cp.Problem(cp.Maximize(v @ w - penalty), constraints).solve(solver=cp.CLARABEL)
    assert best == pytest.approx(conjugate(regularizer, v), rel=1e-5, abs=1e-7)
    assert w.value == pytest.approx(link(regularizer, v), abs=1e-3 * regularizer.radius if math.isfinite(regularizer.radius) else 1e-3)
    fixed = np.array([0.1, -0.2, 0.0, 0.05])
    least = cp.Problem(cp.Minimize(penalty), [*constraints, w == fixed]).solve(solver=cp.CLARABEL)
    assert least == pytest.approx(value(regularizer, fixed), rel=1e-5, abs=1e-7)


# ---- as objects ----


@each(ALL)
def test_pickling_gives_the_same_regularizer(regularizer):
    again = pickle.loads(pickle.dumps(regularizer))
    assert type(again) is type(regularizer)
    assert all(np.array_equal(a, b) for a, b in zip(again, regularizer, strict=True))


def test_integer_parameters_become_floats():
    for made in (L1(1), L2(1), L1L2(l1=2, l2=1), SquaredLp(1, 2, 3), Entropy(1, 2)):
        assert [type(value) for value in made] == [float] * len(made)
    assert Box(0, [1, 2]).lower.dtype == Box(0, [1, 2]).upper.dtype == np.float64


@pytest.mark.parametrize(
    ("construct", "word"),
    [
        *[(lambda cls=cls, bad=bad: cls(bad), "strength") for cls in (L1, L2, SquaredLp, Entropy) for bad in (0.0, -1.0, INF, NAN)],
        *[(lambda bad=bad: L1L2(l1=1.0, l2=bad), "l2=") for bad in (0.0, -1.0, INF, NAN)],
        *[(lambda bad=bad: L1L2(l1=bad, l2=1.0), "l1=") for bad in (0.0, -1.0, INF, NAN)],
        *[(lambda p=p: SquaredLp(1.0, p), "p must lie in") for p in (1.0, 0.5, 2.01, -1.5, INF, NAN)],
        *[(lambda bad=bad: SquaredLp(1.0, 1.5, bad), "radius") for bad in (0.0, -1.0, NAN)],
        *[(lambda bad=bad: Entropy(1.0, bad), "radius") for bad in (0.0, -1.0, INF, NAN)],
        (lambda: L2(1.0)._replace(l2=-1.0), "strength"),
        (lambda: Box(1.0, 0.0), "lower"),
        (lambda: Box([0.0, 2.0], [1.0, 1.0]), "lower"),
        (lambda: Box(NAN, 1.0), "lower"),
        (lambda: Box(0.0, NAN, L2(1.0)), "lower"),
        (lambda: Box(0.0, 1.0, SquaredLp(1.0)), "SquaredLp"),
        (lambda: Box(0.0, 1.0, Entropy(1.0)), "Entropy"),
        (lambda: Box(0.0, INF), "finite bounds"),
        (lambda: Box(-INF, [1.0, 2.0]), "finite bounds"),
        (lambda: Box(INF, INF, L2(1.0)), "bound"),
        (lambda: Box([0.0, 0.0, 0.0], [1.0, 1.0], L2(1.0)), "bound"),
        (lambda: Box(0.0, 1.0, 0.5), "penalty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_parameters_are_refused_in_one_sentence(construct, word):
    with pytest.raises(ValueError, match=word) as caught:
        construct()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


def test_bounds_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError, match="must be a number or an array"):
        Box("low", 1.0)
