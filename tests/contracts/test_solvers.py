"""Properties of every solver, on every pair of loss and regularizer that it accepts."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers import solvers
from tests.contracts.pairs import (
    LOSSES,
    ONLINE,
    QUICK_LOSSES,
    QUICK_SOLVERS,
    REGULARIZERS,
    SAME_LOOP,
    WAYS,
    check_optimum,
    is_compiled,
    pairs,
    problem,
)
from tests.data import data

EVERY_WAY = [pytest.param(*way, marks=() if way[0] in QUICK_SOLVERS or way == ONLINE[0] else pytest.mark.slow) for way in WAYS + ONLINE]
RARE_LAYOUTS = [pytest.param(name, marks=pytest.mark.slow) for name in ("fortran", "float32", "csr-float32", "int64-indices")]
STRUCTURED = {"block-frank-wolfe"}  # for structured examples only: tested in tests/structured/test_problem.py
assert {name for name, _ in WAYS + ONLINE} == set(solvers()) - STRUCTURED, "add the new solver to WAYS or ONLINE"
assert {name for name, _ in ONLINE} == {name for name, solver in solvers().items() if solver.online}


def penalty_for(solver, strength):
    """The ridge, or the lasso for a solver that accepts nothing else."""
    ridge = fl.L2(strength)
    return ridge if solvers()[solver].refusal(problem(loss_for(solver), ridge)) is None else fl.L1(strength)


def loss_for(solver, smooth=fl.Logistic()):
    """A smooth loss, or the hinge for a solver of non-smooth losses."""
    return fl.Hinge() if solver == "interior-point" else smooth


def compiled():
    for loss, name, solver, options in (case for case in pairs() if is_compiled(*case)):
        quick = (solver in QUICK_SOLVERS and loss in QUICK_LOSSES) or (solver, loss, name) == ("pgs", "logistic", "l2")
        marks = () if quick and name in ("l1", "l2") and "predictor" not in options else pytest.mark.slow
        yield pytest.param(loss, name, solver, options, id="-".join([solver, *options.values(), loss, name]), marks=marks)


@pytest.mark.parametrize(("loss", "regularizer", "solver", "options"), list(compiled()))
def test_reaches_the_reference_optimum_and_certifies_it(loss, regularizer, solver, options):
    check_optimum(loss, regularizer, solver, options)


@pytest.mark.slow
def test_every_other_pair_reaches_the_reference_optimum_as_plain_python():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tests.contracts.pairs"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("loss", "regularizer"), [(x, r) for x in LOSSES for r in REGULARIZERS])
def test_every_pair_has_a_solver(loss, regularizer):
    chosen = problem(LOSSES[loss], REGULARIZERS[regularizer])
    able = [solver for solver in solvers().values() if solver.refusal(chosen) is None]
    named = [solver.name for solver in able if not solver.online] or [solver.name for solver in able]
    assert named
    for solver in solvers().values():
        if solver not in able:
            with pytest.raises(ValueError, match=f"{solver.name} needs .*: use solver='{named[0]}'"):
                fl.minimize(chosen, solver.name)


@pytest.mark.parametrize(("solver", "options"), EVERY_WAY)
def test_same_seed_same_result(solver, options):
    chosen = problem(loss_for(solver), penalty_for(solver, 0.01))
    first, second = (fl.minimize(chosen, solver, tol=0.0, max_passes=7, seed=3, **options) for _ in range(2))
    assert np.array_equal(first.w, second.w)
    assert np.array_equal(first.history["gap"], second.history["gap"])


@pytest.mark.parametrize(
    ("solver", "options"),
    [way for way in EVERY_WAY if way.values[0] not in ("lbfgs", "gcd", "working-set", "newton", "interior-point")],
)  # SciPy does not give out its state; a step of the others is a fraction of a pass, or several passes
def test_continuing_from_an_iterate_equals_an_uninterrupted_run(solver, options):
    chosen = problem(loss_for(solver), penalty_for(solver, 0.001))
    straight = fl.minimize(chosen, solver, tol=0.0, max_passes=9, **options)
    half = fl.minimize(chosen, solver, tol=0.0, max_passes=4, **options)
    rest = fl.minimize(chosen, solver, tol=0.0, max_passes=5, start=half, seed=99, **options)
    np.testing.assert_allclose(rest.iterate.w, straight.iterate.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layout", ["csr", "csc", *RARE_LAYOUTS])
@pytest.mark.parametrize(("solver", "options"), EVERY_WAY)
def test_layout_and_precision_do_not_matter(layout, solver, options):
    if (solver in SAME_LOOP or options.get("predictor")) and layout != "csr":
        pytest.skip("the loop is that of pgs, which is tried on every layout")

    def int64(X):
        X = sp.csr_array(X)
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return X

    convert = {
        "csr": sp.csr_array,
        "csc": sp.csc_matrix,
        "fortran": np.asfortranarray,
        "float32": lambda X: X.astype(np.float32),
        "csr-float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
        "int64-indices": int64,
    }[layout]
    exact = "float32" not in layout
    regularizer = fl.L1L2(l1=0.01, l2=0.01)
    regularizer = regularizer if solvers()[solver].refusal(problem(fl.SmoothHinge(), regularizer)) is None else penalty_for(solver, 0.01)
    changes = (np.array, convert)
    # The layout decides whether the working set uses a Gram matrix or columns: the steps differ, the result does not.
    limits = {"tol": 1e-12} if solver == "working-set" else {"tol": 0.0, "max_passes": 5}
    plain, other = (fl.minimize(problem(loss_for(solver, fl.SmoothHinge()), regularizer, c), solver, **limits, **options) for c in changes)
    np.testing.assert_allclose(other.w, plain.w, rtol=0, atol=(1e-6 if solver == "working-set" else 1e-9) if exact else 1e-4)


@pytest.mark.parametrize(("solver", "options"), EVERY_WAY)
@pytest.mark.parametrize("loss", ["logistic", pytest.param("softmax", marks=pytest.mark.slow)])
def test_integer_weights_are_repeated_rows(solver, options, loss):
    chosen = LOSSES[loss]
    X, y = data(chosen.labels)
    counts = np.arange(len(y)) % 3
    regularizer = penalty_for(solver, 0.1)
    weighted = fl.Problem(X, y, chosen, regularizer, sample_weight=counts)
    if (reason := solvers()[solver].refusal(weighted)) is not None:
        pytest.skip(f"{solver} needs {reason}")
    repeated = fl.Problem(np.repeat(X, counts, axis=0), np.repeat(y, counts), chosen, regularizer)
    online = solvers()[solver].online
    results = [fl.minimize(p, solver, tol=1e-3 if online else 1e-9, **options) for p in (weighted, repeated)]
    assert all(result.converged for result in results)
    np.testing.assert_allclose(results[0].w, results[1].w, atol=0.1 if online else 1e-3)
    assert results[0].objective == pytest.approx(results[1].objective, abs=2e-3 if online else 1e-8)


@pytest.mark.parametrize(("solver", "options"), EVERY_WAY)
def test_an_intercept_is_a_constant_feature(solver, options):
    X, y = data("binary")
    options = {**options, "tol": 1e-3 if solvers()[solver].online else 1e-10}  # the same steps, converged or not
    regularizer = penalty_for(solver, 0.05)
    built_in = fl.minimize(fl.Problem(X, y, loss_for(solver), regularizer, intercept=2.0), solver, **options)
    by_hand = fl.minimize(fl.Problem(np.c_[X, np.full(len(y), 2.0)], y, loss_for(solver), regularizer), solver, **options)
    np.testing.assert_allclose(built_in.w, by_hand.w, atol=1e-4)
    assert built_in.coef.shape == (X.shape[1],)
    assert built_in.intercept == pytest.approx(2.0 * built_in.w[-1])


@pytest.mark.parametrize("loss", ["smooth-hinge", "hinge", "logistic"])
@pytest.mark.parametrize("regularizer", ["l1", "l1-l2"])
def test_the_stopping_rules_of_the_paper_are_valid_bounds(loss, regularizer):
    """The lower bounds of the faithful variant lie below the optimum, also with smoothing and added curvature."""
    weak = {"l1": fl.L1(0.05), "l1-l2": fl.L1L2(l1=0.05, l2=1e-3)}[regularizer]
    chosen = problem(LOSSES[loss], weak)
    best = fl.minimize(chosen, "accelerated-sdca", tol=1e-7, max_passes=50_000, variant="practical").objective
    steps = solvers()["accelerated-sdca"].run(chosen, start=None, rng=np.random.default_rng(0), accuracy=1e-3)
    bounds = [iterate.lower_bound for iterate in itertools.islice(steps, 400)]
    assert max(bounds) <= best + 1e-9
    if loss != "hinge":
        assert max(bounds) >= best - 0.1, "a bound that never comes near could not stop anything"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("l2", [1e-8, 1e-9])
def test_acceleration_needs_fewer_passes_where_regularization_is_weak(l2):
    X, y = fl.datasets.make_text(20_000, seed=1)
    chosen = fl.Problem(X, y, fl.SmoothHinge(1.0), fl.L1L2(l1=1e-5, l2=l2))
    accelerated = fl.minimize(chosen, "accelerated-sdca", tol=1e-3, max_passes=1000)
    assert accelerated.converged
    for other in ("sdca", "fista"):
        assert not fl.minimize(chosen, other, tol=1e-3, max_passes=accelerated.passes).converged


DEGENERATE = {"zeros": np.zeros((6, 3)), "one row": np.array([[1.0, -2.0, 0.5]]), "one column": np.linspace(-1.0, 1.0, 6)[:, None]}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(("solver", "options"), EVERY_WAY)
def test_degenerate_data_are_solved(name, solver, options):
    matrix = DEGENERATE[name]
    y = np.where(np.arange(len(matrix)) % 2 == 0, 1.0, -1.0)
    degenerate = fl.Problem(matrix, y, loss_for(solver), penalty_for(solver, 0.1))
    result = fl.minimize(degenerate, solver, tol=1e-2, max_passes=2000, **options)
    assert np.isfinite(result.w).all()
    assert result.converged
