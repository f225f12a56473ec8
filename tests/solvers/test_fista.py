"""FISTA: starts from other data."""

from __future__ import annotations

import fenchel as fl
from tests.data import data


def test_fista_takes_a_start_from_data_of_another_size():
    X, y = data("real")
    first = fl.minimize(fl.Problem(X[:30], y[:30], fl.Squared(), fl.L1(0.01)), "fista")
    assert fl.minimize(fl.Problem(X, y, fl.Squared(), fl.L1(0.01)), "fista", start=first).converged
