"""Compressed files: every byte is passed on, and files that expand too much are refused."""

from __future__ import annotations

import gzip
import io
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fenchel as fl
from fenchel.datasets import decompression


def test_files_that_expand_too_much_are_refused(tmp_path, monkeypatch):
    for kind in decompression.LIMITS:
        monkeypatch.setitem(decompression.LIMITS, kind, decompression.Limit(100_000, 200))
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((200, 500)), y=np.zeros(200))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"0,0\n" * 1_000_000))
    pq.write_table(pa.table({"a": np.zeros(10_000_000), "y": np.zeros(10_000_000)}), tmp_path / "a.parquet")
    for name in ("a.npz", "a.csv.gz", "a.parquet"):
        with pytest.raises(ValueError, match="exhaust the memory"):
            fl.datasets.read(tmp_path / name)


def test_bounded_streams_pass_on_every_byte(tmp_path):
    allowance = decompression.Allowance("a", lambda: 10, "svmlight")
    with decompression.Bounded(io.BytesIO(b"0123456789" * 1000), allowance) as stream:
        assert io.BufferedReader(stream).read() == b"0123456789" * 1000


def packed_files(folder):
    """Small files of every text format, whose contents are much larger."""
    texts = {
        "a.svm": b"1 1:1\n",
        "a.csv": b"a,y\n0,0\n",
        "a.tsv": b"a\ty\n",
        "a.conll": b"a\n\n",
        "a.fa": b">a\nA\n",
        "a.dbn": b">a\nA\n.\n",
    }
    texts |= {"a.bpseq": b"# heading\n", "a.npz": b"\0", "a.parquet": b"\0"}
    for name, text in texts.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(text * (300_000 // len(text))))
        yield folder / f"{name}.gz"


READERS = {".conll": fl.datasets.read_conll, ".fa": fl.datasets.read_rna, ".dbn": fl.datasets.read_dbn, ".bpseq": fl.datasets.read_bpseq}


def test_every_reader_refuses_files_that_expand_beyond_the_users_limit(tmp_path, monkeypatch):
    for path in packed_files(tmp_path):
        read = READERS.get(path.suffixes[0], fl.datasets.read)
        with pytest.raises(fl.InputError, match=r"would expand from .* or more, and 200,000 are allowed.*max_bytes=.*FENCHEL_MAX_BYTES"):
            read(path, max_bytes=200_000)
        monkeypatch.setenv("FENCHEL_MAX_BYTES", "100k")
        with pytest.raises(fl.InputError, match="102,400 are allowed"):
            read(path)
        monkeypatch.delenv("FENCHEL_MAX_BYTES")


def test_the_user_can_allow_more(tmp_path, monkeypatch):
    monkeypatch.setitem(decompression.LIMITS, "svmlight", decompression.Limit(1000, 2))
    (tmp_path / "a.svm.xz").write_bytes(lzma.compress(b"1 1:1\n" * 10_000))
    with pytest.raises(fl.InputError, match="would expand"):
        fl.datasets.read(tmp_path / "a.svm.xz")
    assert len(fl.datasets.read(tmp_path / "a.svm.xz", max_bytes=60_000)) == 10_000
    monkeypatch.setenv("FENCHEL_MAX_BYTES", "1 MiB")
    assert len(fl.datasets.read(tmp_path / "a.svm.xz")) == 10_000


@pytest.mark.parametrize("text", ["much", "-1", "0", "1.5G", "8X"])
def test_an_unusable_limit_is_refused(tmp_path, monkeypatch, text):
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress(b"1 1:1\n"))
    monkeypatch.setenv("FENCHEL_MAX_BYTES", text)
    with pytest.raises(fl.InputError, match=r"FENCHEL_MAX_BYTES is .*: give a number of bytes"):
        fl.datasets.read(tmp_path / "a.svm.gz")
    with pytest.raises(fl.InputError, match="max_bytes=True: give a whole number"):
        fl.datasets.read(tmp_path / "a.svm.gz", max_bytes=True)


def test_text_that_expands_too_much_is_refused_at_its_beginning(tmp_path):
    """The limit refers to the compressed bytes read so far, so that a large file is refused as early as a small one."""
    path = tmp_path / "a.svm.gz"
    path.write_bytes(gzip.compress(b"\n" * (decompression.LIMITS["svmlight"].always + (1 << 22))) + bytes(range(256)) * 40_000)
    with pytest.raises(fl.InputError, match="would expand") as refusal:
        fl.datasets.read(path)
    assert int(str(refusal.value).partition("would expand from ")[2].split()[0].replace(",", "")) < 200_000


@pytest.mark.parametrize("name", ["a.svm.gz", "a.csv.gz", "a.conll.gz", "a.dbn.gz", "a.npz.gz", "a.parquet.gz", "a.bpseq.gz"])
def test_damage_within_the_compressed_data_is_an_error_about_the_input(tmp_path, name):
    whole = gzip.compress(bytes(np.random.default_rng(0).integers(40, 90, 5000, dtype=np.uint8)))
    (tmp_path / name).write_bytes(whole[:1000] + b"\xff" * 50 + whole[1050:])
    with pytest.raises(fl.InputError, match=r"\.$"):
        READERS.get(f".{name.split('.')[1]}", fl.datasets.read)(tmp_path / name)
