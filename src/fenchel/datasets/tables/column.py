"""One column of a table, and the matrix columns it is encoded as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of the table: ``kind`` is "number" or "category", ``fill`` the replacement for missing numbers."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def width(self) -> int:
        """The number of matrix columns."""
        return 1 if self.kind == "number" else len(self.categories)

    @property
    def feature_names(self) -> list[str]:
        """The names of the matrix columns."""
        return [self.name] if self.kind == "number" else [f"{self.name}={category}" for category in self.categories]
