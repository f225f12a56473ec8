"""Registries built from the modules of a package: adding a file adds an entry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any


def members(package: ModuleType, wanted: Callable[[Any], bool]) -> Mapping[str, Any]:
    """Every public object of the package's modules for which ``wanted`` is true, by kebab-case name; imported classes are skipped.

    Classes with a property ``internal`` are created only by other code of the package and are skipped too.
    """
    found = {}
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        for name, value in inspect.getmembers(module, wanted):
            imported = inspect.isclass(value) and value.__module__ != info.name
            if not imported and not name.startswith("_") and not hasattr(value, "internal"):
                found[kebab(name)] = value
    return MappingProxyType(dict(sorted(found.items())))


def kebab(name: str) -> str:
    """
    >>> kebab("SmoothHinge"), kebab("L1L2")
    ('smooth-hinge', 'l1-l2')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-")
