"""Streams: the same result as in memory for the same order, one chunk held at a time, and errors that say which chunk."""

from __future__ import annotations

import gc
import itertools
import re
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel.solvers import solvers
from tests.data import signed_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TEXT = {"m": 300, "n": 120, "nonzeros": 10, "seed": 2}
X, Y = signed_rows()
LASSO = {"smidas", "truncgrad"}  # they take no ridge, and meet streams in test_truncated_steps
ONLINE = [name for name, solver in solvers().items() if solver.online and name not in LASSO]
SIZES = [1, 7, 100, 3, 64, 125]  # 300 rows


def cut(*arrays, sizes=SIZES):
    edges = np.cumsum([0, *sizes])
    return [tuple(a[i:j] for a in arrays) for i, j in itertools.pairwise(edges)]


def both(stream, problem, solver, passes=1, **options):
    """Where a stream and the same rows in memory, in their own order, end up."""
    read = fl.minimize(stream, solver, **options)
    assert read.status == "exhausted"
    held = fl.minimize(problem, solver, tol=0.0, max_passes=passes, sampling="sequential", **options)
    return read, held


@pytest.mark.parametrize("solver", ONLINE)
@pytest.mark.parametrize("batch", [1, 8])
def test_a_stream_is_the_same_rows_in_memory(text, solver, batch):
    X, y = text
    regularizer = fl.L2(1e-3)
    stream = fl.Stream(cut(X, y), fl.Hinge(), regularizer)
    read, held = both(stream, fl.Problem(X, y, fl.Hinge(), regularizer), solver, batch=batch)
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12 * np.abs(read.w).max())


@pytest.mark.parametrize(
    ("loss", "regularizer"),
    [
        (fl.Squared(), fl.L2(1e-2)),  # its ball grows with what has been seen
        (fl.Squared(), fl.SquaredLp(1e-2, 1.5)),
        (fl.Logistic(), fl.SquaredLp(1e-3, 1.8)),
        (fl.Hinge(), fl.L1L2(l1=1e-3, l2=1e-2)),
        pytest.param(fl.Softmax(), fl.L2(1e-3), marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("predictor", ["last", *(pytest.param(name, marks=pytest.mark.slow) for name in ("average", "suffix", "random"))])
def test_a_stream_is_the_same_rows_in_memory_for_every_kind_of_loss_and_regularizer(text, loss, regularizer, predictor):
    X, y = text
    classes = 3 if loss.labels == "class" else None
    y = np.arange(len(y)) % 3 if classes else y
    stream = fl.Stream(cut(X, y), loss, regularizer, classes=classes)
    read, held = both(stream, fl.Problem(X, y, loss, regularizer), "pgs", predictor=predictor)
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12 * np.abs(read.w).max())


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: X.astype(np.float32), sp.csc_matrix, sp.coo_array, np.array])
def test_chunks_of_any_layout_weights_and_an_intercept(text, layout):
    X, y = text
    s = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    s *= len(y) / s.sum()
    dense = X.toarray().astype(np.float32).astype(np.float64)
    chunks = [(layout(dense[i : i + 50]), y[i : i + 50], s[i : i + 50]) for i in range(0, 300, 50)]
    stream = fl.Stream(chunks, fl.Logistic(), fl.L2(1e-3), intercept=2.0)
    read, held = both(stream, fl.Problem(dense, y, fl.Logistic(), fl.L2(1e-3), intercept=2.0, sample_weight=s), "pgs")
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-6 * np.abs(read.w).max())
    assert read.intercept == pytest.approx(2.0 * read.w[-1])


def test_sparse_chunks_may_be_narrower_than_the_widest(text):
    X, y = text
    X = X.copy()
    X.data[: X.indptr[150]][X.indices[: X.indptr[150]] >= 100] = 0.0
    X.eliminate_zeros()
    narrow = [(sp.csr_array(x[:, : x.indices.max() + 1]), u) for x, u in cut(X, y, sizes=[150, 150])]
    assert narrow[0][0].shape[1] <= 100 < narrow[1][0].shape[1]
    read, held = both(fl.Stream(narrow, fl.Hinge(), fl.L2(1e-2), features=120), fl.Problem(X, y, fl.Hinge(), fl.L2(1e-2)), "pgs", batch=4)
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12)


@pytest.mark.parametrize("source", ["list", "function"])
def test_several_passes_need_chunks_that_can_be_read_again(text, source):
    X, y = text
    chunks = cut(X, y) if source == "list" else (lambda: iter(cut(X, y)))
    read, held = both(fl.Stream(chunks, fl.Hinge(), fl.L2(1e-2), passes=3), fl.Problem(X, y, fl.Hinge(), fl.L2(1e-2)), "pgs", passes=3)
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12)
    assert read.passes == 3.0
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        fl.Stream(iter(cut(X, y)), fl.Hinge(), fl.L2(1e-2), passes=3)


@pytest.mark.parametrize("options", [{}, {"batch": 7}, {"strength": "auto"}], ids=str)
def test_no_more_than_one_chunk_is_held(options):
    made = []

    class Rows(np.ndarray):
        """An array that can be watched: views keep it, for it owns its memory."""

    def chunks():
        rng = np.random.default_rng(0)
        for number in range(5):
            gc.collect(1)  # what is new, and not all that thousands of kernels have left behind
            alive = sum(ref() is not None for ref in made)
            assert alive == 0, f"when chunk {number} was asked for, {alive} were alive"
            X = Rows((50, 4))
            X[:] = rng.standard_normal((50, 4))
            made.append(weakref.ref(X))
            y = np.sign(np.asarray(X)[:, 0])
            yield X, y
            del X

    result = fl.minimize(fl.Stream(chunks(), fl.Logistic(), fl.L2(1e-2)), "pgs", **options)
    assert result.status == "exhausted"
    assert len(made) == 5


@pytest.mark.slow
def test_the_bound_lies_below_the_optimum_and_the_objective_above_it(text):
    X, y = text
    for loss, regularizer in [(fl.Hinge(), fl.L2(1e-2)), (fl.Logistic(), fl.SquaredLp(1e-2, 1.5)), (fl.Squared(), fl.L2(0.1))]:
        best = fl.minimize(fl.Problem(X, y, loss, regularizer), "sdca", tol=1e-8).objective
        for solver in ONLINE if isinstance(regularizer, fl.L2) else ["pgs"]:
            result = fl.minimize(fl.Stream(cut(X, y), loss, regularizer), solver)
            assert result.dual_objective <= best + 1e-9
            assert result.dual_objective > 0.0 or loss.labels == "real"
            assert result.objective >= result.dual_objective


def test_progress_is_recorded_chunk_by_chunk_and_a_callback_can_stop(text):
    X, y = text
    seen = []
    result = fl.minimize(
        fl.Stream(cut(X, y), fl.Hinge(), fl.L2(1e-2)), "pgs", callback=lambda e: seen.append(e.objective) or len(seen) == 3
    )
    assert result.status == "callback"
    assert len(result.history) == len(seen) == 3
    assert np.array_equal(result.history["objective"], seen)


def test_a_stream_continues_from_an_earlier_one(text):
    X, y = text
    whole = fl.minimize(fl.Stream(cut(X, y), fl.Hinge(), fl.L2(1e-2)), "proximal")
    first = fl.minimize(fl.Stream(cut(X, y)[:3], fl.Hinge(), fl.L2(1e-2)), "proximal")
    rest = fl.minimize(fl.Stream(cut(X, y)[3:], fl.Hinge(), fl.L2(1e-2)), "proximal", start=first)
    np.testing.assert_allclose(rest.w, whole.w, rtol=0, atol=1e-12)
    assert rest.objective == pytest.approx(whole.objective)


@fl.compiled
class PseudoHuber(NamedTuple):
    """Known by value and derivative alone."""

    delta: float = 1.0

    def value(self, z, y):
        return self.delta**2 * ((1 + ((z - y) / self.delta) ** 2) ** 0.5 - 1)

    def derivative(self, z, y):
        return (z - y) / (1 + ((z - y) / self.delta) ** 2) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("solver", ONLINE)
def test_a_users_loss(text, solver):
    X, y = text
    read, held = both(fl.Stream(cut(X, y), PseudoHuber(), fl.L2(0.1)), fl.Problem(X, y, PseudoHuber(), fl.L2(0.1)), solver)
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "The stream has no chunks"),
        ([(np.ones((2, 3)), np.ones(2)), (np.ones((2, 4)), np.ones(2))], "Chunk 2 of the stream: X has 4 columns where 3 are expected"),
        ([(np.ones((2, 3)), np.ones(2)), (np.ones((2, 2)), np.ones(2))], "Chunk 2 of the stream: X has 2 columns where 3 are expected"),
        ([(np.ones((2, 3)), np.ones(2)), (np.full((2, 3), np.nan), np.ones(2))], r"Chunk 2 of the stream: X\[0, 0\] is nan"),
        ([(np.ones((2, 3)), np.zeros(2))], r"Chunk 1 of the stream: Hinge takes the labels -1 and \+1"),
        ([(np.ones((2, 3)), np.ones(3))], "Chunk 1 of the stream: y has 3 labels for the 2 rows"),
        ([np.ones((2, 3))], "Chunk 1 of the stream: a chunk is a pair"),
        ([(np.ones((2, 3)), np.ones(2), -np.ones(2))], "Chunk 1 of the stream: sample_weight must be 2 finite numbers"),
    ],
)
def test_errors_name_the_chunk(chunks, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fl.minimize(fl.Stream(iter(chunks), fl.Hinge(), fl.L2(0.1)), "pgs")


def test_other_solvers_are_refused_and_others_named(text):
    X, y = text
    with pytest.raises(ValueError, match="sdca needs rows that can be read again, and a Stream is read once: use solver='adaptive' or"):
        fl.minimize(fl.Stream(cut(X, y), fl.Hinge(), fl.L2(0.1)), "sdca")
    with pytest.raises(ValueError, match="Softmax on a stream needs the number of classes"):
        fl.Stream(cut(X, y), fl.Softmax(), fl.L2(0.1))
    with pytest.raises(ValueError, match="sampling='replacement' needs rows that can be read again"):
        fl.minimize(fl.Stream(cut(X, y), fl.Hinge(), fl.L2(0.1)), "pgs", sampling="replacement")
    assert fl.minimize(fl.Stream(cut(X, y), fl.Hinge(), fl.L2(0.1))).solver == "pgs"


def test_empty_chunks_are_skipped(text):
    X, y = text
    chunks = [(X[:0], y[:0]), *cut(X, y), (X[:0], y[:0])]
    read, held = both(fl.Stream(chunks, fl.Hinge(), fl.L2(1e-2)), fl.Problem(X, y, fl.Hinge(), fl.L2(1e-2)), "pgs")
    np.testing.assert_allclose(read.w, held.iterate.w, rtol=0, atol=1e-12)


def test_an_error_of_the_users_reader_is_raised_unchanged(text):
    X, y = text

    def chunks():
        yield X[:10], y[:10]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        fl.minimize(fl.Stream(chunks(), fl.Hinge(), fl.L2(1e-2)), "pgs")


def test_the_result_of_a_stream_is_not_certified():
    """Strong regularization: what rows suffered on the way can lie below the optimum, and is no certificate of w."""
    result = fl.minimize(fl.Stream([(X, Y)], fl.Hinge(), fl.L2(10.0)), "pgs")
    assert np.isnan(result.gap)
    assert not result.converged
    assert not result.certified
    assert np.isnan(result.history["gap"]).all()
    best = fl.minimize(fl.Problem(X, Y, fl.Hinge(), fl.L2(10.0)), tol=1e-8).objective
    assert 0.0 <= result.dual_objective <= best + 1e-12


def test_a_stream_that_has_been_read():
    again = fl.Stream([(X, Y)], fl.Hinge(), fl.L2(0.1))
    first, second = (fl.minimize(again, "pgs") for _ in range(2))
    assert np.array_equal(first.w, second.w), "a list is read from its beginning"
    once = fl.Stream(iter([(X, Y)]), fl.Hinge(), fl.L2(0.1))
    fl.minimize(once, "pgs")
    with pytest.raises(ValueError, match="The stream has been read, and an iterator can be read only once"):
        fl.minimize(once, "pgs")
    spent = iter([(X, Y)])
    with pytest.raises(ValueError, match="The stream has no chunks in pass 2"):
        fl.minimize(fl.Stream(lambda: spent, fl.Hinge(), fl.L2(0.1), passes=2), "pgs")


def test_batches_across_chunks_do_not_change_the_users_matrices():
    wide, narrow = sp.random(7, 6, 0.5, format="csr", random_state=1), sp.random(7, 4, 0.5, format="csr", random_state=0)
    chunks = [(wide, np.ones(7)), (narrow, -np.ones(7)), (X[:7, :5] @ np.eye(5, 6), np.ones(7))]
    result = fl.minimize(fl.Stream(chunks, fl.Hinge(), fl.L2(0.1), features=6), "pgs", batch=5)
    assert narrow.shape == (7, 4)
    together = np.vstack([wide.toarray(), np.pad(narrow.toarray(), ((0, 0), (0, 2))), chunks[2][0]])
    labels = np.concatenate([y for _, y in chunks])
    held = fl.minimize(fl.Problem(together, labels, fl.Hinge(), fl.L2(0.1)), "pgs", batch=5, sampling="sequential", tol=0.0, max_passes=1)
    np.testing.assert_allclose(result.w, held.iterate.w, atol=1e-12)


def test_a_stream_makes_no_more_passes_than_allowed():
    stream = fl.Stream([(X[i : i + 50], Y[i : i + 50]) for i in range(0, 200, 50)], fl.Hinge(), fl.L2(0.1), passes=3)
    result = fl.minimize(stream, "pgs", max_passes=2)
    assert result.passes == 2.0
    assert result.iterate.state["t"] == 400.0


@pytest.mark.parametrize(
    ("chunks", "options", "message"),
    [
        ([(X, Y)], {"features": 5.0}, "features=5.0: give the number of columns"),
        ([(X, Y)], {"features": -1}, "features=-1: give the number of columns"),
        ([(X, Y)], {"features": 2**33}, "features=8589934592: give the number of columns"),
        ([(X, Y)], {"classes": 7}, "classes=7: Hinge is not a multiclass loss"),
        ([(np.float64(3.0), Y)], {}, "Chunk 1 of the stream: X must be a matrix"),
        ([(X, Y, "a")], {}, "Chunk 1 of the stream: sample_weight must be 200 finite numbers"),
        (lambda: None, {}, "The function given as chunks must return an iterable"),
        (3, {}, "chunks must be an iterable"),
    ],
)
def test_wrong_streams_are_refused_in_a_sentence(chunks, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fl.Stream(chunks, fl.Hinge(), fl.L2(0.1), **options)


def test_progress_says_how_many_rows_were_read_and_how_fast(text, capsys):
    X, y = text
    stream = fl.Stream([(X[first : first + 100], y[first : first + 100]) for first in range(0, 300, 100)], fl.Logistic(), fl.L2(1e-2))
    fl.minimize(stream, progress=True)
    assert stream.rows_read == 300
    assert stream.bytes_read == X.data.nbytes + X.indices.nbytes
    shown = " ".join(capsys.readouterr().err.split())
    assert re.search(r"300 rows, [\d,]+ rows/s", shown)
