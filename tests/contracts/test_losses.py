"""Properties of every loss. A new file in fenchel/losses is tested automatically."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fenchel.losses import Hinge, Logistic, MulticlassHinge, SmoothHinge, SmoothMulticlassHinge, Softmax, losses
from fenchel.losses.smoothed import Smoothed, SmoothedVector, smoothed
from fenchel.losses.step_rule import with_step_rule
from tests.naive import dual_gain, simplex_points

# Parameter values tested in addition to the defaults.
PARAMETERS = {
    "epsilon-insensitive": [{"epsilon": 0.0}, {"epsilon": 0.5}],
    "huber": [{"delta": 0.25}, {"delta": 3.0}],
    "quantile": [{"tau": 0.1}, {"tau": 0.75}],
    "smooth-hinge": [{"gamma": 0.05}, {"gamma": 2.0}],
    "smooth-multiclass-hinge": [{"gamma": 0.05}, {"gamma": 3.0}],
}
BAD_PARAMETERS = [
    ("epsilon-insensitive", {"epsilon": -0.1}),
    ("epsilon-insensitive", {"epsilon": math.nan}),
    ("epsilon-insensitive", {"epsilon": math.inf}),
    ("huber", {"delta": 0.0}),
    ("huber", {"delta": -1.0}),
    ("huber", {"delta": math.inf}),
    ("huber", {"delta": math.nan}),
    ("quantile", {"tau": 0.0}),
    ("quantile", {"tau": 1.0}),
    ("quantile", {"tau": math.nan}),
    ("smooth-hinge", {"gamma": 0.0}),
    ("smooth-hinge", {"gamma": math.inf}),
    ("smooth-hinge", {"gamma": math.nan}),
    ("smooth-multiclass-hinge", {"gamma": -1.0}),
    ("smooth-multiclass-hinge", {"gamma": math.nan}),
]
LINE_SEARCHED = (Softmax,)  # the dual step is exact on a segment only, not on the whole simplex
K = 3
LABELS = {"real": [-1.5, 0.0, 2.0], "binary": [-1.0, 1.0], "class": list(range(K))}

BASIC = [cls(**values) for name, cls in losses().items() for values in [{}, *PARAMETERS.get(name, [])]]
SMOOTH = [loss for loss in BASIC if math.isfinite(loss.smoothness())]
NON_SMOOTH = [loss for loss in BASIC if math.isinf(loss.smoothness())]
SMOOTHED = [smoothed(loss, gamma) for loss in [*NON_SMOOTH, Logistic()] for gamma in (0.1, 2.0)]
RULES = [with_step_rule(loss) for loss in SMOOTH]
EXACT = [loss for loss in BASIC + SMOOTHED if not isinstance(loss, LINE_SEARCHED)]  # dual_step is the argmax
ALL = BASIC + SMOOTHED + RULES


def scalar(some):
    return [loss for loss in some if loss.labels != "class"]


def vector(some):
    return [loss for loss in some if loss.labels == "class"]


def each(some):
    return pytest.mark.parametrize("loss", some, ids=repr)


# Common interface to scalar and vector losses: predictions are floats or arrays of length K.


def predictions(loss, rng, count=40):
    if loss.labels == "class":
        return [
            *(scale * rng.standard_normal(K) for scale in (0.3, 3.0) for _ in range(count // 2)),
            np.zeros(K),
            np.array([1.0, 0.0, 1.0]),
        ]
    kinks = [-1.0, 0.0, 1.0, 2.0, -1.5]  # where the losses above are not differentiable
    return [*rng.uniform(-5.0, 5.0, count).tolist(), *kinks]


def derivative(loss, z, y):
    if loss.labels != "class":
        return loss.derivative(z, y)
    out = np.full(K, np.nan)
    loss.derivative(z, y, out)
    return out


def dual_step(loss, alpha, z, y, q):
    if loss.labels != "class":
        return loss.dual_step(alpha, z, y, q)
    out = np.full(K, np.nan)
    loss.dual_step(alpha, z, y, q, out)
    return out


def cases(loss, rng, count=40):
    return [(z, y) for y in LABELS[loss.labels] for z in predictions(loss, rng, count)]


def steps(loss, rng, qs, count=6):
    """(alpha, z, y, q) with a feasible alpha: minus the derivative at another prediction, or 0."""
    for q in qs:
        for y in LABELS[loss.labels]:
            zs = predictions(loss, rng, count)
            for z, elsewhere in zip(zs, reversed(zs), strict=True):
                yield -derivative(loss, elsewhere, y), z, y, q
            yield 0.0 * derivative(loss, zs[0], y), zs[0], y, q


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# ---- value and derivative ----


@each(ALL)
def test_value_is_non_negative_and_convex(loss, rng):
    for y in LABELS[loss.labels]:
        zs = predictions(loss, rng)
        for a, b, t in zip(zs, zs[1:], rng.uniform(size=len(zs)).tolist(), strict=False):
            at_a, at_b = loss.value(a, y), loss.value(b, y)
            assert at_a >= 0.0
            assert loss.value(t * a + (1.0 - t) * b, y) <= t * at_a + (1.0 - t) * at_b + 1e-12


@each(ALL)
def test_derivative_lies_between_the_one_sided_differences(loss, rng):
    # For convex functions this holds at kinks too, and elsewhere it determines the derivative.
    h, rounding = 1e-6, 1e-8
    for z, y in cases(loss, rng):
        d = rng.standard_normal(K) if loss.labels == "class" else 1.0
        directional = np.dot(derivative(loss, z, y), d)
        here = loss.value(z, y)
        assert (here - loss.value(z - h * d, y)) / h - rounding <= directional <= (loss.value(z + h * d, y) - here) / h + rounding


@each(ALL)
def test_derivative_is_a_subgradient(loss, rng):
    for y in LABELS[loss.labels]:
        zs = predictions(loss, rng)
        for z in zs:
            here, subgradient = loss.value(z, y), derivative(loss, z, y)
            for other in zs:
                assert loss.value(other, y) >= here + np.dot(subgradient, other - z) - 1e-12


@pytest.mark.parametrize("loss", scalar(ALL), ids=repr)
def test_extreme_predictions_give_finite_values(loss):
    for y in LABELS[loss.labels]:
        for z in (-1e8, -1e3, 1e3, 1e8):
            assert math.isfinite(loss.value(z, y))
            assert math.isfinite(loss.derivative(z, y))


@pytest.mark.parametrize("loss", vector(ALL), ids=repr)
def test_extreme_predictions_give_finite_vectors(loss):
    for y in LABELS["class"]:
        for z in (np.array([1e8, 0.0, -1e8]), np.array([-1e3, 1e3, 1e3])):
            assert math.isfinite(loss.value(z, y))
            assert np.isfinite(derivative(loss, z, y)).all()
            assert math.isfinite(loss.conjugate(derivative(loss, z, y), y))


# ---- conjugate ----


@pytest.mark.parametrize("loss", scalar(ALL), ids=repr)
@given(z=st.floats(-50.0, 50.0), u=st.floats(-3.0, 3.0), choice=st.integers(0, 2))
@settings(deadline=None, max_examples=100, database=None)
def test_fenchel_young(loss, z, u, choice):
    labels = LABELS[loss.labels]
    y = labels[choice % len(labels)]
    assert loss.value(z, y) + loss.conjugate(u, y) >= z * u - 1e-11


@each(vector(ALL))
def test_fenchel_young_for_vectors(loss, rng):
    for y in LABELS["class"]:
        domain = simplex_points(K, 40, rng) - np.eye(K)[y]
        assert all(math.isfinite(loss.conjugate(u, y)) for u in domain)
        for z in predictions(loss, rng):
            assert all(loss.value(z, y) + loss.conjugate(u, y) >= z @ u - 1e-12 for u in domain)


@each(vector(ALL))
def test_conjugate_is_infinite_off_the_simplex(loss, rng):
    # These losses do not change when a constant is added to all scores, so Σu = 0 on the domain.
    for u in (np.full(K, 0.1), np.array([0.5, 0.5, -0.9]), np.array([1.2, -1.2, 0.0]), np.array([0.0, 0.7, 0.7])):
        assert loss.conjugate(u, 0) == math.inf


@each(ALL)
def test_fenchel_young_is_an_equality_at_the_derivative(loss, rng):
    for z, y in cases(loss, rng):
        u = derivative(loss, z, y)
        assert loss.value(z, y) + loss.conjugate(u, y) == pytest.approx(np.dot(z, u), abs=1e-10)


@each(scalar(ALL))
def test_the_biconjugate_is_the_value(loss):
    u, spacing = np.linspace(-8.0, 8.0, 4001, retstep=True)
    for y in LABELS[loss.labels]:
        conjugates = np.array([loss.conjugate(float(x), y) for x in u])
        for z in np.linspace(-4.0, 4.0, 41):
            tolerance = spacing * (2.0 + abs(z) + abs(y))  # the best u may lie between two points of the grid
            assert (z * u - conjugates).max() == pytest.approx(loss.value(float(z), y), abs=tolerance)


# ---- dual step ----


@each(scalar(EXACT))
def test_dual_step_is_at_least_as_good_as_a_grid_search(loss, rng):
    for alpha, z, y, q in steps(loss, rng, qs=(1e-3, 0.1, 1.0, 30.0, 1e6)):
        a = dual_step(loss, alpha, z, y, q)
        reached = dual_gain(loss, a, alpha, z, y, q)
        # The maximiser lies between α and −φ'(z); the grid extends further in order not to rely on that.
        ends = sorted([alpha, -loss.derivative(z, y)])
        others = [*np.linspace(ends[0] - 0.3, ends[1] + 0.3, 200).tolist(), a - 1e-3, a + 1e-3, a - 1e-5, a + 1e-5, alpha]
        best = max(dual_gain(loss, other, alpha, z, y, q) for other in others)
        assert math.isfinite(reached)
        assert reached >= best - 1e-11 * (1.0 + abs(best))


@each(vector(EXACT))
def test_no_feasible_direction_improves_the_dual_step(loss, rng):
    # The objective is concave: a point is optimal if no step towards another feasible point improves it.
    for alpha, z, y, q in steps(loss, rng, qs=(1e-3, 0.1, 1.0, 30.0, 1e6)):
        a = dual_step(loss, alpha, z, y, q)
        reached = dual_gain(loss, a, alpha, z, y, q)
        assert math.isfinite(reached)
        for other in np.eye(K)[y] - simplex_points(K, 8, rng):
            for t in (1e-6, 1e-3, 0.1, 1.0):
                assert dual_gain(loss, a + t * (other - a), alpha, z, y, q) <= reached + 1e-11 * (1.0 + abs(reached))


def test_softmax_dual_step_is_the_best_point_of_its_segment(rng):
    loss = Softmax()
    for alpha, z, y, q in steps(loss, rng, qs=(1e-3, 0.1, 1.0, 30.0, 1e6)):
        reached = dual_gain(loss, dual_step(loss, alpha, z, y, q), alpha, z, y, q)
        end = -derivative(loss, z, y)
        best = max(dual_gain(loss, alpha + s * (end - alpha), alpha, z, y, q) for s in np.linspace(0.0, 1.0, 201))
        assert reached >= best - 1e-11 * (1.0 + abs(best))


@each(SMOOTH + SMOOTHED + RULES)
def test_dual_step_increases_the_dual_by_at_least_the_bound_of_prox_sdca(loss, rng):
    # Lemma 1 of Prox-SDCA: the gain is at least s·(φ(z) + φ*(−α) + zα) with s = γ/(γ + q).
    gamma = 1.0 / loss.smoothness()
    for alpha, z, y, q in steps(loss, rng, qs=(1e-3, 0.1, 1.0, 30.0, 1e6)):
        a = dual_step(loss, alpha, z, y, q)
        gain = dual_gain(loss, a, alpha, z, y, q) - dual_gain(loss, alpha, alpha, z, y, q)
        guaranteed = gamma / (gamma + q) * (loss.value(z, y) + loss.conjugate(-alpha, y) + np.dot(z, alpha))
        assert gain >= guaranteed - 1e-11


@each(ALL)
@pytest.mark.parametrize("q", [1e-300, 1e-30, 1e-12])
def test_dual_step_attains_the_value_as_q_goes_to_zero(loss, q, rng):
    # Without the quadratic term the maximum is φ(z). q is this small for rows that are (nearly) empty.
    for alpha, z, y, _ in steps(loss, rng, qs=(q,)):
        a = dual_step(loss, alpha, z, y, q)
        assert np.isfinite(a).all()
        assert -loss.conjugate(-a, y) - np.dot(z, a) == pytest.approx(loss.value(z, y), rel=1e-6, abs=1e-9)


@each(ALL)
@pytest.mark.parametrize("q", [1e12, 1e100, 1e300])
def test_dual_step_does_not_move_as_q_goes_to_infinity(loss, q, rng):
    for alpha, z, y, _ in steps(loss, rng, qs=(q,)):
        a = dual_step(loss, alpha, z, y, q)
        assert a == pytest.approx(alpha, abs=1e-8)
        assert math.isfinite(loss.conjugate(-a, y))


# ---- constants ----


@each(ALL)
def test_derivative_is_lipschitz_with_the_smoothness_constant(loss, rng):
    constant = loss.smoothness()
    for y in LABELS[loss.labels]:
        zs = predictions(loss, rng)
        for a, b in itertools.pairwise(zs):
            assert np.linalg.norm(derivative(loss, a, y) - derivative(loss, b, y)) <= constant * np.linalg.norm(a - b) * (1.0 + 1e-9)


@pytest.mark.parametrize("loss", scalar(SMOOTH), ids=repr)
def test_curvature_is_the_derivative_of_the_derivative(loss, rng):
    assert hasattr(loss, "curvature"), "Newton steps need it"
    for y in LABELS[loss.labels]:
        for z in 3.0 * rng.standard_normal(200):
            before, after = (loss.derivative(z + h, y) for h in (-1e-6, 1e-6))
            jumps = abs(loss.curvature(z - 2e-6, y) - loss.curvature(z + 2e-6, y)) > 1e-3 * loss.smoothness()
            assert jumps or loss.curvature(z, y) == pytest.approx((after - before) / 2e-6, abs=1e-5 / loss.smoothness() + 1e-4)
            assert 0.0 <= loss.curvature(z, y) <= loss.smoothness() * (1 + 1e-12)


@each(SMOOTH + [loss for loss in SMOOTHED if math.isinf(loss.loss.smoothness())])
def test_smoothness_is_attained(loss, rng):
    # Too large a constant slows every solver that uses it.
    y, h = LABELS[loss.labels][0], 1e-4
    if loss.labels == "class":
        # The derivatives change fastest where two classes have nearly equal scores and the others much lower ones.
        near = [z + np.array([0.0, gap, -50.0]) for z in 0.1 * rng.standard_normal((20, K)) for gap in (0.0, -1.0, 1.0)]
        pairs = [(z, z + h * np.array([1.0, -1.0, 0.0])) for z in near]
    else:
        pairs = [(z, z + h) for z in np.linspace(-5.0, 5.0, 2001).tolist()]
    steepest = max(np.linalg.norm(derivative(loss, a, y) - derivative(loss, b, y)) / np.linalg.norm(a - b) for a, b in pairs)
    assert steepest == pytest.approx(loss.smoothness(), rel=0.01)


@each([loss for loss in ALL if hasattr(loss, "lipschitz")])
def test_lipschitz_constant_is_attained_and_not_exceeded(loss, rng):
    norms = [np.linalg.norm(derivative(loss, z, y)) for z, y in cases(loss, rng)]
    far = [30.0 * np.eye(K)[k] for k in range(K)] if loss.labels == "class" else [-30.0, 30.0]
    norms += [np.linalg.norm(derivative(loss, z, y)) for z in far for y in LABELS[loss.labels]]
    assert max(norms) == pytest.approx(loss.lipschitz(), rel=0.01)
    assert max(norms) <= loss.lipschitz() * (1.0 + 1e-12)


@pytest.mark.parametrize("cls", losses().values(), ids=losses())
def test_a_loss_without_a_lipschitz_constant_has_unbounded_derivatives(cls):
    loss = cls()
    if not hasattr(loss, "lipschitz"):
        y = LABELS[loss.labels][0]
        assert max(abs(loss.derivative(z, y)) for z in (-1e6, 1e6)) > 1e5


# ---- smoothing ----


@pytest.mark.parametrize("gamma", [0.05, 1.0, 3.0])
@pytest.mark.parametrize(
    ("general", "special"),
    [(lambda g: Smoothed(Hinge(), g), SmoothHinge), (lambda g: SmoothedVector(MulticlassHinge(), g), SmoothMulticlassHinge)],
)
def test_smoothed_hinges_agree_with_their_closed_forms(general, special, gamma, rng):
    one, two = general(gamma), special(gamma)
    assert one.smoothness() == two.smoothness()
    for z, y in cases(two, rng):
        u = derivative(two, z, y)
        assert derivative(one, z, y) == pytest.approx(u, abs=1e-12)
        assert one.value(z, y) == pytest.approx(two.value(z, y), abs=1e-12)
        assert one.conjugate(u, y) == pytest.approx(two.conjugate(u, y), abs=1e-12)
    for alpha, z, y, q in steps(two, rng, qs=(0.1, 10.0)):
        assert dual_step(one, alpha, z, y, q) == pytest.approx(dual_step(two, alpha, z, y, q), abs=1e-12)


@each([loss for loss in SMOOTHED if hasattr(loss.loss, "lipschitz")])
def test_smoothing_lowers_the_value_by_at_most_half_gamma_times_lipschitz_squared(loss, rng):
    lowered = [loss.loss.value(z, y) - loss.value(z, y) for z, y in cases(loss, rng)]
    assert min(lowered) >= -1e-12
    assert max(lowered) <= 0.5 * loss.gamma * loss.loss.lipschitz() ** 2 + 1e-12


# ---- as objects ----


@pytest.mark.parametrize("cls", losses().values(), ids=losses())
def test_labels_are_of_a_known_kind(cls):
    assert cls().labels in LABELS


@each(SMOOTHED + RULES)
def test_wrappers_have_the_labels_of_their_loss(loss):
    assert loss.labels == loss.loss.labels


@each(ALL)
def test_pickling_gives_the_same_loss(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert type(again) is type(loss)


@pytest.mark.parametrize(
    "cls", [cls for cls in losses().values() if cls._fields and "tau" not in cls._fields], ids=lambda cls: cls.__name__
)
def test_integer_parameters_become_floats(cls):
    whole, real = cls(*[1] * len(cls._fields)), cls(*[1.0] * len(cls._fields))
    assert whole == real
    assert [type(value) for value in whole] == [float] * len(cls._fields)
    assert [type(value) for value in whole._replace(**{cls._fields[0]: 2})] == [float] * len(cls._fields)


@pytest.mark.parametrize(("name", "parameters"), BAD_PARAMETERS)
def test_invalid_parameters_are_refused_in_one_sentence(name, parameters):
    cls = losses()[name]
    for construct in (lambda: cls(**parameters), lambda: cls()._replace(**parameters)):
        with pytest.raises(ValueError, match=next(iter(parameters))) as caught:
            construct()
        message = str(caught.value)
        assert message.startswith(cls.__name__)
        assert message.endswith(".")
        assert "\n" not in message


@pytest.mark.parametrize("cls", [cls for cls in losses().values() if cls._fields], ids=lambda cls: cls.__name__)
def test_parameters_that_are_not_numbers_are_refused(cls):
    with pytest.raises(TypeError, match="must be a number"):
        cls("wide")


@pytest.mark.parametrize("loss", [loss for loss in scalar(ALL) if hasattr(loss, "boxes")], ids=repr)
def test_a_loss_of_linear_and_quadratic_pieces_is_a_maximum_over_boxes(loss, rng):
    z = rng.uniform(-5.0, 5.0, 200)
    y = np.where(rng.random(200) < 0.5, -1.0, 1.0) if loss.labels == "binary" else rng.uniform(-3.0, 3.0, 200)
    total, gamma = np.zeros(200), getattr(loss, "box_curvature", 0.0)
    for t, low, high in loss.boxes(y):
        a = np.clip((t - z) / gamma, low, high) if gamma > 0.0 else np.where(t > z, high, low)
        total += a * (t - z) - 0.5 * gamma * a * a
    np.testing.assert_allclose(total, [loss.value(*pair) for pair in zip(z, y, strict=True)], atol=1e-12)
