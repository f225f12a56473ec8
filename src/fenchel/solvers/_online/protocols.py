"""What the online loop asks of weights and of update rules.

One step of every online method, at the weights w_t, for the rows A_t drawn (:mod:`.online_loop`):

    z_i = <w_t, x_i>,  g_i = φ'(z_i, y_i)  for i in A_t            read w through ``raw`` and ``factor``
    η = rule.step_size(…)                                          the rule may rescale w first
    v ← v − η·(1/|A_t|) Σ_i s_i g_i x_i                            change v through ``shift`` and ``settle``
    w_{t+1}: rule.finish_step()                                    project, shrink, advance the time

The classes here document the methods; nothing inherits from them, because compiled objects are ``NamedTuple`` classes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class OnlineWeights(Protocol):
    """Weights w_j = factor()·raw(j), where w is a function of the vector v that the steps change.

    The first four methods are those of :mod:`fenchel.linalg.weights`.
    """

    @property
    def v(self) -> np.ndarray:
        """The vector that the steps change."""
        ...

    def raw(self, j: int) -> float:
        """The part of w_j that is stored or computed for each coordinate."""
        ...

    def factor(self) -> float:
        """The factor that all coordinates have in common."""
        ...

    def shift(self, j: int, delta: float) -> float:
        """v_j ← v_j + δ; returns what the row adds up and hands to ``settle``."""
        ...

    def settle(self, change: float) -> None:
        """Take the sum of what the shifts of one row returned."""
        ...

    def has_common_factor(self) -> bool:
        """Whether raw(j) changes only by ``shift`` and ``refresh``: averages then cost O(entries touched) a step."""
        ...

    def is_outdated(self) -> bool:
        """Whether sums or scales have drifted so far that they must be computed again; needed where ``has_common_factor``."""
        ...

    def refresh(self) -> None:
        """Compute them again from v, in O(features), without changing w; needed where ``has_common_factor``."""
        ...

    def end_shifts(self) -> None:
        """Called once all rows of a step are added: refresh what is outdated."""
        ...

    def end_step(self) -> None:
        """Called after ``UpdateRule.finish_step``: averages take in w_{t+1}."""
        ...


class UpdateRule(Protocol):
    """How a method turns the subgradient of a step into the next weights."""

    @property
    def weights(self) -> Any:
        """The :class:`OnlineWeights` that the rule rescales, projects or shrinks."""
        ...

    def needs_values_at_zero(self) -> bool:
        """Whether ``step_size`` uses its last two arguments."""
        ...

    def gradient_norm(self, i: int, derivative: float) -> float:
        """A bound on ‖derivative·x_i‖, or 0 where ``step_size`` does not use it."""
        ...

    def step_size(self, G: float, loss_at_zero: float, natural_length: float) -> float:
        """The step, in units of v, along −g_t; what has to be rescaled before the step is rescaled here.

        G bounds ‖g_t‖ without the penalty. ``loss_at_zero`` is the mean of φ(0, y) over the rows so far, and ``natural_length``
        the mean of φ(0, y) over the mean of ‖φ'(0, y)·x‖: how long w must be to bring a typical loss to zero.
        """
        ...

    def finish_step(self) -> bool:
        """Project, shrink or advance the time; whether the loop pauses here."""
        ...


class StepSchedule(Protocol):
    """The step sizes of projected subgradient descent (:mod:`.subgradient_descent`), which is all that its methods differ in."""

    @property
    def state(self) -> Any:
        """The sums λ_{1:t} and τ_{1:t} and what else changes: see :func:`.subgradient_descent.new_schedule_state`."""
        ...

    def step(self, G: float, ball_radius: float, natural_length: float) -> tuple[float, float]:
        """With ‖g_t‖ ≤ G and S = {‖w‖ ≤ ball_radius}: η_t, and the τ_t of a term τ_t/2·‖w‖² added in this step, or 0."""
        ...

    def after(self, norm: float) -> bool:
        """With ‖w_{t+1}‖: what ends the step; whether the loop pauses here."""
        ...
