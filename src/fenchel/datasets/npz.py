"""NumPy's .npz: dense ``X``, or the parts ``data``, ``indices``, ``indptr`` and ``shape`` of a CSR matrix, and ``y``.

A zip of arrays, read without pickle. The sizes in its headers are compared with each other and with the file before
anything is allocated, and a matrix with indices outside its shape is refused, because kernels do not check indices.
"""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError
from fenchel.core.messages import shortened
from fenchel.datasets.data import Data
from fenchel.datasets.decompression import Allowance
from fenchel.datasets.text_files import DAMAGE, contents, gist
from fenchel.linalg.storage import as_storage

LONGEST_LIST = 300  # characters of a list of names in a message
MOST_EMPTY = 1 << 20  # the product of the other dimensions of an empty array, over which NumPy iterates
SPARSE = ("data", "indices", "indptr", "shape")
SCIPY = {"format", "_is_array"}  # added by scipy.sparse.save_npz
# What zipfile and NumPy raise for damaged files; headers are Python literals, which raise errors of Python's parser.
UNREADABLE = (*DAMAGE, zipfile.BadZipFile, struct.error, KeyError, RuntimeError, SyntaxError, tokenize.TokenError, TypeError, ValueError)
MEMBERS = {*SPARSE, *SCIPY, "X", "y", "qid", "feature_names", "target_name", "sample_weight"}


def read_npz(path: Path, dtype: Any, max_bytes: int | None = None) -> Data:
    """The data in an .npz file, which may expand to ``max_bytes``, by default to the larger of 256 MiB and 200 times its size."""
    try:
        arrays = _arrays(path, max_bytes)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path} is not an .npz file that can be read: {gist(error)}.") from None
    for name in ("format", "target_name"):
        if name in arrays and arrays[name].shape != ():
            raise InputError(f"{path} has {name} of shape {arrays[name].shape}: give a single text.")
    X = _matrix(path, arrays)
    extra = {name: arrays.get(name) for name in ("y", "qid", "sample_weight")}
    for name, values in extra.items():
        if values is not None and values.shape != (X.shape[0],):
            raise InputError(f"{path} has {name} of shape {values.shape} for {X.shape[0]:,} rows: give one value per row.")
        if values is not None and values.dtype.kind not in ("fiub" if name == "sample_weight" else "fiubU"):
            raise InputError(f"{path} has {name} of type {values.dtype}: give numbers{'' if name == 'sample_weight' else ' or text'}.")
    names = arrays.get("feature_names")
    if names is not None and names.shape != (X.shape[1],):
        raise InputError(f"{path} has feature_names of shape {names.shape} for {X.shape[1]:,} features: give one name per feature.")
    target = str(arrays["target_name"]) if "target_name" in arrays else None
    y = extra["y"] if extra["y"] is None or extra["y"].dtype.kind == "U" else extra["y"].astype(np.float64)
    features = None if names is None else tuple(names.tolist())
    return Data(X.astype(dtype, copy=False), y, features, target, extra["qid"], sample_weight=extra["sample_weight"])


def _arrays(path: Path, max_bytes: int | None) -> dict[str, np.ndarray]:
    unpacked = contents(path, "arrays", max_bytes)
    with zipfile.ZipFile(path if unpacked is None else unpacked) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if len(members) < len(archive.infolist()) or not set(members) <= MEMBERS:
            held = ", ".join(map(shortened, sorted(members)))[:LONGEST_LIST]
            raise InputError(f"{path} holds {held}: only {', '.join(sorted(MEMBERS))} are allowed, each once.")
        allowance = Allowance(str(path), lambda: path.stat().st_size, "arrays", max_bytes)
        allowance.check(sum(info.file_size for info in members.values()))
        return {name: _array(path, archive, info) for name, info in members.items()}


def _array(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        if dtype.kind not in "fiubUS" or dtype.itemsize == 0:  # texts of no characters would be without number
            raise InputError(f"{path}: {info.filename} holds {dtype}: give numbers or text.")
        if 0 in shape and math.prod(n for n in shape if n) > MOST_EMPTY:
            raise InputError(f"{path}: {info.filename} has the shape {shape}, which holds nothing: write it again.")
        if math.prod(shape) * dtype.itemsize != info.file_size - stream.tell():
            raise InputError(
                f"{path}: {info.filename} has the shape {shape} of {dtype} in its header, which does not match its size: write it again."
            )
    with archive.open(info) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _matrix(path: Path, arrays: dict[str, np.ndarray]) -> Any:
    if "X" in arrays:
        return as_storage(arrays["X"])
    absent = [name for name in SPARSE if name not in arrays]
    if absent:
        raise InputError(f"{path} has neither X nor all of {', '.join(SPARSE)}: {', '.join(absent)} is missing.")
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise InputError(f"{path} has the shape {str(shape.tolist())[:LONGEST_LIST]}: give two whole numbers that are not negative.")
    if arrays.get("format") is not None and arrays["format"].item() not in (b"csr", "csr"):
        raise InputError(f"{path} holds a sparse matrix that is not CSR: save X.tocsr().")
    try:
        X = sp.csr_array(tuple(arrays[name] for name in SPARSE[:3]), shape=tuple(shape.tolist()))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is damaged: {error}.") from None
    return as_storage(X)


def write_npz(file: Any, data: Data) -> None:
    """Write the data to an open file, compressed."""
    parts: dict[str, Any] = {"y": data.y, "qid": data.qid, "sample_weight": data.sample_weight}
    parts |= {"feature_names": None if data.feature_names is None else np.array(data.feature_names, dtype=np.str_)}
    parts |= {"target_name": None if data.target_name is None else np.array(data.target_name)}
    if sp.issparse(data.X):
        X = data.X.tocsr()
        parts |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape, dtype=np.int64)}
    else:
        parts["X"] = np.asarray(data.X)
    held = {name: part for name, part in parts.items() if part is not None}
    if isinstance(file, io.BufferedIOBase) and not isinstance(file, io.BufferedWriter):  # compressed once more, and then not seekable
        np.savez_compressed(whole := io.BytesIO(), **held)
        file.write(whole.getbuffer())
    else:
        np.savez_compressed(file, **held)
