"""Passes to a certified gap of 1e-3·P(0) with the smooth hinge and l1 = 1e-5, as l2 goes from 1e-6 to 1e-9.

The experiment of section 5 of Shalev-Shwartz & Zhang, Accelerated Proximal SDCA, 2014, with the certified gap instead of
the distance to the optimum. "+" after a number means that the gap was not reached after that many passes.
"""

from __future__ import annotations

import warnings

from common import real, show, text

import fenchel as fl

WAYS = [("sdca", {}), ("fista", {}), ("accelerated-sdca", {}), ("accelerated-sdca", {"variant": "practical"})]
MOST = 500


def main() -> None:
    warnings.simplefilter("ignore")  # runs that do not converge are part of the measurement
    data = {
        "rcv1sub.binary": real("rcv1sub.binary"),
        "rcv1sub.ccat": real("rcv1sub.ccat"),
        "text 20,000": text(20_000),
        "text 200,000": text(),
    }
    rows: list[list[object]] = []
    for name, pair in data.items():
        if pair is None:
            print(f"{name} is not in FENCHEL_DATA: skipped.")
            continue
        for l2 in (1e-6, 1e-7, 1e-8, 1e-9):
            problem = fl.Problem(*pair, fl.SmoothHinge(1.0), fl.L1L2(l1=1e-5, l2=l2))
            results = [fl.minimize(problem, solver, tol=1e-3, max_passes=MOST, **options) for solver, options in WAYS]
            rows.append([name, l2, *(f"{r.passes:g}{'' if r.converged else '+'} ({r.seconds:.2f} s)" for r in results)])
    show("Passes (and solver's seconds) to gap 1e-3", ["data", "l2", *(" ".join([s, *o.values()]) for s, o in WAYS)], rows)


if __name__ == "__main__":
    main()
