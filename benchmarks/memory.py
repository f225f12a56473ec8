"""Peak memory of a run beyond the data, compared with 10% of the data plus the required vectors of m and n numbers (Linux)."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import dense, show, text

import fenchel as fl

CASES = [
    ("sdca", {}, fl.Hinge(), fl.L2(1e-5)),
    ("accelerated-sdca", {}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-7)),
    ("accelerated-sdca", {"variant": "practical"}, fl.SmoothHinge(), fl.L1L2(l1=1e-5, l2=1e-7)),
    ("fista", {}, fl.Logistic(), fl.L1L2(l1=1e-5, l2=1e-7)),
    ("lbfgs", {}, fl.Logistic(), fl.L2(1e-5)),
]


def megabytes(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def data_megabytes(X: object) -> float:
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return sum(part.nbytes for part in parts) / 2**20


def measure(X: object, y: np.ndarray, case: int) -> float:
    """The increase of the peak memory by one run, in MB."""
    solver, options, loss, regularizer = CASES[case]
    fl.minimize(fl.Problem(X[:2000], y[:2000], loss, regularizer), solver, max_passes=3, **options)  # compile first
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    fl.minimize(fl.Problem(X, y, loss, regularizer), solver, tol=1e-4, max_passes=20, **options)
    return megabytes("VmHWM") - before


def load(folder: Path) -> tuple[object, np.ndarray]:
    y = np.load(folder / "y.npy")
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy"), y
    parts = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr")]
    return sp.csr_array(tuple(parts)), y


def save(folder: Path, X: object, y: np.ndarray) -> None:
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr} if sp.issparse(X) else {"X": X}
    for name, part in {**parts, "y": y}.items():
        np.save(folder / f"{name}.npy", part)


def main() -> None:
    rows: list[list[object]] = []
    for X, y in (text(), dense(400_000, 100), tuple(part.astype(np.float32) for part in dense(400_000, 100))):
        with tempfile.TemporaryDirectory() as folder:
            save(Path(folder), X, y)
            for case, (solver, options, _, _) in enumerate(CASES):
                # In a separate process, so that memory freed by earlier cases does not hide the increase.
                done = subprocess.run([sys.executable, __file__, folder, str(case)], capture_output=True, text=True, check=True)
                extra, size = float(done.stdout), data_megabytes(X)
                vectors = (extra - 0.1 * size) / (8 * (X.shape[0] + X.shape[1]) / 2**20)
                kind = f"{'CSR' if sp.issparse(X) else 'dense'} {X.dtype}"
                label = " ".join([solver, *map(str, options.values())])
                rows.append([kind, label, f"{size:.0f}", f"{extra:.1f}", f"{extra / size:.1%}", f"{max(0.0, vectors):.1f}"])
    columns = ["data", "solver", "data (MB)", "peak above (MB)", "of the data", "(m+n)-vectors beyond 10%"]
    show("Peak memory of a run beyond the data", columns, rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(measure(*load(Path(sys.argv[1])), int(sys.argv[2])))
    else:
        main()
