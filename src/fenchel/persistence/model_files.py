"""Model files: a fitted model in one file, which is safe to open even from untrusted sources

The file is in the safetensors format: arrays as tensors, and in its metadata

    format   "fenchel-model"
    header   JSON: version of the format, version of fenchel, and the model: its class by name, its parameters, its fitted attributes
    sha256   of the header and of every tensor (name, type, shape, bytes; in the order of names), in hexadecimal digits

Nothing in a file is executed: classes are looked up in a fixed list of fenchel. The checksum detects damage; it does not prove who wrote
the file. :mod:`fenchel.persistence.model_writer` converts values to JSON and tensors, :mod:`fenchel.persistence.model_reader` converts
them back, and :mod:`fenchel.persistence.model_kinds` lists the permitted classes.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import prefixed
from fenchel.core.version import __version__
from fenchel.datasets.decompression import user_limit
from fenchel.persistence.model_kinds import DTYPES, ModelFileError
from fenchel.persistence.model_reader import Reader
from fenchel.persistence.model_writer import Writer

if TYPE_CHECKING:
    from fenchel.estimators import Estimator

FORMAT, VERSION = "fenchel-model", 1
MEMORY = 2**30  # bytes that a model may take beyond those stored in the file, by default

__all__ = ["ModelFileError", "load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, for :func:`load`; an existing file is replaced atomically.

    The file holds the constructor's parameters and every attribute whose name ends in an underscore. A model with other
    attributes, or with values that a file cannot hold, is refused.

    >>> save(object(), "nothing.fenchel")
    Traceback (most recent call last):
    fenchel.persistence.model_kinds.ModelFileError: object is not a model that fenchel can save. ...
    """
    from safetensors.numpy import save as as_bytes

    checked_place(path)
    writer = Writer()
    header = json.dumps({"version": VERSION, "fenchel": __version__, "model": writer.model(model)}, allow_nan=False)
    metadata = {"format": FORMAT, "header": header, "sha256": model_digest(header, writer.tensors)}
    with replacing(path) as temporary:
        temporary.write_bytes(as_bytes(writer.tensors, metadata=metadata))  # its own writer hides errors of the disk in another class


def load(path: str | os.PathLike[str], *, memory: int | None = None) -> Estimator:
    """Read a model written by :func:`save`; a damaged file, or one that is not a model, is refused.

    ``memory`` is the number of bytes that the model may take beyond those in the file, where zeros are not stored: by default
    ``$FENCHEL_MAX_BYTES``, else 1 GiB.

    >>> load("/nowhere/news.fenchel")
    Traceback (most recent call last):
    FileNotFoundError: There is no file /nowhere/news.fenchel: give one that was written by fenchel.save.
    """
    file, limit = Path(path), user_limit(memory, "memory")
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}: give one that was written by fenchel.save.")
    try:
        header, tensors = contents(file)
        return Reader(tensors, MEMORY if limit is None else limit).whole_model(header["model"])
    except ModelFileError as error:
        raise prefixed(f"{file}: ", error) from None
    except RecursionError:
        raise ModelFileError(f"{file}: its header is nested too deeply; the file was not written by fenchel.") from None


def contents(file: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the tensors, after validation against the checksum."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ModelFileError("it is a safetensors file but not a fenchel model: give one that was written by fenchel.save.")
            header = checked_header(metadata)
            types = {name: opened.get_slice(name).get_dtype() for name in opened.keys()}  # noqa: SIM118 (not a dict)
            odd = sorted(name for name, kind in types.items() if kind not in DTYPES)
            if odd:
                raise ModelFileError(
                    f"tensor {odd[0]!r} has type {types[odd[0]]}, which models do not use: the file was not written by fenchel."
                )
            tensors = {name: opened.get_tensor(name) for name in types}
    except (SafetensorError, OSError) as error:
        raise ModelFileError(f"it is damaged, incomplete or not a model file ({str(error).rstrip('.')}): get it again.") from None
    if model_digest(metadata["header"], tensors) != metadata.get("sha256"):
        raise ModelFileError("it is damaged: its contents do not match its checksum; get it again.")
    return header, tensors


def checked_header(metadata: dict[str, str]) -> dict[str, Any]:
    """The header; an error if this version of fenchel cannot read it."""
    try:
        header = json.loads(metadata.get("header", ""))
    except ValueError as error:
        raise ModelFileError(f"its header is not JSON ({error}): get it again.") from None
    version = header.get("version") if isinstance(header, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1 or "model" not in header:
        raise ModelFileError("its header has no version or no model: get it again.")
    if version > VERSION:
        raise ModelFileError(
            f"it was written by fenchel {header.get('fenchel')} in version {version} of the format, and this one reads up to {VERSION}: "
            "upgrade fenchel."
        )
    return header


def model_digest(header: str, tensors: dict[str, np.ndarray]) -> str:
    """SHA-256 of the header and the tensors, each preceded by its length or its shape to make the input unambiguous."""
    total = hashlib.sha256()

    def add(text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        total.update(len(data).to_bytes(8, "little"))
        total.update(data)

    add(header)
    for name in sorted(tensors):
        tensor = tensors[name]
        add(name)
        add(f"{tensor.dtype.str} {tensor.shape}")
        total.update(tensor.reshape(-1).view(np.uint8).data)
    return total.hexdigest()
