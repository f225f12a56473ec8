"""Checkpoints: every solver goes on where it was, other data and arguments are refused, and damage is reported."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.core.errors import InputError
from fenchel.driver import checkpoint as module
from fenchel.driver.fingerprint import data_of
from fenchel.solvers import solvers
from tests.data import signed_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = signed_rows()
PROBLEMS = {
    "ridge": fl.Problem(X, Y, fl.Logistic(), fl.L2(1e-2)),
    "hinge": fl.Problem(X, Y, fl.Hinge(), fl.L2(1e-2)),
    "lasso": fl.Problem(X, Y, fl.Logistic(), fl.L1(1e-3)),
    "free": fl.Problem(X, Y, fl.Squared(), fl.L2(1e-2), intercept="free"),
    "classes": fl.Problem(X, (np.arange(len(Y)) % 3), fl.Softmax(), fl.L2(1e-2)),
    "structured": fl.structured.Problem(fl.structured.Multiclass(), X, np.where(Y > 0, "a", "b").tolist(), fl.L2(1e-2)),
}


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", sorted(solvers()))
def test_a_run_that_was_cut_goes_on_to_the_certificate(tmp_path, name, kind):
    problem = PROBLEMS[kind]
    if solvers()[name].refusal(problem) is not None:
        return
    whole = fl.minimize(problem, name, tol=1e-2, max_passes=60)
    file = tmp_path / "run.ckpt"
    passes = 0.0
    for most in (3, 9, 60):
        found = fl.minimize(problem, name, tol=1e-2, max_passes=most, checkpoint=file)
        assert found.passes >= passes
        passes = found.passes
    assert found.converged >= whole.converged or found.gap <= 1.5 * whole.gap
    assert found.dual_objective <= whole.objective + 1e-12
    assert (np.diff(found.history["passes"]) >= 0.0).all()


@pytest.mark.parametrize("name", ["sdca", "pgs", "fista", "scd"])
def test_a_run_in_pieces_is_the_run_as_a_whole(tmp_path, name):
    """Where all private state is kept, the weights are the same to the last digit but for what is computed again at the start."""
    problem, file = PROBLEMS["lasso" if name == "scd" else "ridge"], tmp_path / "run.ckpt"
    whole = fl.minimize(problem, name, tol=0.0, max_passes=12)
    for most in (4, 8, 12):
        found = fl.minimize(problem, name, tol=0.0, max_passes=most, checkpoint=file)
    np.testing.assert_allclose(found.iterate.w, whole.iterate.w, rtol=1e-6, atol=1e-9)


def test_a_finished_run_is_done_at_once(tmp_path):
    file = tmp_path / "run.ckpt"
    first = fl.minimize(PROBLEMS["ridge"], "sdca", tol=1e-6, checkpoint=file)
    again = fl.minimize(PROBLEMS["ridge"], "sdca", tol=1e-6, checkpoint=file)
    assert again.converged
    assert again.passes == first.passes
    np.testing.assert_array_equal(again.w, first.w)


def test_other_data_and_arguments_are_refused(tmp_path):
    file = tmp_path / "run.ckpt"
    fl.minimize(PROBLEMS["ridge"], "sdca", checkpoint=file)
    other = fl.Problem(X + 1e-9, Y, fl.Logistic(), fl.L2(1e-2))
    with pytest.raises(InputError, match=r"run\.ckpt is a checkpoint of a run with other data: give another file"):
        fl.minimize(other, "sdca", checkpoint=file)
    for problem, solver, options in [
        (PROBLEMS["ridge"], "pgs", {}),
        (PROBLEMS["ridge"], "sdca", {"tol": 1e-5}),
        (PROBLEMS["ridge"], "sdca", {"seed": 1}),
        (PROBLEMS["ridge"], "sdca", {"shrinking": False}),
        (PROBLEMS["ridge"].replace(regularizer=fl.L2(1.0)), "sdca", {}),
        (PROBLEMS["ridge"].replace(loss=fl.SquaredHinge()), "sdca", {}),
    ]:
        with pytest.raises(InputError, match=r"is a checkpoint of a run with other arguments \(Logistic"):
            fl.minimize(problem, solver, checkpoint=file, **options)
    with pytest.raises(InputError, match="a stream is read once"):
        fl.minimize(fl.Stream([(X, Y)], fl.Logistic(), fl.L2(1.0)), checkpoint=file)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**9), st.integers(1, 255))
def test_any_changed_byte_is_reported(tmp_path_factory, place, change):
    file = tmp_path_factory.mktemp("damaged") / "run.ckpt"
    fl.minimize(PROBLEMS["ridge"], "sdca", max_passes=2, checkpoint=file)
    whole = bytearray(file.read_bytes())
    whole[place % len(whole)] ^= change
    file.write_bytes(whole)
    with pytest.raises(InputError, match=r"damaged|is not a checkpoint|another version|other data|other arguments"):
        fl.minimize(PROBLEMS["ridge"], "sdca", max_passes=2, checkpoint=file)


def test_other_files_are_not_called_damaged_alone(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:2\n" * 10)
    with pytest.raises(InputError, match=r"rows\.svm is no checkpoint, or is damaged .*: give another file"):
        fl.minimize(PROBLEMS["ridge"], checkpoint=tmp_path / "rows.svm")
    with (
        pytest.raises(InputError, match=r"rows\.svm is a file, and checkpoints are kept in a folder"),
        fl.checkpoints(tmp_path / "rows.svm"),
    ):
        pass


def test_a_forged_solver_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "run.ckpt"
    fl.minimize(PROBLEMS["ridge"], "sdca", max_passes=2, checkpoint=file)
    found, tensors = module._read(file)
    from safetensors.numpy import save

    for change in (
        {"solver": "os"},
        {"solver": "pgs", "options": {"nothing": 1}},
        {"history": "x"},
        {"iterate": []},
        {"state": {"array": "9"}},
    ):
        header = json.dumps({**found, **change})
        file.write_bytes(save(tensors, metadata={"format": module.FORMAT, "header": header, "crc": module._crc(header, tensors)}))
        with pytest.raises((InputError, TypeError)):
            fl.minimize(PROBLEMS["ridge"], "sdca", max_passes=2, checkpoint=file)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**130), 2**130), st.floats(), st.text(max_size=4)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=100)
@given(values)
def test_values_come_back_as_they_were(value):
    tensors = {}
    encoded = json.loads(json.dumps(module._encoded(value, tensors)))
    assert repr(module._value(encoded, tensors)) == repr(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(3), np.zeros((2, 0)), np.array(1.5), np.array([True]), np.ones((2, 3), np.float32).T, np.int64(2), np.zeros(2, "i4,f8")],
    ids=lambda array: str(array.dtype),
)
def test_arrays_come_back_as_they_were(array):
    tensors = {}
    found = module._value(json.loads(json.dumps(module._encoded(array, tensors))), tensors)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert type(found) is type(array)


def test_a_record_of_state_comes_back_as_one():
    record = np.rec.array(np.zeros(1, [("x", "f8"), ("n", "i8")]))[0]
    record.x = 2.5
    tensors = {}
    found = module._value(json.loads(json.dumps(module._encoded(record, tensors))), tensors)
    assert isinstance(found, np.record)
    assert found.x == 2.5


def test_all_runs_of_a_fit_are_kept_in_a_folder(tmp_path):
    labels = np.arange(len(Y)) % 3
    with fl.checkpoints(tmp_path / "fit", seconds=0.0):
        first = fl.LinearSVC(C=0.1).fit(X, labels)
    files = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "fit").iterdir()}
    assert len(files) == 3
    with fl.checkpoints(tmp_path / "fit", seconds=0.0):
        again = fl.LinearSVC(C=0.1).fit(X, labels)
    np.testing.assert_allclose(again.coef_, first.coef_, atol=1e-3)
    assert {path.name for path in (tmp_path / "fit").iterdir()} == set(files)
    fl.LinearSVC(C=0.2).fit(X, labels)
    assert len(list((tmp_path / "fit").iterdir())) == 3


def test_short_runs_are_not_kept(tmp_path):
    with fl.checkpoints(tmp_path / "fit"):
        fl.LogisticRegression().fit(X, Y)
    assert not list((tmp_path / "fit").iterdir())


def _train(file):
    module.SECONDS = 0.0
    fl.minimize(PROBLEMS["hinge"].replace(regularizer=fl.L2(1e-6)), "pgs", tol=0.0, max_passes=3000, checkpoint=file)


@pytest.mark.slow
def test_killed_runs_leave_whole_checkpoints(tmp_path):
    rng, context, file = np.random.default_rng(0), multiprocessing.get_context("fork"), tmp_path / "run.ckpt"
    passes = []
    for _ in range(12):
        process = context.Process(target=_train, args=(file,))
        process.start()
        process.join(rng.uniform(0.1, 0.5))
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        if file.exists():
            passes.append(module._read(file)[0]["passes"])
    assert len(passes) > 3
    assert passes == sorted(passes)
    assert passes[-1] > passes[0]


def test_the_number_of_data_depends_on_all_of_it():
    plain = data_of(PROBLEMS["ridge"])
    changed = X.copy()
    changed[3, 2] += 1e-12
    assert data_of(fl.Problem(changed, Y, fl.Hinge(), fl.L2(1.0))) != plain
    assert data_of(fl.Problem(X, Y, fl.Hinge(), fl.L2(1.0))) == plain
    assert data_of(fl.Problem(X, Y, fl.Hinge(), fl.L2(1.0), sample_weight=np.arange(len(Y)) + 1.0)) != plain
    assert data_of(PROBLEMS["structured"]) != plain
