"""What every test can rely on, however the run was started, and the fixtures that several packages use."""

from __future__ import annotations

import signal
import threading

import pytest

import fenchel as fl
from tests.data import TAGS, TOKENS

# A shell starts background jobs with SIGINT ignored, and children inherit that: tests send it to themselves and to programs they start.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW_EXAMPLES = ("fenchel.estimators.rna_folder", "fenchel.structured.rna")  # docstrings whose kernels take long to compile


def pytest_collection_modifyitems(items):
    """Examples in docstrings have no marks of their own."""
    for item in items:
        if item.name.startswith(SLOW_EXAMPLES):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def text(request):
    """Text of two classes, of the size that the test module gives as ``TEXT``."""
    return fl.datasets.make_text(**request.module.TEXT)


@pytest.fixture(scope="module")
def tagger():
    return fl.Tagger(l2=1e-2).fit(TOKENS, TAGS)
