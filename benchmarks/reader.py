"""Megabytes of svmlight text read per second, against scikit-learn and svmloader (pip install svmloader); all return the same numbers."""

from __future__ import annotations

import lzma
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import best, show, text
from sklearn.datasets import load_svmlight_file

import fenchel as fl

try:
    import svmloader
except ImportError:
    svmloader = None

REAL = ["rcv1sub.ccat", "covtype.libsvm.binary.scale", "mnist"]


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and plain text files: generated text with all digits and with six, and data sets in $FENCHEL_DATA."""
    X, y = text(100_000)
    fl.datasets.write_svmlight(folder / "text", X, y)
    yield "generated, 17 digits", folder / "text"
    X.data = np.round(X.data, 6)
    fl.datasets.write_svmlight(folder / "short", X, y)
    yield "generated, 6 digits", folder / "short"
    for name in REAL:
        packed = Path(os.environ.get("FENCHEL_DATA", "")) / f"{name}.xz"
        if os.environ.get("FENCHEL_DATA") and packed.exists():
            with lzma.open(packed) as source, open(folder / name, "wb") as target:
                shutil.copyfileobj(source, target)
            yield name, folder / name


def check(ours: Any, theirs: Any) -> None:
    """Check that both results are exactly equal."""
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours[0], name), getattr(theirs[0], name))
    np.testing.assert_array_equal(ours[1], theirs[1])


def row(name: str, path: Path) -> list[object]:
    size = path.stat().st_size / 1e6
    os.sync()  # otherwise the system still writes the file to disk while it is read
    ours = fl.datasets.read_svmlight(path)
    check(ours, load_svmlight_file(str(path)))
    speed = size / best(lambda: fl.datasets.read_svmlight(path))
    single = size / best(lambda: fl.datasets.read_svmlight(path, threads=1), 3)
    sklearn = size / best(lambda: load_svmlight_file(str(path)), 1)
    cells: list[object] = [name, f"{size:.0f}", f"{speed:.0f}", f"{single:.0f}", f"{sklearn:.0f}", f"{speed / sklearn:.1f}"]
    if svmloader is None:
        return [*cells, "-", "-"]
    options = {"ltype": "d", "zero_based": False}
    check(ours, svmloader.load_svmfile(str(path), **options))
    loader = size / best(lambda: svmloader.load_svmfile(str(path), **options), 2)
    return [*cells, f"{loader:.0f}", f"{speed / loader:.1f}"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(name, path) for name, path in files(Path(folder))]
    columns = ["file", "MB", "fenchel", "one thread", "scikit-learn", "ratio", "svmloader", "ratio"]
    show("Reading svmlight text, in MB per second", columns, rows)


if __name__ == "__main__":
    main()
