"""Svmlight text: agreement with a naive reader, exact numbers, exact places of errors, damaged files."""

import bz2
import gzip
import io
import lzma
import math
import os
import random
import re
import struct
import threading
import tracemalloc
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings, strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from fenchel.datasets import read_svmlight, text_files, write_svmlight

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INDEX = re.compile(rb"\d+")
QID = re.compile(rb"qid:([+-]?\d+)")
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}

quick = settings(deadline=None, max_examples=200)


# ---- a naive reader ----


class Refused(Exception):
    pass


def naive(data, features=None, index_base="auto", multilabel=False, qid=False, dtype=np.float64):
    """Rows as lists of (column, value), labels, query ids and the number of columns; raises Refused(line) for invalid text."""
    rows, labels, ids, lines = [], [], [], []
    for line, text in enumerate(data.split(b"\n"), 1):
        words = text.partition(b"#")[0].split()
        if words:
            try:
                read_row(words, rows, labels, ids, features, index_base, multilabel, qid, dtype)
            except ValueError:
                raise Refused(line) from None
            lines.append(line)
    used = [index for row in rows for index, _ in row]
    base = index_base if index_base != "auto" else int(0 not in used)
    columns = features if features is not None else max([index + 1 - base for index in used], default=0)
    if used and max(used) - base >= columns:
        raise Refused(next(line for line, row in zip(lines, rows, strict=True) if row and row[-1][0] == max(used)))
    return SimpleNamespace(rows=[[(j - base, v) for j, v in row] for row in rows], labels=labels, ids=ids, columns=columns)


def read_row(words, rows, labels, ids, features, index_base, multilabel, qid, dtype):
    if not multilabel:
        labels.append(to_number(words.pop(0)))
    elif b":" in words[0]:
        labels.append(())
    else:
        labels.append(tuple(sorted(to_number(word) for word in words.pop(0).split(b","))))
    found = words and words[0].startswith(b"qid:")
    if found:
        match = QID.fullmatch(words.pop(0))
        if not match or abs(int(match[1])) > 10**18:
            raise ValueError
        ids.append(int(match[1]))
    if qid and not found:
        raise ValueError
    row = []
    for word in words:
        index, colon, value = word.partition(b":")
        if not colon or not INDEX.fullmatch(index):
            raise ValueError
        low = row[-1][0] + 1 if row else int(index_base == 1)
        high = 2**62 if features is None else features - (index_base == 0)
        if not low <= int(index) <= high:
            raise ValueError
        row.append((int(index), to_number(value, dtype)))
    rows.append(row)


def to_number(word, dtype=np.float64):
    if not NUMBER.fullmatch(word):
        raise ValueError
    with np.errstate(over="ignore"):
        value = float(dtype(float(word)))
    if math.isinf(value):
        raise ValueError
    return value


def check(data, threads=1, **options):
    """Both readers accept the text and agree, or both refuse it in the same line."""
    try:
        expected = naive(data, **options)
    except Refused as refused:
        with pytest.raises(ValueError, match=rf"^the file, line {refused.args[0]}\b[^\n]*\.$"):
            read_svmlight(io.BytesIO(data), threads=threads, **options)
        return
    X, y, *ids = read_svmlight(io.BytesIO(data), threads=threads, **options)
    assert X.shape == (len(expected.rows), expected.columns)
    assert X.indptr.tolist() == np.cumsum([0, *map(len, expected.rows)]).tolist()
    assert X.indices.tolist() == [j for row in expected.rows for j, _ in row]
    assert X.indices.dtype == X.indptr.dtype == (np.int32 if expected.columns < 2**31 else np.int64)
    assert X.dtype == options.get("dtype", np.float64)
    assert bits(X.data) == bits([v for row in expected.rows for _, v in row])
    if options.get("multilabel"):
        assert y == expected.labels
    else:
        assert bits(y) == bits(expected.labels)
    if options.get("qid"):
        assert ids[0].tolist() == expected.ids


def bits(values):
    """The binary representation of the numbers, in which -0.0 differs from 0.0."""
    return np.asarray(values, dtype=np.float64).tobytes()


# ---- texts ----

blanks = st.sampled_from([" ", " ", "  ", "\t", " \t ", "\x0b", "\f"])
exotic = st.sampled_from(
    [
        *("-0", "+.5", "5.", "1E5", "1e-05", "00012", "1e-400", "4.9e-324", "2.4703282292062328e-324", "1.7976931348623157e308"),
        *(
            "0.1234567890123456789012345678901234567890",
            "9007199254740993",
            "9007199254740992.99999999999999999",
            "123456789012345678901e-20",
        ),
    ]
)
decimals = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), exotic, st.integers(-300, 300).map(str))
wrong = st.sampled_from(["nan", "-inf", "1e999", "1.2.3", "", "1_0", "0x1p3", "1e", "--1", ".", "e5", "1 2"])


@st.composite
def texts(draw, multilabel=False, qid=False, faulty=False):
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        indices = sorted(draw(st.sets(st.integers(0, 30), max_size=5)))
        words = [",".join(draw(st.lists(decimals, max_size=3, min_size=int(not indices))))] if multilabel else [draw(decimals)]
        words += [f"qid:{draw(st.integers(-5, 10**18))}"] if qid or draw(st.integers(0, 5)) == 0 else []
        words += [f"{j}:{draw(decimals)}" for j in indices]
        if faulty and draw(st.integers(0, 4)) == 0:
            k = draw(st.integers(0, len(words)))
            words.insert(k, draw(st.sampled_from(["1:", "-2:1", "2", ":3", "0:1", "40:1", "qid:x", "q:1"])) + draw(wrong))
        line = draw(st.sampled_from(["", "", " "])) + "".join(word + draw(blanks) for word in words)
        lines.append(line + draw(st.sampled_from(["", "", "", "# 7:7 a comment", "#"])) + draw(st.sampled_from(["\n", "\n", "\r\n"])))
        lines += draw(st.sampled_from([[], [], ["\n"], ["# only this\n"], [" \r\n"]]))
    text = "".join(lines)
    return (text.rstrip("\n") if draw(st.booleans()) else text).encode()


@quick
@given(texts(), st.sampled_from(["auto", 0, 1]), st.sampled_from([None, 20, 30, 31]), st.sampled_from([np.float64, np.float32]))
def test_the_reader_agrees_with_the_naive_reader(data, index_base, features, dtype):
    check(data, index_base=index_base, features=features, dtype=dtype)


@quick
@given(texts(multilabel=True, qid=True), st.booleans(), st.booleans())
def test_the_reader_agrees_with_the_naive_reader_on_labels_and_queries(data, multilabel, qid):
    check(data, multilabel=multilabel, qid=qid)


@quick
@given(texts(faulty=True), st.booleans())
def test_both_readers_refuse_the_same_texts_in_the_same_line(data, multilabel):
    check(data, multilabel=multilabel)


@quick
@given(st.binary(max_size=60), st.booleans())
@example(b"\x00", False)
@example(b"1\r1:1", False)
@example(b"1 1:1\x001", False)
@example(b"1 " + b"0" * 5000 + b"1:1 1:1", False)
def test_both_readers_agree_on_arbitrary_bytes(data, multilabel):
    check(data, multilabel=multilabel)


@quick
@given(texts(qid=True), st.data())
def test_both_readers_agree_on_mutated_texts(data, draw):
    mutant = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(mutant)))
        mutant[at : at + draw.draw(st.integers(0, 2))] = draw.draw(
            st.sampled_from([b"", b" ", b"\n", b":", b"#", b",", b"-", b"e", b".", b"9", b"0" * 9, b"\r", b"\xff"])
        )
    check(bytes(mutant), qid=draw.draw(st.booleans()))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("fault", [b"", b"1 2:1 2:3\n", b"1 x:1\n1 3:1e999\n", b"1 4:1.7976931348623158079372897140530341507993e308 9"])
def test_chunks_may_end_anywhere(monkeypatch, threads, fault):
    data = b"+1 qid:3 1:0.25 17:3e-5\t\r\n# nothing\n\n-1 0:1.5 3:0.1234567890123456789012345678901234567890 9:2 # 1:2\n3" + b"\n" + fault
    for size in range(1, len(data) + 2):
        monkeypatch.setattr(text_files, "CHUNK", size)
        check(data, threads)


def test_the_first_of_several_errors_is_reported(monkeypatch):
    monkeypatch.setattr(text_files, "CHUNK", 64)
    data = bytearray(b"".join(b"%d 1:1 2:2\n" % i for i in range(2000)))
    for line in (700, 701, 1500):
        data[data.index(b"\n%d " % line) + 1] = ord("x")
    for _ in range(5):
        check(bytes(data), threads=4)


# ---- numbers ----


def value_of(text):
    return read_svmlight(io.BytesIO(b"1 1:" + text))[0].data[0]


def read_numbers(texts):
    return read_svmlight(io.BytesIO("".join(f"1 1:{text}\n" for text in texts).encode()))[0].data


@quick
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(0, 30))
def test_floats_are_exact_with_any_number_of_digits(numbers, digits):
    texts = [repr(x) for x in numbers] + [f"{x:.{digits}e}" for x in numbers]
    texts = [text for text in texts if math.isfinite(float(text))]
    assert bits(read_numbers(texts)) == bits([float(text) for text in texts])


@quick
@given(st.lists(st.tuples(st.integers(0, 10**30), st.integers(-360, 280)), min_size=1))
def test_decimals_are_exact(numbers):
    texts = [f"{w}e{q}" for w, q in numbers] + [f"0.{w:030d}e{q}" for w, q in numbers]
    texts = [text for text in texts if math.isfinite(float(text))]
    assert bits(read_numbers(texts)) == bits([float(text) for text in texts])


@quick
@given(st.integers(0, 0x7FEFFFFFFFFFFFFE), st.sampled_from(["", "1", "0" * 30 + "1", "0"]))
def test_numbers_halfway_between_floats_are_exact(pattern, tail):
    low, high = struct.unpack("2d", struct.pack("2Q", pattern, pattern + 1))
    middle = (Fraction(low) + Fraction(high)) / 2
    places = middle.denominator.bit_length() - 1  # the denominator is 2^places, so that this many decimals are exact
    digits = str(middle.numerator * 5**places)
    texts = [f"{digits}{tail}e{-places - len(tail)}", f"{int(digits) - 1}{'9' * 20}e{-places - 20}"]
    assert bits(read_numbers(texts)) == bits([float(text) for text in texts])


HARD = [
    *("0", "-0", "+0.0", "1e308", "1.7976931348623157e308", "1.7976931348623158e308", "1e-400", "4.9406564584124654e-324", "2.47e-324"),
    *("2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "9007199254740993"),
    *("1e23", "8.5e22", "1e22", "1e-22", "9007199254740992e22", "9007199254740993e-22", "5e-1", "1e00000000000000000000000005"),
    *("0e999999999999999999999", "1e-999999999999999999999", "0." + "0" * 400 + "1e400", "1" + "0" * 300, "1" + "0" * 400 + "e-400"),
    *("18446744073709551615", "18446744073709551616", "9999999999999999999", "99999999999999999999", "1" * 300, "0." + "1" * 300),
]


@pytest.mark.parametrize("text", HARD)
def test_numbers_that_are_hard_to_round_are_exact(text):
    assert bits([value_of(text.encode())]) == bits([float(text)])
    assert bits(read_svmlight(io.BytesIO(text.encode()))[1]) == bits([float(text)])


@pytest.mark.parametrize("text", ["3.4028235677973365e38", "3.4028235677973366e38", "-3.4028235677973366163753939545814256844e38", "7e-46"])
def test_numbers_at_the_limits_of_float32(text):
    check(b"1 1:" + text.encode(), dtype=np.float32)


def test_random_numbers_are_exact():
    rng = random.Random(0)
    texts = [repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]) for _ in range(20_000)]
    texts += [f"{rng.randrange(10 ** rng.randrange(1, 25))}e{rng.randrange(-345, 285)}" for _ in range(20_000)]
    texts += [f"{rng.random():.{rng.randrange(1, 22)}f}" for _ in range(20_000)]
    texts = [text for text in texts if math.isfinite(float(text))]
    assert bits(read_numbers(texts)) == bits([float(text) for text in texts])


# ---- against scikit-learn ----


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_files_written_by_scikit_learn_are_read(tmp_path, zero_based, dtype):
    rng = np.random.default_rng(0)
    A = sp.random_array((200, 50), density=0.2, rng=rng, format="csr", dtype=np.float64)
    path = tmp_path / "file.svm"
    dump_svmlight_file(A, rng.standard_normal(200), str(path), zero_based=zero_based, query_id=np.arange(200) // 7, comment="two\nlines")
    X, y, ids = read_svmlight(path, dtype=dtype, qid=True)
    expected = load_svmlight_file(str(path), dtype=dtype, query_id=True)
    assert (expected[0] != X).nnz == 0
    assert X.shape == expected[0].shape
    assert X.dtype == expected[0].dtype == dtype
    np.testing.assert_array_equal(y, expected[1])
    np.testing.assert_array_equal(ids, expected[2])


def test_multilabel_rows_are_read_as_by_scikit_learn():
    data = b"3,1 1:1\n 2:5\n2 1:1\n1,2,2 qid:1\nqid:2\n"
    _, y, ids = read_svmlight(io.BytesIO(data.replace(b"1:1\n", b"qid:0 1:1\n").replace(b" 2:5", b"qid:9 2:5")), multilabel=True, qid=True)
    assert y == load_svmlight_file(io.BytesIO(data), multilabel=True)[1] == [(1.0, 3.0), (), (2.0,), (1.0, 2.0, 2.0), ()]
    assert ids.tolist() == [0, 9, 0, 1, 2]


# ---- writing ----


@quick
@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4), min_size=1, max_size=5),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from([0, 1]),
    st.sampled_from(["", ".gz", ".bz2", ".xz"]),
)
def test_a_round_trip_restores_the_data(tmp_path_factory, numbers, dtype, index_base, suffix):
    with np.errstate(over="ignore"):
        A = np.array(numbers).astype(dtype)
    A[~np.isfinite(A)] = 1.0
    y, ids = np.array(numbers)[:, 0], np.arange(len(A)) - 1
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    for X in (A, sp.csr_array(A), sp.csc_array(A), sp.csr_array((A.ravel(), np.tile(range(4), len(A)), np.arange(0, A.size + 1, 4)))):
        write_svmlight(path, X, y, qid=ids, index_base=index_base, comment="a\nb")
        B, u, read_ids = read_svmlight(path, 4, dtype=dtype, index_base=index_base, qid=True)
        expected = sp.csr_array(X)
        assert B.data.tobytes() == expected.data.tobytes()
        np.testing.assert_array_equal(B.indices, expected.indices)
        np.testing.assert_array_equal(B.indptr, expected.indptr)
        assert bits(u) == bits(y)
        assert read_ids.tolist() == ids.tolist()
    assert [p.name for p in path.parent.glob("*round*") if p.name == f".{path.name}"] == []


def significant(text):
    """The number of significant digits."""
    return len(text.partition("e")[0].replace(".", "").strip("-0"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_written_with_no_more_digits_than_by_python(tmp_path, dtype):
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.random(2000), 10.0 ** rng.uniform(-37, 37, 5000), rng.integers(-(10**6), 10**6, 500) / 64, [1e15, 1e16]])
    numbers = np.concatenate([numbers, np.round(numbers, 3), 2.0 ** np.arange(-120, 120)]).astype(dtype)
    numbers = np.concatenate([numbers, -numbers])
    write_svmlight(tmp_path / "file", sp.csr_array((numbers, np.zeros(len(numbers)), np.arange(len(numbers) + 1))), numbers * 0)
    lines = (tmp_path / "file").read_text().splitlines()
    for line, number in zip(lines, numbers, strict=True):
        text = line.partition(":")[2]
        assert dtype(float(text)) == number
        assert significant(text) <= significant(str(number))


def test_multilabel_rows_are_written(tmp_path):
    y = [(1.0, 2.5), (), (3.0,)]
    write_svmlight(tmp_path / "a", np.eye(3), y)
    assert read_svmlight(tmp_path / "a", multilabel=True)[1] == y
    with pytest.raises(ValueError, match="Row 1 has neither labels nor entries"):
        write_svmlight(tmp_path / "a", np.diag([1.0, 0.0, 1.0]), y)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.eye(2), [1.0], {}, "1 labels for 2 rows"),
        (np.eye(2), [1.0, math.nan], {}, "Label nan is not finite"),
        (np.array([[math.inf]]), [1.0], {}, "X.0, 0. is inf"),
        (np.eye(2), [1, 2], {"qid": [1]}, "qid must be 2 whole numbers"),
        (np.eye(2), [1, 2], {"index_base": 2}, "index_base=2"),
    ],
)
def test_data_that_cannot_be_written_leave_the_old_file(tmp_path, X, y, options, message):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        write_svmlight(path, X, y, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_a_failure_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.gz"
    path.write_text("old")

    def fail(path):
        with text_files.writing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail(path)
    assert [p.name for p in tmp_path.iterdir()] == ["file.gz"]
    assert path.read_text() == "old"


# ---- files ----

TEXT = b"".join(b"%d 1:%d.5 %d:0.25\n" % (i % 3, i, i + 2) for i in range(20_000))


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files_are_recognised_by_name_or_content(tmp_path, suffix, named):
    path = tmp_path / (f"file{suffix}" if named else "file")
    path.write_bytes(COMPRESS[suffix](TEXT))
    expected = read_svmlight(io.BytesIO(TEXT))
    with open(path, "rb") as file:
        for source in (path, str(path), file, io.BytesIO(path.read_bytes())):
            X, y = read_svmlight(source)
            assert (expected[0] != X).nnz == 0
            np.testing.assert_array_equal(y, expected[1])


@pytest.mark.parametrize("suffix", COMPRESS)
def test_incomplete_or_damaged_compressed_files_are_refused(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(text_files, "CHUNK", 1 << 15)
    whole = COMPRESS[suffix](TEXT)
    path = tmp_path / f"file{suffix}"
    middle = len(whole) // 2
    broken = bytearray(whole)
    broken[middle : middle + 20] = bytes(20)
    for data in (whole[:0], whole[:4], whole[:middle], whole[:-1], bytes(broken), TEXT):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}, line \d+\b[^\n]*\.$") as error:
            read_svmlight(path, threads=2)
        counted = re.search(r"after ([\d,]+) bytes", str(error.value))
        if counted:  # damage may also appear as text that is not svmlight
            line = int(re.search(r"line (\d+)", str(error.value))[1])
            assert TEXT[: int(counted[1].replace(",", ""))].count(b"\n") + 1 == line


def test_file_objects_need_only_read():
    class Pipe:
        def __init__(self, data):
            self.rest = data

        def read(self, size):
            part, self.rest = self.rest[: min(size, 1000)], self.rest[min(size, 1000) :]
            return part

    assert read_svmlight(Pipe(TEXT))[0].shape == (20_000, 20_001)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_named_pipes_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(TEXT),))
    writer.start()
    assert read_svmlight(tmp_path / "pipe")[0].shape == (20_000, 20_001)
    writer.join()


def test_missing_files_and_wrong_types_are_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_svmlight(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_svmlight(tmp_path)
    with pytest.raises(TypeError, match="binary mode"):
        read_svmlight(io.StringIO("1 1:1"))
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        write_svmlight(tmp_path / "none" / "file", np.eye(1), [1])


# ---- errors ----


@pytest.mark.parametrize(
    ("text", "options", "place", "message"),
    [
        (b"1 1:1\n2 1:1.2.3 2:1\n", {}, "line 2, column 5", "'1.2.3' is not a number; write index:value"),
        (b"1 1:nan\n", {}, "line 1, column 5", "the value 'nan' is not finite; values must be finite"),
        (b"1 1:-Infinity\n", {}, "line 1, column 5", "the value '-Infinity' is not finite"),
        (b"1 1:1e999\n", {}, "line 1, column 5", "'1e999' is too large for its floating-point type"),
        (b"1 1:1e39\n", {"dtype": np.float32}, "line 1, column 5", "'1e39' is too large for its floating-point type"),
        (b"1 1:\n", {}, "line 1, column 5", "there is no value after the colon"),
        (b"# c\n\n  nan 1:1", {}, "line 3, column 3", "the label 'nan' is not finite"),
        (b"one 1:1", {}, "line 1, column 1", "'one' is not a label"),
        (b"1:1 2:1", {}, "line 1, column 1", "'1:1' is in the place of the label"),
        (b"1,2 2:1", {}, "line 1, column 1", "'1,2' is more than one label; read such files with multilabel=True"),
        (b"1,x 2:1", {"multilabel": True}, "line 1, column 3", "'x' is not a label"),
        (b"1 -2:1", {}, "line 1, column 3", "the index '-2' is negative"),
        (b"1 2:1 two", {}, "line 1, column 7", "'two' is not index:value"),
        (b"1 2:1 2:2", {}, "line 1, column 7", "the index '2' comes after 2; the indices of a row must be strictly increasing"),
        (b"1 12:1\t3:2", {}, "line 1, column 8", "the index '3' comes after 12"),
        (b"1 0:1", {"index_base": 1}, "line 1, column 3", "the index 0 is below index_base=1"),
        (b"1 1:1 7:1", {"features": 6}, "line 1, column 7", "the index '7' exceeds features=6"),
        (b"1 6:1", {"features": 6, "index_base": 0}, "line 1, column 3", "the index '6' exceeds features=6"),
        (b"1 1:1 6:1\n1 0:1", {"features": 6}, "line 1", "the index 6 exceeds features=6, because the index 0 occurs too"),
        (b"1 9999999999999999999:1", {}, "line 1, column 3", "is too large; indices can be at most 2..62"),
        (b"1 1:1", {"qid": True}, "line 1, column 3", "there is no qid:number after the label"),
        (b"1 qid:a 1:1", {}, "line 1, column 3", "'qid:a' is not a query id"),
        (b"1 1:" + b"x" * 500, {}, "line 1, column 5", "'x{40}...' is not a number"),
    ],
)
def test_errors_are_reported_with_their_place(tmp_path, text, options, place, message):
    path = tmp_path / "train.svm"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}, {place}: .*{message}[^\n]*\.$"):
        read_svmlight(path, **options)


@pytest.mark.parametrize(
    "options", [{"index_base": 2}, {"index_base": "one"}, {"dtype": int}, {"features": 0}, {"threads": 0}, {"features": 1.5}]
)
def test_options_are_validated(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"^{name}="):
        read_svmlight(io.BytesIO(b"1 1:1"), **options)


# ---- memory ----


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 99_999_999_999_999, 2**62])
def test_high_indices_take_no_memory(index):
    read_svmlight(io.BytesIO(b"1 1:1"))
    tracemalloc.start()
    X, _ = read_svmlight(io.BytesIO(b"1 1:1 %d:2\n2 5:1\n" % index))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert X.shape == (2, index)
    assert X.indices.tolist() == [0, index - 1, 4]
    assert peak < 5e7


def test_a_line_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(text_files, "CHUNK", 100)
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1000)
    assert read_svmlight(io.BytesIO(b"1 1:1" + b" " * 900))[0].nnz == 1
    with pytest.raises(ValueError, match="line 2: the line is longer than 1,000 bytes"):
        read_svmlight(io.BytesIO(b"1\n1 1:1" + b" " * 9000))


def test_unsorted_indices_are_written_in_ascending_order(tmp_path):
    X = sp.csr_array((np.array([3.0, 1.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    write_svmlight(tmp_path / "file", X, np.ones(1))
    assert (tmp_path / "file").read_text() == "1 1:1 3:3\n"
