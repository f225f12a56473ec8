"""Compressed files: every byte is passed on, and files that expand too much are refused."""

from __future__ import annotations

import gzip
import io

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
