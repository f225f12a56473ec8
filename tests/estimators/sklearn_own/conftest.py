"""Selects scikit-learn's tests: those that involve fenchel's estimators, without the skipped ones and repetitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.estimators.sklearn_own.borrowed import estimators_in, is_ours
from tests.estimators.sklearn_own.skips import REPEATED, SKIPS, SLOW, WITHOUT_EFFECT, matches, reason_to_skip

FOLDER = Path(__file__).parent
MARKS = ("thread_unsafe", "no_check_spmatrix", "parallel_threads", "iterations")


def pytest_configure(config):
    for name in MARKS:
        config.addinivalue_line("markers", f"{name}: used by scikit-learn's test runner")


def pytest_collection_modifyitems(config, items):
    # The items are those of the whole run, which may contain modules of the same names elsewhere.
    borrowed = [
        item for item in items if item.path.parent == FOLDER and item.path.stem in {*SKIPS, *SLOW} and hasattr(item, "originalname")
    ]
    others = [item for item in borrowed if not concerns_ours(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
    seen = set()
    for item in sorted((item for item in borrowed if concerns_ours(item)), key=narrowness):
        reason = reason_to_skip(item.path.stem, item.name)
        variant = (item.path.stem, item.originalname, *(f"{k}={v!r}" for k, v in params_of(item).items() if k not in WITHOUT_EFFECT))
        if reason is None and variant in seen:
            reason = REPEATED
        elif reason is None:
            seen.add(variant)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
        elif any(matches(item.name, pattern) for pattern in SLOW.get(item.path.stem, ())):
            item.add_marker(pytest.mark.slow)


def params_of(item):
    return item.callspec.params if hasattr(item, "callspec") else {}


def narrowness(item):
    """The sort key that puts the solvers that scikit-learn's tests skip least first, so that every variant is run."""
    values = [value for value in params_of(item).values() if isinstance(value, str)]
    return 0 if "sparse_cg" in values or "auto" in values else 2 if "svd" in values else 1


def concerns_ours(item):
    """False for a test that is parametrised with estimators but with none of fenchel's."""
    found = list(estimators_in(list(params_of(item).values())))
    return not found or any(is_ours(value) for value in found)
