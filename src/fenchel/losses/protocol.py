"""The types of losses, for type checkers: what the package asks of the losses of others."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias


class ScalarLoss(Protocol):
    """φ(z, y) of one prediction z. Everything else that a loss may offer is listed in :mod:`fenchel.losses`."""

    def value(self, z: Any, y: Any) -> Any:
        """φ(z, y), convex in z and never negative."""
        ...

    def derivative(self, z: Any, y: Any) -> Any:
        """φ'(z, y), or one subgradient."""
        ...


class VectorLoss(Protocol):
    """φ(z, y) of K predictions z, one for each class."""

    def value(self, z: Any, y: Any) -> Any:
        """φ(z, y), convex in z and never negative."""
        ...

    def derivative(self, z: Any, y: Any, out: Any) -> Any:
        """Write φ'(z, y), or one subgradient, to ``out``."""
        ...


Loss: TypeAlias = ScalarLoss | VectorLoss
