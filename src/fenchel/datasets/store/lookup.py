"""Named data sets: found in ``$FENCHEL_DATA`` or among earlier downloads, else downloaded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError
from fenchel.datasets.data import Data
from fenchel.datasets.generators import with_noise_features
from fenchel.datasets.store import catalogue, converters, fetch
from fenchel.datasets.store.catalogue import Entry, Split
from fenchel.datasets.svmlight.reader import read_svmlight
from fenchel.datasets.svmlight.writer import write_svmlight

COMPRESSED = ("", ".xz", ".bz2", ".gz")


def load(name: str, *, split: str = "train", download: bool = True, progress: bool = False, verify: bool = False) -> Data:
    """Load a data set by name: ``X, y = load("a9a")``.

    It is searched for in the folders of ``$FENCHEL_DATA``, then among earlier downloads; if it is in neither it is downloaded, unless
    ``download=False``. Labels are those of the file. ``verify=True`` compares a file in ``$FENCHEL_DATA`` with its registered checksum;
    downloads are always compared. ``available()`` lists the names.

    >>> load("a9a", split="teste")
    Traceback (most recent call last):
    fenchel.core.errors.InputError: a9a has no split 'teste': give one of 'train' or 'test'.
    """
    entry = catalogue.find(name)
    if entry.layout not in catalogue.READABLE:
        raise InputError(
            f"{name} is not a matrix but {entry.task} in {entry.layout} text: read fenchel.datasets.path({name!r}, split={split!r})."
        )
    source = catalogue.find(entry.base) if entry.base is not None else entry
    loaded = [_read(source, part, _locate(source, part, download, progress, verify)) for part in source.parts(split)]
    X, y, qid = (_concatenated(pieces) for pieces in zip(*loaded, strict=True))
    if entry.noise is not None:
        X = with_noise_features(X, kind=entry.noise)
    return Data(X, y, qid=qid, name=name if split == "train" else f"{name} ({split})")


def path(name: str, *, split: str = "train", download: bool = True, progress: bool = False, verify: bool = False) -> Path:
    """The path of the stored file of a data set, which may be compressed."""
    entry = catalogue.find(name)
    if entry.base is not None:
        raise InputError(f"{name} has no file, because it is derived from {entry.base}: use fenchel.datasets.load({name!r}).")
    parts = entry.parts(split)
    if len(parts) > 1:
        raise InputError(
            f"{name} {split} consists of several files: give the splits {' and '.join(map(repr, entry.splits[split].join))} instead."
        )
    return _locate(entry, parts[0], download, progress, verify)


@dataclass(frozen=True)
class Listing:
    """An entry of ``available()``; ``where`` is the file, or None if it is not on this machine."""

    name: str
    split: str
    task: str
    rows: int | None
    features: int | None
    classes: int | None
    where: Path | None
    source: str | None
    terms: str
    about: str

    def __str__(self) -> str:
        sizes = f"{self.rows if self.rows is not None else '?':>7} x {self.features or '?':<6}"
        where = self.where or ("to be downloaded" if self.source else "not available")
        return f"{self.name:<16}{self.split:<11}{self.task:<11}{sizes} {where}"


def available() -> list[Listing]:
    """Every named data set and split, with its sizes, terms of use and path.

    >>> [(known.split, known.rows) for known in available() if known.name == "mnist"]
    [('train', 60000), ('test', 10000)]
    """
    return [_listing(entry, split) for entry in catalogue.entries().values() for split in entry.splits]


def _listing(entry: Entry, split: str) -> Listing:
    parts = entry.parts(split)
    found = [_find_file(part.file) for part in parts]
    where = None if None in found else found[0]
    facts = (entry.features, entry.classes, where, parts[0].url, entry.terms, entry.about)
    return Listing(entry.name, split, entry.task, entry.rows(split), *facts)


def _folders() -> list[Path]:
    named = [Path(folder) for folder in os.environ.get("FENCHEL_DATA", "").split(os.pathsep) if folder]
    return [place for folder in named for place in (folder, folder / "structured")]


def _find_file(file: str) -> Path | None:
    names = [file + ending for ending in COMPRESSED]
    return next((folder / name for folder in [*_folders(), fetch.home()] for name in names if (folder / name).is_file()), None)


def _locate(entry: Entry, part: Split, download: bool, progress: bool, verify: bool) -> Path:
    """The file, which is downloaded if necessary; files downloaded earlier are compared with their checksum."""
    found = _find_file(part.file)
    if found is None:
        found = _download(entry, part, download, progress)
    elif verify or found.parent == fetch.home():
        _check_unchanged(found, part, verify)
    return found


def _check_unchanged(file: Path, part: Split, verify: bool) -> None:
    expected = fetch.recorded(file) or (part.sha256_xz if file.suffix == ".xz" else None)
    if expected is None and verify:
        raise InputError(f"There is no registered checksum of {file}: leave out ", Argument("verify", True), ".")
    if expected is not None and fetch.file_digest(file) != expected:
        advice = "delete it and load the set again" if file.parent == fetch.home() else "it is damaged or another version, so replace it"
        raise fetch.ChecksumError(f"{file} does not have its registered SHA-256 {expected}: {advice}.")


def _download(entry: Entry, part: Split, download: bool, progress: bool) -> Path:
    form = "in svmlight text, " if part.convert else ""
    advice = f"put it as {part.file} ({form}plain, .xz, .bz2 or .gz) in a folder listed in FENCHEL_DATA"
    if part.url is None:
        raise FileNotFoundError(f"{entry.name} is not on this machine and has no download address: {advice}.")
    if not download:
        raise FileNotFoundError(f"{entry.name} is not on this machine, and download=False: download {part.url} and {advice}.")
    ending = Path(part.url).suffix
    target = fetch.home() / (part.file + (ending if ending in COMPRESSED else ""))

    def accept(file: Path) -> Path:
        if part.beside_url is not None:
            beside = part.beside_file or f"{file.name}.labels"
            fetch.download(part.beside_url, file.with_name(beside), None, progress, advice)
        kept = _converted(file, part.convert) if part.convert else file
        if entry.layout in catalogue.READABLE:
            _check_contents(entry, part, _read(entry, part, kept), part.url)
        if part.beside_file is not None:
            os.replace(file.with_name(part.beside_file), target.with_name(part.beside_file))
        return kept

    return fetch.fetch(part.url, target, part.sha256, accept, progress, advice)


def _converted(file: Path, layout: str) -> Path:
    try:
        X, y = converters.CONVERTERS[layout](file)
    except (ValueError, UnicodeDecodeError) as error:
        raise fetch.ChecksumError(f"The download of {file.name} is not the expected file ({error}) and was discarded.") from None
    kept = file.with_name("converted")
    write_svmlight(kept, X, y)
    return kept


def _check_contents(entry: Entry, part: Split, loaded: tuple[Any, np.ndarray, Any], url: str | None) -> None:
    """Compare rows, features and classes with the registry: the only check for a file without a registered checksum."""
    X, y, _ = loaded
    found = {"rows": X.shape[0], "features": int(X.indices.max(initial=-1)) + 1, "classes": len(np.unique(y))}
    known = {"rows": part.rows, "features": entry.features, "classes": entry.classes}
    bounds = {"features"} if entry.task != "ranking" else {"features", "classes"}  # not every feature or grade need occur
    for fact, value in known.items():
        if value is not None and (found[fact] > value if fact in bounds else found[fact] != value):
            raise fetch.ChecksumError(
                f"{url} has {found[fact]:,} {fact}, and {entry.name} has {value:,}: it is not the expected file and was discarded."
            )


def _read(entry: Entry, part: Split, file: Path) -> tuple[Any, np.ndarray, np.ndarray | None]:
    X, y, *qid = read_svmlight(file, entry.features, qid=entry.layout == "letor")
    if part.beside_file is not None:
        return X, y, converters.query_ids(_beside(file, part.beside_file), len(y))
    return X, y, qid[0] if qid else None


def _beside(file: Path, name: str) -> Path:
    beside = file.with_name(name)
    if not beside.is_file():
        raise FileNotFoundError(f"{file} needs {name}, with the sizes of its queries, in the same folder: put it there.")
    return beside


def _concatenated(pieces: tuple[Any, ...]) -> Any:
    if pieces[0] is None or len(pieces) == 1:
        return pieces[0]
    return sp.csr_array(sp.vstack(pieces, format="csr")) if sp.issparse(pieces[0]) else np.concatenate(pieces)
