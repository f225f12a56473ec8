"""Records are changed by kernels and copied like arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from fenchel.core.compiled import compiled, kernel
from fenchel.core.record import record


@compiled
class Counter(NamedTuple):
    state: Any

    def count(self, step):
        self.state.total += step
        self.state.steps += 1.0


@kernel
def count(counter, steps):
    for step in range(steps):
        counter.count(step)


def test_a_kernel_changes_the_fields_by_name():
    counter = Counter(record(total=1.0, steps=0.0))
    count(counter, 4)
    assert (counter.state.total, counter.state.steps) == (7.0, 4.0)


def test_a_copy_is_independent():
    first = record(t=1.0)
    second = first.copy()
    second.t += 1.0
    assert (first.t, second.t) == (1.0, 2.0)
