"""Files converted into stores: the same rows as in memory, in any pieces, and after any interruption."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel.datasets import text_files
from fenchel.datasets.row_store import array_file, conversion, shuffling, store_writer, table_rows
from fenchel.datasets.row_store.store_writer import partial_folder


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def written(folder, m=200, n=50, seed=0, name="a.svm", queries=False):
    rng = np.random.default_rng(seed)
    X = sp.random(m, n, 0.2, "csr", random_state=rng)
    y = rng.choice([-1.0, 1.0], m)
    path = folder / name
    if queries:
        fl.datasets.write_svmlight(path, X, y, qid=np.repeat(np.arange(m // 4), 4))
    else:
        fl.datasets.write_svmlight(path, X, y)
    return path


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Chunks, batches, blocks and buckets of a few rows, so that there are many."""
    monkeypatch.setattr(text_files, "CHUNK", 1 << 10)
    monkeypatch.setattr(text_files, "FIRST_CHUNK", 1 << 9)
    monkeypatch.setattr(array_file, "BLOCK", 1 << 10)
    monkeypatch.setattr(store_writer, "BETWEEN", 0.0)
    monkeypatch.setattr(store_writer, "AT_ONCE", 100)
    monkeypatch.setattr(table_rows, "BATCH", 1 << 10)
    monkeypatch.setattr(table_rows, "ROWS", 37)
    monkeypatch.setattr(shuffling, "BUCKET", 1 << 12)
    monkeypatch.setattr(shuffling, "AT_ONCE", 1 << 11)


def assert_same(stored, data):
    np.testing.assert_array_equal(dense(stored.X), dense(data.X))
    np.testing.assert_array_equal(stored.y, data.y)
    assert (stored.qid is None) == (data.qid is None)
    if data.qid is not None:
        np.testing.assert_array_equal(stored.qid, data.qid)
    assert stored.index_base == data.index_base
    assert (stored.feature_names is None) == (data.feature_names is None)
    if data.feature_names is not None:
        assert list(stored.feature_names) == list(data.feature_names)


@pytest.mark.parametrize("name", ["a.svm", "a.svm.gz", "a.svm.xz"])
@pytest.mark.parametrize("queries", [False, True])
def test_svmlight_text_has_the_rows_that_are_read_into_memory(tmp_path, name, queries):
    path = written(tmp_path, name=name, queries=queries)
    fl.datasets.convert(path, tmp_path / "a.store")
    assert_same(fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(path))
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "a.store"])


TABLE = [f"{k / 2},{'red' if k % 3 else 'blue'},{'yes' if k % 2 else 'no'},{k % 5}\n" for k in range(300)]


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet"])
def test_tables_have_the_rows_that_are_read_into_memory(tmp_path, kind):
    text = "size,colour,class,count\n" + "".join(TABLE)
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet as pq

        pq.write_table(pa.csv.read_csv(io.BytesIO(text.encode())), path)
    else:
        text = text.replace(",", "\t") if kind == "tsv" else text
        path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    fl.datasets.convert(path, tmp_path / "a.store")
    stored = fl.datasets.open(tmp_path / "a.store")
    expected = fl.datasets.read(path)
    assert_same(stored, expected)
    assert stored.encoding == expected.encoding


def test_a_column_that_turns_out_to_be_text_or_fractions_is_that_from_the_beginning(tmp_path):
    rows = [f"{k},{k % 3},{k % 2}\n" for k in range(400)]
    rows[350] = "0.5,three,1\n"
    (tmp_path / "a.csv").write_text("a,b,target\n" + "".join(rows))
    fl.datasets.convert(tmp_path / "a.csv", tmp_path / "a.store")
    stored = fl.datasets.open(tmp_path / "a.store")
    assert stored.feature_names == ["a", "b=0", "b=1", "b=2", "b=three"]
    assert stored.X[350].tolist() == [0.5, 0.0, 0.0, 0.0, 1.0]


def test_missing_numbers_get_their_mean_over_all_batches(tmp_path):
    (tmp_path / "a.csv").write_text("a,target\n" + "".join(f"{'' if k % 4 else k},{k % 2}\n" for k in range(400)))
    fl.datasets.convert(tmp_path / "a.csv", tmp_path / "a.store", missing="mean")
    stored, expected = fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(tmp_path / "a.csv", missing="mean")
    np.testing.assert_allclose(stored.X, expected.X)
    with pytest.raises(fl.datasets.Encoding.fit.__globals__["InputError"], match="has 300 missing values in 400 rows"):
        fl.datasets.convert(tmp_path / "a.csv", tmp_path / "b.store")


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.sampled_from([np.float32, np.float64]))
def test_several_files_are_one_store(tmp_path_factory, sizes, dtype):
    folder = tmp_path_factory.mktemp("several")
    for k, m in enumerate(sizes):
        written(folder, m, n=30, seed=k, name=f"part-{k}.svm")
    fl.datasets.convert(folder / "part-*.svm", folder / "all.store", features=30, dtype=dtype)
    stored = fl.datasets.open(folder / "all.store")
    parts = [fl.datasets.read_svmlight(folder / f"part-{k}.svm", 30, dtype=dtype, index_base=1) for k in range(len(sizes))]
    np.testing.assert_array_equal(stored.X.toarray(), np.vstack([X.toarray() for X, _ in parts]))
    np.testing.assert_array_equal(stored.y, np.concatenate([y for _, y in parts]))
    assert stored.X.dtype == dtype


def test_text_from_a_pipe_is_converted(tmp_path):
    path = written(tmp_path)
    fl.datasets.convert(io.BytesIO(path.read_bytes()), tmp_path / "a.store")
    assert_same(fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(path))


def test_an_index_0_that_occurs_late_shifts_all_columns(tmp_path):
    lines = [f"1 {1 + k % 7}:{k + 1}\n" for k in range(500)] + ["-1 0:5 3:1\n"]
    (tmp_path / "a.svm").write_text("".join(lines))
    fl.datasets.convert(tmp_path / "a.svm", tmp_path / "a.store")
    assert_same(fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(tmp_path / "a.svm"))


def test_shuffled_rows_are_the_same_rows_in_another_order(tmp_path):
    path = written(tmp_path, queries=True)
    fl.datasets.convert(path, tmp_path / "a.store", shuffle=True, seed=3)
    fl.datasets.convert(path, tmp_path / "b.store", shuffle=True, seed=3)
    stored, again, data = fl.datasets.open(tmp_path / "a.store"), fl.datasets.open(tmp_path / "b.store"), fl.datasets.read(path)
    rows = [np.column_stack([dense(found.X), found.y, found.qid]) for found in (stored, data, again)]
    assert (rows[0] != rows[1]).any()
    np.testing.assert_array_equal(*(found[np.lexsort(found.T)] for found in rows[:2]))
    np.testing.assert_array_equal(rows[0], rows[2])
    assert json.loads((tmp_path / "a.store" / "manifest.json").read_text())["shuffled"] is True
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.store", "a.svm", "b.store"]


def test_every_order_is_about_equally_likely(tmp_path):
    (tmp_path / "a.svm").write_text("".join(f"{k} 1:1\n" for k in range(4)))
    counts = np.zeros((4, 4))
    for seed in range(200):
        fl.datasets.convert(tmp_path / "a.svm", tmp_path / "a.store", shuffle=True, seed=seed)
        counts[np.arange(4), fl.datasets.open(tmp_path / "a.store").y.astype(int)] += 1
    assert (np.abs(counts - 50.0) < 25.0).all()  # four standard deviations are 24.5


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_conversion_that_fails_anywhere_goes_on_where_it_was(tmp_path, monkeypatch, shuffle):
    """Every write is made to fail once; nothing that was recorded is lost, and the store is the same."""
    for k in range(2):
        written(tmp_path, 60, seed=k, name=f"part-{k}.svm")
    files = [tmp_path / "part-0.svm", tmp_path / "part-1.svm"]
    fl.datasets.convert(files, tmp_path / "whole.store", shuffle=shuffle)
    append, calls = array_file.ArrayWriter.append, [0, 1]

    def failing(self, part):
        calls[0] += 1
        if calls[0] == calls[1]:
            calls[1] = calls[0] + 7
            raise KeyboardInterrupt
        append(self, part)

    monkeypatch.setattr(array_file.ArrayWriter, "append", failing)
    for attempts in range(1, 2000):
        try:
            fl.datasets.convert(files, tmp_path / "broken.store", shuffle=shuffle)
            break
        except KeyboardInterrupt:
            calls[1] = calls[0] + 7 * attempts
    assert attempts > 3
    monkeypatch.setattr(array_file.ArrayWriter, "append", append)
    for file in (tmp_path / "whole.store").glob("*.npy"):
        assert file.read_bytes() == (tmp_path / "broken.store" / file.name).read_bytes()


def test_buckets_of_other_rows_are_not_used(tmp_path, monkeypatch):
    path = written(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(shuffling._Bucket, "append_to", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fl.datasets.convert(path, tmp_path / "a.store", shuffle=True)
    assert (tmp_path / ".a.store.buckets" / "complete").exists()
    written(tmp_path, seed=5)
    fl.datasets.convert(path, tmp_path / "a.store", shuffle=True)
    stored, data = fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(path)
    np.testing.assert_allclose(np.sort(stored.X.sum(axis=1)), np.sort(data.X.sum(axis=1)))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.store", "a.svm"]


def test_a_store_that_was_being_replaced_comes_back(tmp_path):
    path = written(tmp_path)
    fl.datasets.convert(path, tmp_path / "a.store")
    (tmp_path / "a.store").rename(tmp_path / ".a.store.replaced")
    other = written(tmp_path, seed=3, name="b.svm")
    other.write_text("1 1:x\n")
    with pytest.raises(ValueError, match="line"):
        fl.datasets.convert(other, tmp_path / "a.store")
    assert_same(fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(path))


def test_an_unfinished_conversion_of_other_files_is_begun_again(tmp_path, monkeypatch):
    path = written(tmp_path)
    monkeypatch.setattr(store_writer.StoreWriter, "finish", lambda *given, **facts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fl.datasets.convert(path, tmp_path / "a.store")
    assert partial_folder(tmp_path / "a.store").is_dir()
    monkeypatch.undo()
    other = written(tmp_path, seed=7, name="b.svm")
    fl.datasets.convert(other, tmp_path / "a.store")
    assert_same(fl.datasets.open(tmp_path / "a.store"), fl.datasets.read(other))


def _convert(path, store):
    store_writer.BETWEEN = 0.0
    fl.datasets.convert(path, store, shuffle=True)


@pytest.mark.slow
def test_killed_conversions_are_completed(tmp_path):
    path = written(tmp_path, 4000, 200)
    fl.datasets.convert(path, tmp_path / "whole.store", shuffle=True)
    rng, context = np.random.default_rng(0), multiprocessing.get_context("fork")
    for _ in range(40):
        process = context.Process(target=_convert, args=(path, tmp_path / "killed.store"))
        process.start()
        process.join(rng.uniform(0.0, 0.4))
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        if process.exitcode == 0:
            break
    else:
        _convert(path, tmp_path / "killed.store")
    for file in (tmp_path / "whole.store").glob("*.npy"):
        assert file.read_bytes() == (tmp_path / "killed.store" / file.name).read_bytes()


def test_columns_can_be_those_of_another_store(tmp_path):
    (tmp_path / "train.csv").write_text("a,b,target\n1,x,0\n2,y,1\n")
    (tmp_path / "test.csv").write_text("b,a,target\ny,3,1\ny,4,0\n")
    fl.datasets.convert(tmp_path / "train.csv", tmp_path / "train.store")
    fl.datasets.convert(tmp_path / "test.csv", tmp_path / "test.store", like=tmp_path / "train.store")
    assert fl.datasets.open(tmp_path / "test.store").X.tolist() == [[3.0, 0.0, 1.0], [4.0, 0.0, 1.0]]
    train, test = written(tmp_path, 50, 40, name="train.svm"), written(tmp_path, 50, 20, name="test.svm")
    fl.datasets.convert(train, tmp_path / "a.store")
    fl.datasets.convert(test, tmp_path / "b.store", like=tmp_path / "a.store")
    assert fl.datasets.open(tmp_path / "b.store").X.shape == (50, 40)
    with pytest.raises(ValueError, match="was not made from files of the format csv"):
        fl.datasets.convert(tmp_path / "test.csv", tmp_path / "c.store", like=tmp_path / "a.store")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 1:x\n", "line 2, column 5"),
        ("1 1:2\n" * 400 + "1 2:1 1:2\n", "line 401"),
        ("", "no rows to convert"),
        ("# nothing\n", "no rows to convert"),
    ],
)
def test_faults_are_reported_with_their_line(tmp_path, text, message):
    (tmp_path / "a.svm").write_text(text)
    with pytest.raises(ValueError, match=message):
        fl.datasets.convert(tmp_path / "a.svm", tmp_path / "a.store")
    assert not (tmp_path / "a.store").exists()


def test_a_line_of_another_length_is_reported_and_nothing_is_left(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,target\n" + "1,2,0\n" * 300 + "1,0\n")
    with pytest.raises(ValueError, match=r"the line '1,0' has 2 values, and the heading has 3: correct that line"):
        fl.datasets.convert(tmp_path / "a.csv", tmp_path / "a.store")
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_a_damaged_compressed_file_is_reported(tmp_path):
    path = written(tmp_path, name="a.svm.gz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="the compressed data is damaged or cut short"):
        fl.datasets.convert(path, tmp_path / "a.store")


def test_impossible_requests_are_refused_in_a_sentence(tmp_path):
    path = written(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.csv").write_text("a,target\n1,2\n")
    for sources, output, options, message in [
        ([tmp_path / "none.svm"], "a.store", {}, "There is no file"),
        ([tmp_path / "none*.svm"], "a.store", {}, "No file matches"),
        ([], "a.store", {}, "give at least one file"),
        ([path, tmp_path / "a.csv"], "a.store", {}, "have one format"),
        ([path], "folder", {}, "is no store"),
        ([path], "none/a.store", {}, "there is no directory"),
        ([path], "a.store", {"target": "y"}, "is for tables"),
        ([path], "a.store", {"features": 3}, "exceeds features=3|higher than features"),
        ([path], "a.store", {"dtype": int}, "give numpy.float32"),
    ]:
        with pytest.raises((ValueError, OSError), match=message):
            fl.datasets.convert(sources, tmp_path / output, **options)


def test_progress_is_told(tmp_path):
    seen = []
    fl.datasets.convert(written(tmp_path), tmp_path / "a.store", callback=seen.append)
    assert [now.rows for now in seen] == sorted(now.rows for now in seen)
    assert seen[-1].rows == 200
    assert 0.0 < seen[0].share < seen[-1].share <= 1.0
    assert isinstance(seen[0], conversion.Progress)
