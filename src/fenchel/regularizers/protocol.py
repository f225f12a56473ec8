"""The type of regularizers, for type checkers: what the package asks of the regularizers of others."""

from __future__ import annotations

from typing import Any, Protocol


class Regularizer(Protocol):
    """Ω(w). The methods that go with ``separable`` True or False are listed in :mod:`fenchel.regularizers`."""

    @property
    def separable(self) -> Any:
        """Whether Ω is a sum over weights."""
        ...

    def strong_convexity(self) -> Any:
        """λ ≥ 0 with Ω λ-strongly convex; 0 for a regularizer that is not."""
        ...
