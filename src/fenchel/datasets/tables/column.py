"""One column of a table, and the columns of the matrix that it becomes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of the table: ``kind`` is "number" or "category", ``fill`` what stands for a missing number."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def width(self) -> int:
        """The number of columns it makes."""
        return 1 if self.kind == "number" else len(self.categories)

    @property
    def feature_names(self) -> list[str]:
        """The names of those columns."""
        return [self.name] if self.kind == "number" else [f"{self.name}={category}" for category in self.categories]
