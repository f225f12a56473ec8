"""Rows on disk: every row once in every pass, products as in memory, solvers that certify, and those that say why they cannot."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.core.errors import InputError
from fenchel.linalg import rows_on_disk as module
from fenchel.linalg.rows_on_disk import RowsOnDisk
from fenchel.solvers import solvers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    fl.datasets.write_svmlight(folder / "a.svm", *fl.datasets.make_text(3000, n=200, nonzeros=12, seed=0))
    fl.datasets.convert(folder / "a.svm", folder / "sparse.store")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    lines = [",".join(f"{x:.4f}" for x in row) + f",{'yes' if row[0] + rng.standard_normal() > 0 else 'no'}\n" for row in X]
    (folder / "b.csv").write_text("a,b,c,d,e,f,class\n" + "".join(lines))
    fl.datasets.convert(folder / "b.csv", folder / "dense.store")
    return folder


@pytest.fixture(params=["sparse.store", "dense.store"])
def data(request, folder, monkeypatch):
    """A store that is larger than the memory, in blocks of a few hundred rows."""
    monkeypatch.setattr(module, "BLOCK", 1 << 13)
    return fl.datasets.open(folder / request.param)


def problems(data, loss, regularizer, **options):
    """The same problem with rows on disk and in memory."""
    y = np.where(data.y == data.y[0], 1.0, -1.0)
    X = data.X.copy() if sp.issparse(data.X) else np.array(data.X)
    on_disk = fl.Problem(data.X, y, loss, regularizer, **options).with_memory(LITTLE)
    assert on_disk.design.on_disk is not None
    in_memory = fl.Problem(X, y, loss, regularizer, **options)
    assert in_memory.design.on_disk is None
    return on_disk, in_memory


LITTLE = 30_000 * 16  # bytes: more than the vectors, less than the rows


@pytest.fixture(autouse=True)
def little_vectors(monkeypatch):
    """The rows of the tests are few, and their vectors as large as they are."""
    monkeypatch.setattr("fenchel.problems.problem.VECTORS_OF_ROWS", 1)
    monkeypatch.setattr(module, "memory", lambda: 1000)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 3000), st.integers(1, 1 << 16), st.integers(0, 10**6))
def test_a_pass_visits_every_row_once(m, block, seed):
    rows = RowsOnDisk.__new__(RowsOnDisk)
    rows.m, rows.arrays, rows._files, rows._pool, rows.storage = m, [], None, None, np.empty((m, 1))
    rows.rows_per_block = max(1, min(m // module.LEAST_BLOCKS, block))
    visited = np.concatenate(list(rows.shuffled(np.random.default_rng(seed))))
    assert sorted(visited.tolist()) == list(range(m))
    assert [row for first, last in rows.in_order() for row in range(first, last)] == list(range(m))


def test_orders_differ_from_pass_to_pass_and_stay_within_blocks(data):
    rows = fl.Problem(data.X, np.where(data.y == data.y[0], 1.0, -1.0), fl.Hinge(), fl.L2(1.0)).design.on_disk
    rng = np.random.default_rng(0)
    first, second = (list(rows.shuffled(rng)) for _ in range(2))
    assert rows.count >= module.LEAST_BLOCKS
    assert (np.concatenate(first) != np.concatenate(second)).any()
    for part in first:
        assert len({row // rows.rows_per_block for row in part.tolist()}) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_products_are_those_of_rows_in_memory(data, threads, monkeypatch):
    monkeypatch.setattr("fenchel.linalg.design.PARALLEL_FROM", 1)
    on_disk, in_memory = (problem.with_threads(threads) for problem in problems(data, fl.Hinge(), fl.L2(1.0)))
    rng = np.random.default_rng(0)
    w, a = rng.standard_normal(on_disk.n), rng.standard_normal(on_disk.m)
    np.testing.assert_allclose(on_disk.design.matvec(w), in_memory.design.matvec(w), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(on_disk.design.rmatvec(a), in_memory.design.rmatvec(a), rtol=1e-12, atol=1e-10)


REGULARIZERS = [fl.L2(1e-3), fl.L1(1e-3), fl.L1L2(l1=1e-3, l2=1e-3), fl.SquaredLp(1e-2, 1.5)]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=lambda regularizer: type(regularizer).__name__)
@pytest.mark.parametrize("loss", [fl.Hinge(), fl.Logistic(), fl.Squared()], ids=lambda loss: type(loss).__name__)
def test_auto_certifies_the_same_problem(data, loss, regularizer):
    on_disk, in_memory = problems(data, loss, regularizer)
    found = fl.minimize(on_disk, tol=1e-3, max_passes=3000)
    assert found.converged
    best = fl.minimize(in_memory, tol=1e-5, max_passes=3000)
    assert best.dual_objective - 1e-12 <= found.objective <= best.objective + 1.01e-3 * on_disk.scale
    assert found.dual_objective <= best.objective


@pytest.mark.parametrize("name", sorted(solvers()))
def test_every_solver_runs_or_says_why_it_cannot(data, name):
    for loss, regularizer in ((fl.Logistic(), fl.L2(1e-2)), (fl.Logistic(), fl.L1(1e-3))):
        on_disk, in_memory = problems(data, loss, regularizer)
        solver = solvers()[name]
        if solver.refusal(in_memory) is not None:
            continue
        if solver.by_columns:
            with pytest.raises(InputError, match="rows on disk that are larger than the memory are read by rows"):
                fl.minimize(on_disk, name)
            continue
        found, alone = (fl.minimize(problem, name, tol=1e-2, max_passes=50) for problem in (on_disk, in_memory))
        assert found.objective <= on_disk.objective_at_zero
        assert found.dual_objective <= alone.objective + 1e-9


def test_the_same_seed_gives_the_same_result(data):
    on_disk, _ = problems(data, fl.Hinge(), fl.L2(1e-3))
    first, again = (fl.minimize(on_disk, "sdca", seed=3, tol=1e-3, threads=1) for _ in range(2))
    np.testing.assert_array_equal(first.w, again.w)


def test_paths_and_estimators_take_rows_on_disk(data, monkeypatch):
    y = np.where(data.y == data.y[0], 1.0, -1.0)
    found = fl.path(data.X, y, fl.Squared(), n_strengths=4, ratio=0.1, tol=1e-2)
    X = data.X.copy() if sp.issparse(data.X) else np.array(data.X)
    expected = fl.path(X, y, fl.Squared(), strengths=found.strengths, tol=1e-2)
    assert (np.abs(found["objective"] - expected["objective"]) <= 2e-2 * expected["objective"]).all()
    assert fl.LinearSVC(C=0.1).fit(data.X, y).score(X, y) == pytest.approx(fl.LinearSVC(C=0.1).fit(X, y).score(X, y), abs=0.02)


def test_a_budget_that_the_vectors_exceed_is_refused(folder, monkeypatch):
    data = fl.datasets.open(folder / "dense.store")
    problem = fl.Problem(data.X, np.where(data.y == "yes", 1.0, -1.0), fl.Hinge(), fl.L2(1.0))
    with pytest.raises(InputError, match=r"memory=1000: the vectors of this problem take about"):
        fl.minimize(problem, memory=1000)
    for memory in (0, -1, "much", 1.5, True):
        with pytest.raises(InputError, match="give a number of bytes, or a text such as '500MB'"):
            fl.minimize(problem, memory=memory)


def test_blocks_are_fetched_before_they_are_used(data, monkeypatch):
    if not hasattr(os, "posix_fadvise"):
        pytest.skip("this system takes no advice about files")
    fetched = []
    monkeypatch.setattr(RowsOnDisk, "_fetch", lambda self, block: fetched.append(block))
    rows = fl.Problem(data.X, np.where(data.y == data.y[0], 1.0, -1.0), fl.Hinge(), fl.L2(1.0)).design.on_disk
    for k, _ in enumerate(rows.in_order()):
        assert k in fetched
    assert fetched == list(range(rows.count))
