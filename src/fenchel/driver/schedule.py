"""When to evaluate a run: an evaluation costs about a pass, and must be neither much too early nor much too late."""

from __future__ import annotations

import math

SPACING = 0.5  # largest distance to the next evaluation, relative to the passes so far
PREDICTED = 0.7  # share of the predicted passes to the target after which the next evaluation comes
ROUNDING = 1e-12  # relative to the scale of the objective: a gap this small may consist of rounding errors
IDLE = 6  # evaluations without a smaller gap, each at a third more passes than the one before, after which such a gap is final


class Schedule:
    """The passes at which the next evaluation is due, and whether the gap has stopped falling."""

    def __init__(self, first: float) -> None:
        self.next_evaluation = first
        self.last: tuple[float, float] | None = None  # passes and gap of the last evaluation
        self.least, self.idle = math.inf, 0  # the smallest gap, and how many evaluations ago it was reached

    def plan(self, passes: float, gap: float, target: float) -> None:
        """Plan the next evaluation, at half the passes that the present rate of convergence still needs."""
        ahead = max(1.0, SPACING * passes)
        if self.last is not None and target > 0.0:
            before, gap_before = self.last
            if math.isfinite(gap_before) and target < gap < gap_before and passes > before:
                rate = math.log(gap_before / gap) / (passes - before)
                ahead = min(ahead, max(1.0, PREDICTED * math.log(gap / target) / rate))
        self.next_evaluation = passes + math.floor(ahead)
        self.last = (passes, gap)

    def is_stalled(self, gap: float, target: float, scale: float) -> bool:
        """Whether a gap within rounding errors of zero has not shrunk for several evaluations."""
        self.idle = self.idle + 1 if gap >= self.least else 0
        self.least = min(self.least, gap)
        return 0.0 < target < gap <= ROUNDING * scale and self.idle >= IDLE
