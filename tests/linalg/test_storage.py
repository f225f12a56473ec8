"""What becomes of X: values are copied only where they must be, unusual matrices mean what NumPy says, damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from tests.data import data


def test_foreign_byte_order_is_ordinary():
    X, y = data("binary")
    sparse = sp.csr_array(X)
    sparse.indices = sparse.indices.astype(">i4")
    problem, plain = (fl.Problem(A, y, fl.Hinge(), fl.L2(0.1)) for A in (sparse, X))
    assert problem.objective(np.ones(6)) == pytest.approx(plain.objective(np.ones(6)))


def test_a_damaged_coo_matrix_is_refused():
    damaged = sp.coo_array((np.ones(1), (np.array([0]), np.array([0]))), shape=(2, 2))
    damaged.coords = (np.array([7]), np.array([0]))
    with pytest.raises(ValueError, match="damaged COO"):
        fl.Problem(damaged, np.ones(2), fl.Hinge(), fl.L2(1.0))


def test_masked_entries_are_refused():
    X, y = data("binary")
    with pytest.raises(ValueError, match="masked"):
        fl.Problem(np.ma.masked_greater(X, 1.0), y, fl.Hinge(), fl.L2(1.0))
