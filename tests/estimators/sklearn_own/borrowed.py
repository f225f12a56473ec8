"""scikit-learn's test modules with fenchel's estimators in place of its own

A copy of the module is executed while ``sklearn.linear_model`` and ``sklearn.svm`` contain fenchel's classes, so that its imports, base
classes and test parameters refer to them. Tests that do not involve these classes are not included.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm
from sklearn.base import BaseEstimator

from fenchel import estimators
from fenchel.estimators.linear_estimator import LinearEstimator

LAYOUTS = ("csr", "csc", "coo", "dok", "lil", "bsr", "dia")
HOMES = (sklearn.linear_model, sklearn.svm)
OURS = {name: getattr(estimators, name) for name in estimators.__all__ if any(hasattr(home, name) for home in HOMES)}


class Substitute(types.ModuleType):
    """A module with fenchel's estimators in place of its own."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return OURS[name] if name in OURS else getattr(self._module, name)


def borrowed(name: str) -> dict[str, Any]:
    """The tests in a module of scikit-learn that involve fenchel's estimators, and its fixtures, by name."""
    original = importlib.import_module(name)  # first, so that its imports are loaded with scikit-learn's own classes
    spec = importlib.util.spec_from_file_location(f"fenchel_{original.__name__.rpartition('.')[2]}", original.__file__)
    copy = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where pickle looks up classes
    with mock.patch.multiple(HOMES[0], **ours_in(HOMES[0])), mock.patch.multiple(HOMES[1], **ours_in(HOMES[1])):
        spec.loader.exec_module(copy)
    for key, value in list(vars(copy).items()):
        if isinstance(value, types.ModuleType) and value in HOMES:
            setattr(copy, key, Substitute(value))
    tests = {key: marked(value) for key, value in vars(copy).items() if key.startswith("test_") and concerns_ours(value)}
    fixtures = {key: value for key, value in vars(copy).items() if isinstance(value, type(seed))}
    return tests | fixtures | {"global_random_seed": seed}


def ours_in(home: types.ModuleType) -> dict[str, Any]:
    return {name: ours for name, ours in OURS.items() if hasattr(home, name)}


def marked(test: Any) -> Any:
    """The test with scikit-learn's own warning filters, under which warnings are not errors."""
    marks = [listed(mark) if mark.name == "parametrize" else mark for mark in getattr(test, "pytestmark", [])]
    test.pytestmark = [pytest.mark.filterwarnings("default").mark, *marks]
    return test


def listed(mark: Any) -> Any:
    """A parametrisation with its values as a list instead of a generator, as pytest requires.

    Where sparse arrays and sparse matrices of one layout are both given, only the arrays are used: estimators treat both
    alike, as tests/contracts/test_estimators.py shows.
    """
    names, values, *rest = mark.args
    values = list(values)
    doubled = [getattr(sp, f"{layout}_matrix") for layout in LAYOUTS if any(value is getattr(sp, f"{layout}_array") for value in values)]
    values = [value for value in values if not any(value is other for other in doubled)]
    return pytest.mark.parametrize(names, values, *rest, **mark.kwargs).mark


def concerns_ours(test: Any) -> bool:
    """Whether a test, or a function of its module that it calls, uses one of fenchel's classes or is parametrised with one."""
    marks = [mark.args[1] for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    given = [marks, inspect.unwrap(test).__defaults__ or ()]
    return any(is_ours(value) for value in estimators_in(given)) or names_ours(inspect.unwrap(test), set())


def names_ours(function: Any, seen: set[Any]) -> bool:
    seen.add(function)
    names = set(names_of(function.__code__))
    for value in (function.__globals__[name] for name in names if name in function.__globals__):
        if (isinstance(value, Substitute) and names & set(OURS)) or is_ours(value):
            return True
        if (
            isinstance(value, types.FunctionType)
            and value.__globals__ is function.__globals__
            and value not in seen
            and names_ours(value, seen)
        ):
            return True
    return False


def names_of(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


def estimators_in(value: Any) -> Iterator[Any]:
    """The estimators and estimator classes in nested values."""
    if is_estimator(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from estimators_in(part)
    elif isinstance(value, types.FunctionType) and names_ours(value, set()):  # a function that creates one
        yield next(iter(OURS.values()))


def is_estimator(value: Any) -> bool:
    return isinstance(value, BaseEstimator) or (isinstance(value, type) and issubclass(value, BaseEstimator))


def is_ours(value: Any) -> bool:
    return isinstance(value, LinearEstimator) or (isinstance(value, type) and issubclass(value, LinearEstimator))


@pytest.fixture(name="global_random_seed")
def seed() -> int:
    """The fixture of this name in scikit-learn's conftest, with the same value."""
    return 42
