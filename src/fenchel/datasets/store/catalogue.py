"""What is known about data sets by name: the table in ``registry.toml``, read once, when first asked for.

A table rather than code: a set is added or corrected without touching Python, and nothing in it can run.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources

from fenchel.core.errors import InputError
from fenchel.core.messages import near

READABLE = {"svmlight", "letor", "query-sizes"}  # layouts that become a matrix; others are handed out as a path


@dataclass(frozen=True)
class Split:
    """One file of a data set, or with ``join`` several that belong together."""

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
    """A data set: what it is, its sizes, its terms and its files."""

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
        """The number of rows of a split, where it is known."""
        counts = [part.rows for part in self.parts(split)]
        return None if None in counts else sum(count for count in counts if count)


@functools.cache
def entries() -> dict[str, Entry]:
    """All sets by name, sets made from others with the splits of those.

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
    """The set of that name, or an error that names the nearest ones."""
    if name not in entries():
        raise InputError(f"{name!r} is no data set fenchel knows: {near(str(name), entries())}")
    return entries()[name]
