"""Data sets by name: found in ``$FENCHEL_DATA``, else among earlier downloads, else fetched from their public home."""

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
    """The data set of that name: ``X, y = load("a9a")``.

    Looked for in the folders of ``$FENCHEL_DATA``, then among earlier downloads; failing both it is downloaded, unless
    ``download=False``. Labels are those of the file. ``verify=True`` compares a file of yours with the checksum on record;
    downloads are compared every time. ``available()`` lists the names.

    >>> load("a9a", split="teste")
    Traceback (most recent call last):
    fenchel.core.errors.InputError: a9a has no split 'teste': give one of 'train' or 'test'.
    """
    entry = catalogue.find(name)
    if entry.layout not in catalogue.READABLE:
        raise InputError(
            f"{name} is no matrix but {entry.task} in {entry.layout} text: fenchel.datasets.path({name!r}, {split!r}) gives its file."
        )
    source = catalogue.find(entry.base) if entry.base is not None else entry
    loaded = [_read(source, part, _at_hand(source, part, download, progress, verify)) for part in source.parts(split)]
    X, y, qid = (_joined(pieces) for pieces in zip(*loaded, strict=True))
    if entry.noise is not None:
        X = with_noise_features(X, kind=entry.noise)
    return Data(X, y, qid=qid, name=name if split == "train" else f"{name} ({split})")


def path(name: str, *, split: str = "train", download: bool = True, progress: bool = False, verify: bool = False) -> Path:
    """The file of a data set, as it is stored, for one that is to be read otherwise: often compressed."""
    entry = catalogue.find(name)
    if entry.base is not None:
        raise InputError(f"{name} has no file of its own, for it is made from {entry.base}: fenchel.datasets.load({name!r}) makes it.")
    parts = entry.parts(split)
    if len(parts) > 1:
        raise InputError(f"{name} {split} is several files: ask for {' and '.join(map(repr, entry.splits[split].join))} in turn.")
    return _at_hand(entry, parts[0], download, progress, verify)


@dataclass(frozen=True)
class Listing:
    """A line of ``available()``; ``where`` is the file, or None for a set that is not at hand."""

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
        where = self.where or ("to be downloaded" if self.source else "not at hand")
        return f"{self.name:<16}{self.split:<11}{self.task:<11}{sizes} {where}"


def available() -> list[Listing]:
    """Every data set known by name and split, with its sizes, terms and where it is.

    >>> [(known.split, known.rows) for known in available() if known.name == "mnist"]
    [('train', 60000), ('test', 10000)]
    """
    return [_listing(entry, split) for entry in catalogue.entries().values() for split in entry.splits]


def _listing(entry: Entry, split: str) -> Listing:
    parts = entry.parts(split)
    found = [_found(part.file) for part in parts]
    where = None if None in found else found[0]
    facts = (entry.features, entry.classes, where, parts[0].url, entry.terms, entry.about)
    return Listing(entry.name, split, entry.task, entry.rows(split), *facts)


def _folders() -> list[Path]:
    named = [Path(folder) for folder in os.environ.get("FENCHEL_DATA", "").split(os.pathsep) if folder]
    return [place for folder in named for place in (folder, folder / "structured")]


def _found(file: str) -> Path | None:
    names = [file + ending for ending in COMPRESSED]
    return next((folder / name for folder in [*_folders(), fetch.home()] for name in names if (folder / name).is_file()), None)


def _at_hand(entry: Entry, part: Split, download: bool, progress: bool, verify: bool) -> Path:
    """The file, downloaded if it must be, compared with its checksum if it was."""
    found = _found(part.file)
    if found is None:
        found = _fetched(entry, part, download, progress)
    elif verify or found.parent == fetch.home():
        _check_unchanged(found, part, verify)
    return found


def _check_unchanged(file: Path, part: Split, verify: bool) -> None:
    expected = fetch.recorded(file) or (part.sha256_xz if file.suffix == ".xz" else None)
    if expected is None and verify:
        raise InputError(f"No checksum of {file} is on record: leave out ", Argument("verify", True), ".")
    if expected is not None and fetch.file_digest(file) != expected:
        advice = "delete it and load the set again" if file.parent == fetch.home() else "it is another version, or damaged"
        raise fetch.ChecksumError(f"{file} does not have the SHA-256 {expected} on record: {advice}.")


def _fetched(entry: Entry, part: Split, download: bool, progress: bool) -> Path:
    form = "in svmlight text, " if part.convert else ""
    advice = f"put it as {part.file} ({form}plain, .xz, .bz2 or .gz) in a folder that FENCHEL_DATA names"
    if part.url is None:
        raise FileNotFoundError(f"{entry.name} is not at hand, and has no public address to fetch it from: {advice}.")
    if not download:
        raise FileNotFoundError(f"{entry.name} is not at hand, and download=False: fetch {part.url} and {advice}.")
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
        raise fetch.ChecksumError(f"What was downloaded as {file.name} is not what it should be ({error}), and was not kept.") from None
    kept = file.with_name("converted")
    write_svmlight(kept, X, y)
    return kept


def _check_contents(entry: Entry, part: Split, loaded: tuple[Any, np.ndarray, Any], url: str | None) -> None:
    """Rows, features and classes as registered: all that can be asked of a file whose checksum nobody has vouched for."""
    X, y, _ = loaded
    found = {"rows": X.shape[0], "features": int(X.indices.max(initial=-1)) + 1, "classes": len(np.unique(y))}
    known = {"rows": part.rows, "features": entry.features, "classes": entry.classes}
    bounds = {"features"} if entry.task != "ranking" else {"features", "classes"}  # not every feature or grade need occur
    for fact, value in known.items():
        if value is not None and (found[fact] > value if fact in bounds else found[fact] != value):
            raise fetch.ChecksumError(
                f"{url} has {found[fact]:,} {fact}, and {entry.name} has {value:,}: it is not the file fenchel knows, and was not kept."
            )


def _read(entry: Entry, part: Split, file: Path) -> tuple[Any, np.ndarray, np.ndarray | None]:
    X, y, *qid = read_svmlight(file, entry.features, qid=entry.layout == "letor")
    if part.beside_file is not None:
        return X, y, converters.query_ids(_beside(file, part.beside_file), len(y))
    return X, y, qid[0] if qid else None


def _beside(file: Path, name: str) -> Path:
    beside = file.with_name(name)
    if not beside.is_file():
        raise FileNotFoundError(f"{file} needs {name}, with the sizes of its queries, beside it: put it there.")
    return beside


def _joined(pieces: tuple[Any, ...]) -> Any:
    if pieces[0] is None or len(pieces) == 1:
        return pieces[0]
    return sp.csr_array(sp.vstack(pieces, format="csr")) if sp.issparse(pieces[0]) else np.concatenate(pieces)
