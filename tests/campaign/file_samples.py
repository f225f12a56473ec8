"""Small valid files of every format that fenchel reads, as (ending, contents), and hostile texts to insert into them."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import tarfile
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

PACKERS = {"": bytes, ".gz": functools.partial(gzip.compress, compresslevel=1, mtime=0), ".bz2": bz2.compress, ".xz": lzma.compress}

SVMLIGHT = [
    b"+1 1:0.5 3:2  # a comment\n-1 2:1\n# all\n\n1 1:-1e-3 2:7.25\n",
    b"2 qid:1 1:0.5 2:0\n0 qid:1 1:1 2:3\n1 qid:2 1:0.1\n0 qid:2 2:1\n",
    b"1,3 1:0.5\n2 2:1\n 3:1 4:2\n",
    b"0.25 0:1.7976931348623157e308 5:12345678901234567890123\n-3 1:0.1 2147483648:1\n",
    b"1 " + b" ".join(b"%d:%d" % (k, k % 7) for k in range(1, 60)) + b"\n-1 3:1\n",
]
TABLES = [
    b"hp,fuel,class\n90,diesel,old\n120,petrol,new\n100,petrol,new\n",
    b'a,"b ""c""",y\n1.5,"x, z",1\n,"line\nbreak",0\n2,x,1\n',
    b"a;b;target\n1,5;2;1\n2,5;3,25;0\n",
    b"when,flag,n,y\n2020-01-02,true,1,a\n2021-01-02,false,2,b\n2022-01-02,true,3,a\n",
]
CONLL = [
    b"-DOCSTART- -X- O\n\nThe DT B-NP\ndog NN I-NP\n\nBarks VBZ B-VP\n",
    "Île\tX\r\né\tY\r\n\r\na b\n".encode(),
]
FASTA = [b">one\nGGGA\nAACCC\n>two\nGAAAC\n", b">x\nACGU\n"]
DBN = [b">hairpin\nGGGAAACCC\n(((...)))\n>b\nGGGGAAACCC\n[.((..])). (-3.10)\n", "\ufeff>ß\nGGAACC\n((..))\n".encode()]
BPSEQ = [b"# heading\n1 G 5\n2 A 0\n3 A 0\n4 A 0\n5 C 1\n", b"1 G 4\n2 A 5\n3 A 0\n4 C 1\n5 U 2\n6 G 9\n7 A 0\n8 A 0\n9 C 6\n"]


def parquet_samples() -> list[bytes]:
    """Parquet files: numbers and texts, nested columns, several row groups, several kinds of compression."""
    plain = pa.table({"a": [1.0, 2.5, 3.0], "t": ["x", "y", "x"], "n": [1, 2, 3], "y": ["p", "q", "p"]})
    nested = pa.table(
        {"l": [[1], [2, 3], []], "b": [b"1", b"2", None], "when": pa.array([1, 2, 3], pa.date32()), "x": [1, 2, 3], "y": [0, 1, 0]}
    )
    large = pa.table({"a": np.arange(50.0) % 3, "t": ["long" * 5, "z"] * 25, "y": [True, False] * 25})
    made = []
    for table, options in ((plain, {}), (plain, {"compression": "zstd"}), (nested, {"compression": None}), (large, {"row_group_size": 20})):
        pq.write_table(table, sink := pa.BufferOutputStream(), **options)
        made.append(sink.getvalue().to_pybytes())
    return made


def npz_arrays() -> list[dict[str, np.ndarray]]:
    """The arrays of .npz files: dense and sparse."""
    X = sp.csr_array(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array([2, 3])}
    names = {"feature_names": np.array(["a", "b", "c"]), "target_name": np.array("y"), "qid": np.array([1, 2])}
    return [
        {"X": np.arange(6.0).reshape(3, 2), "y": np.array(["é", "b", "b"]), "sample_weight": np.ones(3)},
        {**parts, **names, "y": np.array([1.0, -1.0])},
        {**parts, "format": np.array(b"csr"), "_is_array": np.array(True)},
        {"X": np.eye(2, dtype=np.uint8), "y": np.array([True, False])},
    ]


def npy(array: np.ndarray) -> bytes:
    """An array in NumPy's format."""
    np.lib.format.write_array(file := io.BytesIO(), array, allow_pickle=False)
    return file.getvalue()


def zipped(members: dict[str, bytes], packing: int) -> bytes:
    """A zip of these members, always with the same date."""
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        for name, contents in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), contents, packing)
    return file.getvalue()


def npz_samples() -> list[bytes]:
    """Files of these arrays, compressed and not."""
    every = [{name: npy(array) for name, array in arrays.items()} for arrays in npz_arrays()]
    return [zipped(members, packing) for members in every for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]


def tar_samples() -> list[bytes]:
    """Archives of .bpseq files, in the three formats of tar."""
    made = []
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
        with tarfile.open(fileobj=(file := io.BytesIO()), mode="w", format=form) as archive:
            for k, text in enumerate(BPSEQ[:1] * 2):
                info = tarfile.TarInfo(f"{'long' * 30 if k else 'ü'}{k}.bpseq" if form != tarfile.USTAR_FORMAT else f"{k}.bpseq")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        made.append(file.getvalue())
    return made


@functools.cache
def samples() -> dict[str, list[bytes]]:
    """The contents of valid files by ending, before any compression around them."""
    return {
        ".svm": SVMLIGHT,
        ".csv": TABLES,
        ".tsv": [text.replace(b",", b"\t") for text in TABLES],
        ".parquet": parquet_samples(),
        ".npz": npz_samples(),
        ".conll": CONLL,
        ".fa": FASTA,
        ".dbn": DBN,
        ".bpseq": BPSEQ,
        ".tar": tar_samples(),
    }


TOKENS = [
    b"\n", b"\r", b"\r\n", b" ", b"\t", b"\v", b"\0", b"#", b":", b",", b";", b'"', b'""', b"'", b"-", b"+", b".", b"e", b"()", b"(",
    b")", b"[", b"]", b">", b">a\n", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"1e-400", b"0x1p3", b"1_0", b"99999999999999999999",
    b"-1", b"9223372036854775807", b"9223372036854775808", b"4294967295", b"2147483648", b"4611686018427387904:1", b"1:1:1", b"0:1",
    b"qid:", b"qid:1", b"qid:-99999999999999999999", b"1,2,3", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80",
    "é".encode(), "\u2028".encode(), "\u00a0".encode(), b"-DOCSTART-", b"PAR1", b"PK\x05\x06", b"PK\x01\x02", b"\x93NUMPY", b"\x1f\x8b",
    b"BZh9", b"\xfd7zXZ\x00", b"path=", b"true", b"null", b"NA", b"2020-01-01",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x80\x01", b"1:0.1" + b"3" * 400, b"0" * 5000 + b"1", b"((((((((((", b"1 2 3 4 5",
]  # fmt: skip

# Texts that take much memory for their size, or much time, when they are repeated; by ending.
BOMBS = {
    ".svm": [b"1\n", b"\n", b"#\n", b"1 1:1\n", b" ", b"1 qid:1\n", b"1 1:1 2:1 3:1 4:1\n", b"0", b"x"],
    ".csv": [b"0,0\n", b",\n", b"\n", b"a,", b'"', b"a,b\n", b'"\n",', b"0", b"1;1\n"],
    ".tsv": [b"0\t0\n", b"\t\n", b"a\t", b"a\tb\n"],
    ".conll": [b"a\n\n", b"a b\n", b"\n", b"a ", b"-DOCSTART-\n", b"a\n"],
    ".fa": [b">a\nA\n", b">a\n", b"A\n", b"\n", b"A"],
    ".dbn": [b">a\nA\n.\n", b">a\n\n\n", b"(", b"\n"],
    ".bpseq": [b"\n", b"# x\n", b"1 A 0\n", b"1"],
    ".tar": [b"\0", b"a.bpseq" + bytes(505)],
    ".npz": [b"\0"],
    ".parquet": [b"\0"],
}
