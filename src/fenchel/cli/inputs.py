"""Read the ``DATA`` argument, a file or the name of a data set, for training or for a model that was trained before."""

from __future__ import annotations

import difflib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.cli.screen import label, print_message
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets.row_store.manifest import is_store

if TYPE_CHECKING:
    from fenchel.datasets import Data, Encoding

TASKS = ("auto", "classify", "regress")
FEW_CLASSES = 20
KNOWN_TASKS = {"binary": "classify", "multiclass": "classify", "regression": "regress"}
COMMANDS_OF = {"Tagger": "tag", "Ranker": "rank", "RnaFolder": "fold"}  # command groups for models that are not linear


class TableOptions(NamedTuple):
    """How to read a file: its format and, for a table, its columns."""

    target: str | None = None
    features: str | None = None
    drop: str | None = None
    missing: str | None = None
    sample_weight: str | None = None
    format: str | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``fenchel.datasets.read`` that were given."""
        several = {name: getattr(self, name).split(",") for name in ("features", "drop") if getattr(self, name)}
        return {name: value for name, value in {**self._asdict(), **several}.items() if value is not None}


DEFAULTS = TableOptions()


def read_rows(source: str, columns: TableOptions = DEFAULTS, encoding: Encoding | None = None, index_base: int | None = None) -> Data:
    """Rows and labels from a file or a named data set."""
    from fenchel import datasets

    if not Path(source).exists():
        check_no_options(source, columns)
        return _by_name(source)
    known: dict[str, Any] = {} if index_base is None else {"index_base": index_base}
    return datasets.read(source, encoding=encoding, **columns.arguments(), **known)


def read_training_rows(source: str, columns: TableOptions) -> Data:
    """Rows and labels; an error if there are no rows or no labels."""
    data = read_rows(source, columns)
    if data.y is None:
        raise InputError(f"{source} has no labels to train on: add them as y.")
    if not len(data):
        raise InputError(f"{source} has no rows to train on: give a file with rows.")
    return data


def check_no_options(source: str, columns: TableOptions) -> None:
    """Refuse options that choose columns, since named data sets have none to choose from."""
    check_known(source)
    given = columns.arguments()
    if given:
        raise InputError(Argument(next(iter(given)), ...), f" is for files, and {source} is a named data set: leave it out.")


def check_known(source: str) -> None:
    """Refuse a source that is neither a file nor a data set, and suggest similar names."""
    from fenchel.datasets.store.catalogue import entries

    name = source.partition(":")[0]
    if name not in entries():
        near = difflib.get_close_matches(name, entries(), n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(map(repr, near))}? " if near else "check the path. "
        raise InputError(f"There is no file {source}, and no data set of that name: {meant}fenchel datasets list shows the names.")


def _by_name(source: str) -> Data:
    from fenchel import datasets

    name, _, split = source.partition(":")
    split = split or "train"
    listing = next((known for known in datasets.available() if (known.name, known.split) == (name, split)), None)
    if listing is not None and listing.where is None and listing.source is not None:
        print_message(f"Downloading {source} from {listing.source}.")
    return replace(datasets.load(name, split=split, progress=True), name=source)


def task_of(requested: str, source: str, y: Any) -> str:
    """classify or regress: as requested, else the task of the named data set, else guessed from the labels."""
    from fenchel.datasets.store.catalogue import entries

    if checked_choice("task", requested, TASKS) != "auto":
        if requested == "regress" and y.dtype.kind not in "fiub":
            raise InputError(
                f"{source} has labels that are text, such as {str(y[0])!r}, and regression needs numbers: give --task classify."
            )
        return _checked_classes(source, y, requested)
    name = source.partition(":")[0]
    if not Path(source).exists() and name in entries() and entries()[name].task in KNOWN_TASKS:
        return KNOWN_TASKS[entries()[name].task]
    return _checked_classes(source, y, guessed_task(y))


def _checked_classes(source: str, y: Any, task: str) -> str:
    """The task; an error if it is classification and the labels are unsuitable."""
    values = np.unique(y)
    if task == "classify" and len(values) == 1:
        raise InputError(f"{source} has only one class, {label(values[0])}: classification needs rows of at least two classes.")
    if task == "classify" and y.dtype.kind == "f" and (values != np.round(values)).any():
        raise InputError(f"{source} has {len(values):,} different labels that are not whole numbers: give --task regress.")
    return task


def guessed_task(y: np.ndarray) -> str:
    """classify if labels are text or few whole numbers.

    >>> guessed_task(np.array(["a", "b"])), guessed_task(np.array([1.0, 2.0, 1.0, 2.0])), guessed_task(np.array([0.5, 2.0]))
    ('classify', 'classify', 'regress')
    """
    if y.dtype.kind not in "fiu":
        return "classify"
    values = np.unique(y)
    whole = bool((values == np.round(values)).all())
    return "classify" if whole and len(values) <= min(FEW_CLASSES, max(2, len(y) // 2)) else "regress"


def load_model(model: Path, data: str) -> Any:
    """Load the model; an error if model and data were given in the wrong order."""
    from fenchel import load

    if is_model(Path(data)) and model.is_file() and not is_model(model):
        raise InputError(f"{data} is a model, and {model} is not: swap them, because the model comes first.")
    return load(model)


def load_linear_model(model: Path, data: str) -> Any:
    """Load the model; an error if it is not a linear model."""
    found = load_model(model, data)
    name = type(found).__name__
    if name in COMMANDS_OF or hasattr(found, "model_"):
        group = COMMANDS_OF.get(name)
        use = f"use fenchel {group}" if group else "load it in Python with fenchel.load"
        raise InputError(f"{model} holds a {name}, and this command is for linear models: {use}.")
    return found


def is_model(file: Path) -> bool:
    """Whether the file looks like a model file: eight bytes of length, then JSON."""
    if not file.is_file():
        return False
    with open(file, "rb") as opened:
        start = opened.read(16)
    return file.suffix == ".fenchel" or (
        len(start) == 16 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") < file.stat().st_size
    )


def read_for_model(model: Any, source: str, columns: TableOptions = DEFAULTS) -> Data:
    """Read rows with the columns that the model was fitted on, in the same order."""
    table = Path(source).exists() and is_table(source, columns.format)
    if table:
        encoding = getattr(model, "encoding_", None)
        if encoding is None:
            encoding = _numbers_only(model, source, columns)
        data = read_rows(source, TableOptions(format=columns.format), encoding)
    elif is_store(Path(source)):
        data = read_rows(source, columns, getattr(model, "encoding_", None))
    else:
        data = read_rows(source, columns, index_base=getattr(model, "index_base_", None))
    exact = getattr(model, "encoding_", None) is not None
    return replace(data, X=with_width(data.X, int(model.n_features_in_), source, table or exact))


def read_validation_rows(data: Data, source: str, format: str | None) -> Data:
    """Read validation rows with the columns of the training rows in ``data``."""
    return read_for_model(_ExpectedColumns(data.encoding, data.X.shape[1], data.index_base), source, TableOptions(format=format))


class _ExpectedColumns(NamedTuple):
    encoding_: Any
    n_features_in_: int
    index_base_: int | None


def is_table(source: str, format: str | None) -> bool:
    """Whether a file is a table, according to ``format`` or else its ending."""
    from fenchel.datasets.formats import format_of

    return format_of(Path(source), format) in ("csv", "tsv", "parquet")


def _numbers_only(model: Any, source: str, columns: TableOptions) -> Encoding:
    """The encoding of a table for a model that was trained on numeric columns only."""
    from fenchel.datasets import Column, Encoding
    from fenchel.datasets.formats import format_of
    from fenchel.datasets.tables.arrow_columns import column_kind
    from fenchel.datasets.tables.encoding import TARGETS
    from fenchel.datasets.tables.read import read_table

    table = read_table(Path(source), format_of(Path(source), columns.format), [])
    named = [name for name in table.column_names if name == columns.target or (columns.target is None and name.lower() in TARGETS)]
    target = Column(named[0], column_kind(named[0], table[named[0]], "target")) if named else None
    names = getattr(model, "feature_names_in_", None)
    used = [name for name in table.column_names if name not in named] if names is None else names.tolist()
    return Encoding(tuple(Column(name, "number") for name in used), target)


def with_width(X: Any, n: int, source: str, exact: bool) -> Any:
    """X with n columns, padded or cut if sparse: the last columns of svmlight text may occur in one file and not in another."""
    if X.shape[1] == n:
        return X
    if exact or not sp.issparse(X):
        raise InputError(f"{source} has {X.shape[1]:,} features, and the model was fitted on {n:,}: give data with the same columns.")
    if X.shape[1] < n:
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n))
    warnings.warn(
        f"{source} has {X.shape[1]:,} features, and the model was fitted on the first {n:,}: the others are ignored.", stacklevel=2
    )
    return sp.csr_array(X[:, :n])
