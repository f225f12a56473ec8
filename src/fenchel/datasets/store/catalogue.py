"""The registry of named data sets, ``registry.toml``, which is read once, on first use.

It is data rather than code, so that sets can be added or corrected without touching Python, and nothing in it can run.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources

from fenchel.core.errors import InputError
from fenchel.core.messages import near

READABLE = {"svmlight", "letor", "query-sizes"}  # layouts that ``load`` turns into a matrix; for others there is only ``path``


@dataclass(frozen=True)
class Split:
    """One file of a data set, or with ``join`` the concatenation of several splits."""

    file: str = ""
    rows: int | None = None
    nonzeros: int | None = None
    url: str | None = None
    sha256: str | None = None
    sha256_xz: str | None = None
    convert: str | None = None
    beside_file: str | None = None
    beside_url: str | None = None
    join: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A data set: description, sizes, terms of use and files."""

    name: str
    task: str
    about: str
    terms: str
    features: int | None = None
    classes: int | None = None
    layout: str = "svmlight"
    base: str | None = None
    noise: str | None = None
    splits: dict[str, Split] = field(default_factory=dict)

    def parts(self, split: str) -> list[Split]:
        """The files that make up a split."""
        if split not in self.splits:
            raise InputError(f"{self.name} has no split {split!r}: give one of {' or '.join(map(repr, self.splits))}.")
        chosen = self.splits[split]
        return [self.splits[part] for part in chosen.join] or [chosen]

    def rows(self, split: str) -> int | None:
        """The number of rows of a split, or None if it is unknown."""
        counts = [part.rows for part in self.parts(split)]
        return None if None in counts else sum(count for count in counts if count)


@functools.cache
def entries() -> dict[str, Entry]:
    """All data sets by name; a set derived from another has the splits of that one.

    >>> entries()["a9a"].rows("test")
    16281
    """
    table = tomllib.loads(resources.files("fenchel.datasets.store").joinpath("registry.toml").read_text(encoding="utf-8"))
    known = {name: _entry(name, facts) for name, facts in table.items()}
    return {name: replace(entry, splits=known[entry.base].splits) if entry.base else entry for name, entry in known.items()}


def _entry(name: str, facts: dict) -> Entry:
    splits = {split: Split(**{**values, "join": tuple(values.get("join", ()))}) for split, values in facts.pop("splits", {}).items()}
    return Entry(name=name, splits=splits, **facts)


def find(name: str) -> Entry:
    """The data set with this name; the error for an unknown name suggests similar ones."""
    if name not in entries():
        raise InputError(f"There is no data set {name!r}: {near(str(name), entries())}")
    return entries()[name]
