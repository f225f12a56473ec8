"""Every storage and precision of a matrix, and the copies that were logged."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tests.linalg.matrices import STORAGES


@pytest.fixture(params=STORAGES)
def storage(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.DEBUG, logger="fenchel")
    return lambda: [record.getMessage() for record in caplog.records if "copying" in record.getMessage()]
