"""Find what the package offers by looking into its folders: a new file is a new entry."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any


def members(package: ModuleType, wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """Every public object of the package's modules that is ``wanted``, by kebab-case name; a class only where it is defined."""
    found = {}
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        for name, value in inspect.getmembers(module, wanted):
            imported = inspect.isclass(value) and value.__module__ != info.name
            if not imported and not name.startswith("_"):
                found[kebab(name)] = value
    return dict(sorted(found.items()))


def kebab(name: str) -> str:
    """
    >>> kebab("SmoothHinge"), kebab("L1")
    ('smooth-hinge', 'l1')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower().replace("_", "-")


def near(name: str, known: Iterable[str]) -> str:
    """The end of an error message: what was perhaps meant, and what there is.

    >>> near("sdac", ["sdca", "fista"])
    "did you mean 'sdca'? There are: fista, sdca."
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}There are: {', '.join(names)}."


def counted(count: int, one: str) -> str:
    """A number with what it counts.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def checked_choice(option: str, value: Any, offered: Any) -> Any:
    """The value, if it is one of those offered."""
    if not isinstance(value, str) or value not in offered:
        raise ValueError(f"{option}={value!r}: {near(str(value), offered)}")
    return value
