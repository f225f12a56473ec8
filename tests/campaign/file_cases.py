"""Hostile files: case k of seed s is a function of (s, k) alone"""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fenchel as fl
from fenchel.datasets import Encoding, read_bpseq, read_conll, read_dbn, read_rna, read_svmlight
from tests.campaign import model_cases
from tests.campaign.file_samples import BOMBS, PACKERS, TOKENS, npy, npz_arrays, samples, zipped

BOMB_ALLOWED = 1 << 21  # bytes that the readers may expand bombs to
SLACK = 1 << 28  # bytes that any plain file may take
COMPRESSED = 1 << 30  # bytes that a compressed file may take: 16 times the 64 MiB that any file may expand to
LARGEST = 1 << 22  # bytes of a plain file: repeated parts that are repeated again would make gigabytes
COLUMN = 10_000  # bytes that each column of a table may take, as SECURITY.md says
BOMB_SLACK = 1 << 26  # bytes that any bomb may take, for the buffers of threads and of Arrow
MULTIPLES = {".conll": 64, ".fa": 64, ".dbn": 64, ".bpseq": 64, ".tar": 64}  # the memory of a bomb relative to its text; others: 32
NUMBER = re.compile(rb"\d+")


class Case(NamedTuple):
    """A file, what reads it, and the bytes of memory that this may take; the kind is for counts."""

    kind: str
    name: str
    contents: bytes
    use: Callable[[Path], Any]
    memory: int = SLACK


def case(seed: int, k: int) -> Case:
    """Case k of this seed."""
    rng = random.Random(f"{seed} {k}")
    draw = rng.random()
    if draw < 0.25:
        kind, contents = model_cases.forged(rng)
        return Case(kind, "m.fenchel", contents, model_cases.use)
    if draw < 0.255:
        return _bomb(rng)
    if draw < 0.29:
        return Case("encoding", "e.json", mutated(rng, _encoding(), []), lambda path: Encoding.from_json(path.read_bytes()))
    ending = rng.choice(list(samples()))
    contents = _npz(rng) if ending == ".npz" and rng.random() < 0.5 else mutated(rng, rng.choice(samples()[ending]), samples()[ending])
    packing = rng.choice(["", "", *PACKERS])
    columns = max(contents.count(mark) for mark in (b",", b"\t", b";")) if ending in (".csv", ".tsv") else 0
    contents = PACKERS[packing](contents)
    if packing and rng.random() < 0.5:
        contents = mutated(rng, contents, [PACKERS[packing](rng.choice(samples()[ending]))])
    shown = packing if rng.random() < 0.8 else rng.choice(list(PACKERS))
    return Case(
        ending + packing, f"a{ending}{shown}", contents, _reader(rng, ending), (COMPRESSED if packing else SLACK) + COLUMN * columns
    )


def _encoding() -> bytes:
    return (
        Encoding.from_json(
            '{"format": "fenchel-encoding-1", "columns": [{"name": "a", "kind": "number", "fill": 0.5}, '
            '{"name": "b", "kind": "category", "categories": ["x", "y"]}], "target": {"name": "y", "kind": "number"}}'
        )
        .to_json()
        .encode()
    )


def _bomb(rng: random.Random) -> Case:
    ending = rng.choice(list(BOMBS))
    text = rng.choice(BOMBS[ending])
    start = rng.choice([b"", *samples()[ending]]) if ending not in (".parquet", ".npz") else b""
    contents = start + text * (rng.choice([BOMB_ALLOWED // 2, 8 * BOMB_ALLOWED]) // len(text))
    packing = rng.choice([".gz", ".bz2", ".xz"])
    options: dict[str, Any] = {"max_bytes": BOMB_ALLOWED}
    memory = BOMB_SLACK + MULTIPLES.get(ending, 32) * BOMB_ALLOWED
    return Case("bomb" + ending, f"a{ending}{packing}", PACKERS[packing](contents), _reader(rng, ending, options), memory)


def _reader(rng: random.Random, ending: str, options: dict[str, Any] | None = None) -> Callable[[Path], Any]:
    """A function that reads files of this ending, with random options."""
    more: dict[str, Any] = dict(options or {})
    crossing = rng.random() < 0.5
    if ending == ".svm" and rng.random() < 0.5:
        more |= {
            "multilabel": rng.random() < 0.3,
            "qid": rng.random() < 0.3,
            "features": rng.choice([None, None, 3]),
            "threads": rng.choice([1, 2]),
        }
        return lambda path: read_svmlight(path, index_base=rng.choice(["auto", 0, 1]), **more)
    if ending in (".csv", ".tsv", ".parquet"):
        given = {
            "target": rng.choice([None, "y", "a"]),
            "missing": rng.choice([None, "zero", "mean"]),
            "max_categories": rng.choice([None, 2]),
        }
        given["drop"] = rng.choice([(), ("l", "b", "when"), "a"])
        return lambda path: fl.datasets.read(path, **given, **more)
    if ending in (".svm", ".npz"):
        return lambda path: fl.datasets.read(path, dtype=rng.choice([np.float32, np.float64]), **more)
    if ending == ".conll":
        return lambda path: read_conll(path, rng.choice([None, [0], [0, -1]]), **more)
    read = {".fa": read_rna, ".dbn": rng.choice([read_rna, read_dbn]), ".bpseq": read_bpseq, ".tar": read_rna}[ending]
    return lambda path: read(path, drop_crossing=crossing, **more)


def mutated(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    """The contents after a few random changes."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        contents = rng.choice(MUTATIONS)(rng, contents, others)[:LARGEST]
    return contents


def _place(rng: random.Random, contents: bytes) -> int:
    return rng.randrange(len(contents) + 1)


def _flip(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    made = bytearray(contents)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if made:
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _set_byte(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, contents)
    return contents[:at] + bytes([rng.choice([0, 1, 10, 127, 128, 255, rng.randrange(256)])]) + contents[at + 1 :]


def _truncate(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    return contents[: _place(rng, contents)] if rng.random() < 0.7 else contents[_place(rng, contents) :]


def _duplicate(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    a, b, at = [*sorted([_place(rng, contents), _place(rng, contents)]), _place(rng, contents)]
    return contents[:at] + contents[a:b] * min(rng.choice([1, 1, 2, 50]), 1 + LARGEST // max(b - a, 1)) + contents[at:]


def _delete(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    a = _place(rng, contents)
    return contents[:a] + contents[a + rng.choice([1, 2, 4, 30]) :]


def _splice(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    other = rng.choice(others) if others and rng.random() < 0.8 else rng.choice(rng.choice(list(samples().values())))
    return contents[: _place(rng, contents)] + other[_place(rng, other) :]


def _insert(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, contents)
    return contents[:at] + rng.choice(TOKENS) * rng.choice([1, 1, 1, 3, 1000]) + contents[at:]


def _renumber(rng: random.Random, contents: bytes, others: list[bytes]) -> bytes:
    found = list(NUMBER.finditer(contents))
    if not found:
        return contents
    chosen = rng.choice(found)
    number = rng.choice([b"0", b"-1", b"99999999", b"2147483648", b"9223372036854775808", b"1e308", b"nan", b"1.5", b"true", b'"a"', b"[]"])
    return contents[: chosen.start()] + number + contents[chosen.end() :]


MUTATIONS = [_flip, _flip, _set_byte, _truncate, _duplicate, _delete, _splice, _insert, _insert, _renumber]


def _npz(rng: random.Random) -> bytes:
    """An .npz file with forged members whose checksums are right."""
    members = {}
    for name, array in rng.choice(npz_arrays()).items():
        contents = npy(rng.choice(JUNK_ARRAYS) if rng.random() < 0.3 else array)
        members[name] = mutated(rng, contents, []) if rng.random() < 0.3 else contents
    return zipped(members, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


JUNK_ARRAYS = [
    np.array(0), np.array(1.5), np.empty(0), np.empty((0, 3)), np.empty((10**9, 0)), np.empty((0, 10**9)), np.full(3, np.nan),
    np.array(["a", "b"]), np.array([b"x", b"y"]), np.empty(10**6, dtype="U0"), np.array([1, 2, 3], dtype=np.uint64) * 2**62,
    np.array([-1, 5]), np.array([2**62, 2**62]), np.array([1 + 2j, 3]), np.array(["2020-01-01"], dtype="M8[D]"), np.ones((2, 3, 4)),
    np.ones((2, 2), dtype=np.float16), np.ones(2, dtype=">f8"), np.array([True, False]), np.zeros(2, dtype=[("a", "f8")]),
    np.ones((2, 3), order="F"), np.array([0, 1, 2], dtype=np.int8), np.ones(2, dtype="f4"), np.array([3, 1, 2]),
    np.array([0.0, 1.0, 2.0]), np.array([1e300, 1e308]), np.longdouble([1.0, 2.0]),
]  # fmt: skip
