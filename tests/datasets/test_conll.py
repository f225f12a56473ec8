"""CoNLL columns: a round trip restores them, and errors are reported with their place."""

from __future__ import annotations

import gzip
import io
import lzma

import pytest
from hypothesis import given, strategies as st

from fenchel.datasets import read_conll, write_conll


@given(
    st.lists(
        st.lists(
            st.tuples(st.text("ab|é#\u00a0\u2028\x85\x0b\x1c", min_size=1), st.text("BIO-\u3000", min_size=1)), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_round_trip_restores_the_columns(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("conll") / "text.gz"
    columns = [[[token[k] for token in sentence] for sentence in sentences] for k in (0, 1)]
    write_conll(path, *columns)
    assert read_conll(path) == tuple(columns)
    assert read_conll(path, columns=[-1]) == (columns[1],)


def test_real_files_with_byte_order_mark_document_lines_and_blank_lines_are_read():
    text = "\ufeff-DOCSTART- -X- O\r\n\r\nThe\tDT  O\r\n\r\n\r\n\r\ndog NN O"
    assert read_conll(io.BytesIO(text.encode())) == ([["The"], ["dog"]], [["DT"], ["NN"]], [["O"], ["O"]])


def test_only_spaces_and_tabs_separate_columns():
    text = "10\u00a0000 \t CD\r\n\u2009 X \r\n"
    assert read_conll(io.BytesIO(text.encode())) == ([["10\u00a0000", "\u2009"]], [["CD", "X"]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\n\nc\n", "line 3: 1 columns, and 2 above"),
        (b"a b\n\xff b\n", "line 2: byte 1 is not UTF-8"),
        (b"\n\n", "no tokens"),
        (b"a" * 70_000, "line 1: the line is longer"),
        (gzip.compress(b"a b\n" * 100_000)[:-20], "damaged or cut short"),
        (lzma.compress(b"a b\n" * 1000)[:60], "damaged or cut short"),
    ],
)
def test_errors_in_columns_are_reported_with_their_place(tmp_path, content, message):
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_conll(tmp_path / "text")


def test_options_and_cells_are_validated(tmp_path):
    with pytest.raises(ValueError, match="has 2 columns"):
        read_conll(io.BytesIO(b"a b\n"), columns=[2])
    for cell in ("b c", "b\tc", "b\r", "b\nc", ""):
        with pytest.raises(ValueError, match="sentence 0, token 1"):
            write_conll(tmp_path / "text", [["a", cell]])
    with pytest.raises(FileNotFoundError, match="no file"):
        read_conll(tmp_path / "none")
