"""Random numbers that cost nothing until the first is drawn"""

from __future__ import annotations

from typing import Any

import numpy as np


class RandomNumbers:
    """NumPy's generator for a seed, made when it is first used: that takes as long as an evaluation of a small problem.

    >>> int(RandomNumbers(0).integers(10)) == int(np.random.default_rng(0).integers(10))
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "_generator":
            self._generator = np.random.default_rng(self.seed)
            return self._generator
        return getattr(self._generator, name)

    @property
    def state(self) -> dict[str, Any] | None:
        """The state to continue from; None if no number has been drawn."""
        return dict(self.bit_generator.state) if "_generator" in vars(self) else None

    @state.setter
    def state(self, state: dict[str, Any] | None) -> None:
        if state is not None:
            self.bit_generator.state = state
