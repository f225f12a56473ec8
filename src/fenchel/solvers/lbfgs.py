"""min_w P(w), P smooth (bounds on w allowed), by SciPy's L-BFGS-B

Byrd, Lu, Nocedal & Zhu, *A limited memory algorithm for bound constrained optimization*, SIAM J. Scientific Computing
1995, in the implementation of scipy.optimize. SciPy calls a function after every iteration; a thread turns these calls into a generator.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fenchel.problems.problem import Problem
from fenchel.problems.result import Iterate
from fenchel.solvers.declaration import smooth_loss, solver


def smooth_regularizer(problem: Problem) -> str | None:
    """A differentiable regularizer, or bounds around one."""
    regularizer = getattr(problem.penalised, "penalty", problem.penalised)
    return None if getattr(regularizer, "smooth", False) else f"a smooth regularizer, and {type(regularizer).__name__} is not"


@solver("lbfgs", needs=(smooth_loss, smooth_regularizer), structured=True)
def lbfgs(problem: Problem, *, start: Iterate | None, rng: np.random.Generator, accuracy: float, memory: int = 10) -> Iterator[Iterate]:
    """Limited-memory quasi-Newton: smooth losses with a smooth regularizer, with or without bounds."""
    products = 0
    last: dict[str, Any] = {}

    def value_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal products
        w = flat.reshape(problem.shape)
        z = problem.predict(w)
        alpha, v = problem.loss_gradient(z)
        products += 1
        last.update(flat=flat.copy(), alpha=alpha, v=v, z=z)
        return problem.objective(w, z), (problem.penalty_gradient(w) - v).reshape(-1)

    def run(callback: Callable[[np.ndarray], None]) -> None:
        from scipy.optimize import minimize as scipy_minimize  # imported here because it takes a third of the time of importing fenchel

        w = problem.origin if start is None else start.w
        options = {"maxcor": memory, "maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0, "maxls": 50}
        scipy_minimize(
            value_and_gradient, w.reshape(-1), jac=True, method="L-BFGS-B", bounds=_bounds(problem), callback=callback, options=options
        )

    def iterate(flat: np.ndarray) -> Iterate:
        known = {k: last[k] for k in ("alpha", "v", "z")} if np.array_equal(flat, last["flat"]) else {}
        return Iterate(flat.reshape(problem.shape), products, 2 * products * problem.entries, **known)

    yield from map(iterate, each_callback(run))
    # SciPy stops without a callback where it finds no improvement, and that point needs an evaluation too.
    yield iterate(last["flat"])


def _bounds(problem: Problem) -> Any:
    box = problem.penalised
    if not hasattr(box, "lower"):
        return None
    free = problem.free * problem.outputs
    size = problem.n * problem.outputs - free
    bounds = list(zip(np.broadcast_to(box.lower, size), np.broadcast_to(box.upper, size), strict=True))
    return bounds + [(None, None)] * free


def each_callback(run: Callable[[Callable[[np.ndarray], None]], None]) -> Iterator[np.ndarray]:
    """Yield the values that ``run(callback)`` passes to its callback; the run waits until the next one is requested.

    >>> list(each_callback(lambda callback: [callback(np.array(k)) for k in range(3)]))
    [array(0), array(1), array(2)]
    """
    values: queue.Queue[tuple[str, Any]] = queue.Queue()
    turns: queue.Queue[bool] = queue.Queue()

    def callback(value: np.ndarray) -> None:
        values.put(("value", value.copy()))
        if not turns.get():
            raise StopIteration

    def work() -> None:
        try:
            run(callback)
            values.put(("end", None))
        except StopIteration:
            pass
        except BaseException as error:
            values.put(("error", error))

    # NumPy's settings for floating point errors belong to the context of a thread.
    worker = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    worker.start()
    try:
        while True:
            kind, value = values.get()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
            turns.put(True)
    finally:
        turns.put(False)
        worker.join(timeout=60)
