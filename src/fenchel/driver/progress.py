"""A progress bar for a run: how much of the way to the tolerance is done, on a logarithmic scale of the gap"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

from fenchel.core.compile_notice import heard_by


@contextlib.contextmanager
def progress_bar(name: str, visible: bool, max_passes: float) -> Iterator[Callable[..., None]]:
    """Yield a function that shows an evaluation, the target gap and a note; it does nothing unless ``visible``.

    The bar shows the progress of the gap towards the target, or the passes where there is no target.
    """
    if not visible:
        yield lambda evaluation, target, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("[bold]{task.description}"), BarColumn(), TextColumn("{task.fields[numbers]}"), TimeElapsedColumn())
    with contextlib.ExitStack() as stack, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=1.0, numbers="starting")
        first = math.inf
        stack.enter_context(heard_by(lambda text: bar.update(task, numbers=text)))

        def show(evaluation: Any, target: float, note: str = "") -> None:
            nonlocal first
            if math.isinf(first):
                first = evaluation.gap
            if math.isnan(evaluation.gap):
                numbers = f"{note}  objective {evaluation.objective:.6g}  bound {evaluation.dual_objective:.6g}"
                bar.update(task, total=None, numbers=numbers)
                return
            numbers = f"pass {evaluation.passes:g}  objective {evaluation.objective:.6g}  gap {evaluation.gap:.2e}"
            done = evaluation.passes / max_passes if max_passes > 0.0 and math.isfinite(max_passes) else 0.0
            if target > 0.0:
                numbers += f" of {target:.2e}"
                done = fraction(first, evaluation.gap, target)
            bar.update(task, completed=done, numbers=f"{numbers}  {note}" if note else numbers)

        yield show


def fraction(first: float, gap: float, target: float) -> float:
    """How much of the way from the first gap to the target is done, in orders of magnitude.

    >>> fraction(1.0, 0.1, 0.01)
    0.5
    """
    if gap <= target:
        return 1.0
    if not (math.isfinite(first) and 0.0 < target < first):
        return 0.0
    return min(max(math.log(first / gap) / math.log(first / target), 0.0), 1.0)
