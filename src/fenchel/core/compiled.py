"""Write a loss, a regularizer or a matrix once, as a ``NamedTuple``; run it in Python and inside compiled kernels.

It offers two decorators:

``@compiled``  on a ``NamedTuple`` class: its fields and methods become usable inside kernels.
               On a plain function: a helper that methods and kernels may call.
``@kernel``    on a loop that takes such objects. Machine code comes with the package or is kept on disk between processes, under a
               hash of the package's sources: Numba's own cache checks only the kernel's file, so kernels would keep
               running an old version of an edited loss. For the same reason a kernel called with an object whose class
               is defined outside the package is recompiled in every process.

With ``NUMBA_DISABLE_JIT=1`` both decorators do nothing and everything runs as plain Python.

Importing Numba takes longer than importing the rest of the package, so the decorators only note what they are given; Numba is imported
when the first kernel is called, by :mod:`fenchel.core.jit`, the only module besides :mod:`fenchel.core.kernel_cache` that uses Numba.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np

from fenchel.core.errors import InputTypeError
from fenchel.core.jit_options import JIT, OPTIONS, PACKAGE

log = logging.getLogger("fenchel")

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def reassociated(method: F) -> F:
    """Mark a method or function whose sums may be reordered, which lets dense loops use vector instructions.

    Never mark a loop over indices: it would be compiled to gather instructions, several times slower.
    """
    method.jit_options = {"fastmath": {"reassoc", "contract", "nsz"}}  # type: ignore[attr-defined]
    return method


def contracted(function: F) -> F:
    """Mark a function whose products and sums may be rounded once, together, where the processor can do so."""
    function.jit_options = {"fastmath": {"contract"}}  # type: ignore[attr-defined]
    return function


def compiled(definition: T) -> T:
    """Let a ``NamedTuple``'s methods (or a plain function) run in Python and in compiled kernels alike.

    Fields annotated ``float`` accept integers and are stored as floats, so that ``Huber(1)`` and ``Huber(1.0)`` share one
    compiled kernel; fields annotated ``Vector`` become float64 arrays. A ``check`` method, if there is one, runs on
    construction and raises on bad values.

    >>> from typing import NamedTuple
    >>> @compiled
    ... class Scaled(NamedTuple):
    ...     factor: float = 1.0
    ...     def value(self, z, y):
    ...         return 0.5 * self.factor * (z - y) ** 2
    >>> Scaled(2).factor, Scaled(2).value(3.0, 1.0)
    (2.0, 4.0)
    """
    if not inspect.isclass(definition):
        return _function(definition) if JIT else definition  # type: ignore[type-var]
    if not (issubclass(definition, tuple) and hasattr(definition, "_fields")):
        raise InputTypeError(f"{definition.__name__} is not a NamedTuple: write `class {definition.__name__}(NamedTuple):`.")
    _construct_with_checks(definition)
    definition._compiled = True  # type: ignore[attr-defined]
    if JIT:
        _tell("add_class", definition)
    return definition


def inlined(function: F) -> F:
    """Like ``compiled`` for a plain function, and inlined into its callers: for functions cheaper than a call."""
    return _function(function, forceinline=True) if JIT else function


def _function(function: F, **options: Any) -> F:
    if not hasattr(function, "_compile_options"):
        function._compile_options = {**OPTIONS, **options, **getattr(function, "jit_options", {})}  # type: ignore[attr-defined]
        _tell("add_function", function)
    return function


def maker(cls: Any) -> Callable[..., Any]:
    """A function that constructs a ``@compiled`` class from its fields and also works inside kernels, where the class cannot be called."""

    def make(*fields: Any) -> Any:
        return cls(*fields)

    if JIT:
        _tell("add_maker", make, cls)
    return make


def prefetch(array: np.ndarray, *position: int | np.unsignedinteger[Any]) -> None:
    """Have the processor load an entry of an array into its caches, for a kernel that reads it soon; in Python nothing happens.

    Processors foresee which entries follow each other, not which row comes next in random order: waiting for its first entries takes
    longer than the arithmetic on a short row.
    """


_announced: list[tuple[str, tuple[Any, ...]]] = [("add_prefetch", (prefetch,))]  # what the Numba side is told once it is there
_numba_side: ModuleType | None = None
_starting = threading.RLock()


def _tell(what: str, *parts: Any) -> None:
    """Tell the Numba side of a definition, now or when it starts."""
    with _starting:
        if _numba_side is None:
            _announced.append((what, parts))
        else:
            getattr(_numba_side, what)(*parts)


def numba_side() -> Any:
    """The module :mod:`fenchel.core.jit`, which has been told of all definitions."""
    global _numba_side
    with _starting:
        if _numba_side is None:
            from fenchel.core import jit

            for what, parts in _announced:
                getattr(jit, what)(*parts)
            _announced.clear()
            _numba_side = jit
    return _numba_side


def uninterruptible() -> set[CodeType]:
    """The functions that must not be interrupted, because they would leave Numba half imported or its registries half filled."""
    dispatcher = getattr(sys.modules.get("numba.core.dispatcher"), "Dispatcher", None)  # absent while Numba is imported
    return {numba_side.__code__} | ({dispatcher._compile_for_args.__code__} if dispatcher else set())


def _construct_with_checks(cls: Any) -> None:
    hints = get_type_hints(cls, include_extras=True)
    converters = tuple(CONVERTERS.get(hints.get(name)) for name in cls._fields)
    plain_new = cls.__new__
    check = getattr(cls, "check", None)
    is_plain = check is None and not any(converters)

    @functools.wraps(plain_new)
    def __new__(klass: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            plain = plain_new(klass, *args, **kwargs)
        except TypeError as error:
            fields = ", ".join(cls._fields) or "no parameters"
            raise InputTypeError(f"{klass.__name__} takes {fields} ({error}): give only these, and all that have no default.") from None
        if is_plain:
            return plain
        values = [
            convert(v, f"{klass.__name__}({f}=...)") if convert else v for v, convert, f in zip(plain, converters, cls._fields, strict=True)
        ]
        made = tuple.__new__(klass, values)
        if check is not None:
            check(made)
        return made

    cls.__new__ = __new__
    if Vector in hints.values():  # comparing array fields with == gives arrays instead of a bool
        cls.__eq__ = lambda self, other: type(self) is type(other) and all(map(np.array_equal, self, other))
        cls.__ne__ = lambda self, other: not cls.__eq__(self, other)
        cls.__hash__ = None
    cls._make = classmethod(lambda klass, values: klass(*values))


def _as_float(value: Any, place: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputTypeError(f"{place} must be a number, not {value!r}.") from None


def _as_vector(value: Any, place: str) -> np.ndarray:
    try:
        return np.atleast_1d(np.ascontiguousarray(value, dtype=np.float64)).reshape(-1)
    except (TypeError, ValueError):
        raise InputTypeError(f"{place} must be a number or an array of numbers, not {value!r}.") from None


Vector = Annotated[Any, "a number or an array, kept as a float64 vector"]
CONVERTERS: dict[Any, Callable[[Any, str], Any]] = {float: _as_float, Vector: _as_vector}
PLAIN = (float, int, bool, Vector, np.ndarray)  # fields that hold no other class


def kernel(function: F) -> F:
    """Compile a loop, keep its machine code on disk, and recompile it whenever the stored code could be stale."""
    if not JIT:
        return function
    dispatchers: dict[tuple[type, ...], Any] = {}  # one for each set of user-defined classes
    _kernels.append((function, dispatchers))

    def dispatcher(foreign: tuple[type, ...]) -> Any:
        side = numba_side()
        with _starting:
            if foreign not in dispatchers:
                dispatchers[foreign] = side.dispatcher(function, is_kept=_is_own(function) and not foreign)
        return dispatchers[foreign]

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if _own_types.issuperset(map(type, args)):
            return (dispatchers.get(()) or dispatcher(()))(*args)
        foreign = _foreign_classes(args)
        if not foreign:
            return (dispatchers.get(()) or dispatcher(()))(*args)
        try:
            return (dispatchers.get(foreign) or dispatcher(foreign))(*args)
        except numba_side().NumbaError as error:
            log.debug("Numba's error: %s", error)
            names = " and ".join(dict.fromkeys(cls.__name__ for cls in foreign))
            raise InputTypeError(
                f"{names} could not be compiled ({_main_reason(error)}): its methods may use numbers, arrays, math and NumPy functions, "
                "and other functions decorated with @fenchel.compiled."
            ) from None

    call.dispatcher = dispatcher  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def kernels_in_use() -> Iterator[tuple[Any, list[Any]]]:
    """The kernels of the package that this process has called, each with the types of its arguments; without user-defined classes."""
    for function, dispatchers in _kernels:
        if () in dispatchers and _is_own(function):
            yield function, list(dispatchers[()].overloads)


_kernels: list[tuple[Any, dict[tuple[type, ...], Any]]] = []


def inside(loop: F) -> F:
    """A kernel as a function that other kernels may call.

    >>> @kernel
    ... def doubled(x):
    ...     return 2.0 * x
    >>> inside(doubled)(1.5)
    3.0
    """
    return compiled(getattr(loop, "__wrapped__", loop))


_own_types: set[type] = {bool, int, float, np.ndarray, np.float64, np.bool_}  # and classes that are own throughout, once they were seen


def _foreign_classes(values: tuple[Any, ...]) -> tuple[type, ...]:
    """The classes of the values and of their nested fields that are defined outside the package."""
    found: tuple[type, ...] = ()
    for value in values:
        if isinstance(value, tuple):
            cls = type(value)
            if _is_own_throughout(cls):
                _own_types.add(cls)
                continue
            if not _is_own(cls):
                found += (cls,)
            found += _foreign_classes(value)
    return found


@functools.cache
def _is_own_throughout(cls: type) -> bool:
    """Whether the class is one of the package with numbers and arrays as its only fields."""
    if not (_is_own(cls) and hasattr(cls, "_compiled")):
        return False
    hints = get_type_hints(cls, include_extras=True)
    return all(hints.get(name) in PLAIN for name in cls._fields)  # type: ignore[attr-defined]


@functools.cache
def _is_own(definition: Any) -> bool:
    return definition.__module__.partition(".")[0] in (PACKAGE, "builtins")


def _main_reason(error: Exception) -> str:
    """The first informative line of a long message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    informative = [line for line in lines if not line.startswith(("Failed in", "During", "File", "- ", ">>>", "Overload", "There are"))]
    return (informative or lines or ["no reason given"])[0].rstrip(".:")


def is_foreign(part: Any) -> bool:
    """Whether the object's class, or that of a part of it, is defined outside the package."""
    return bool(_foreign_classes((part,)))


def is_compiled(part: Any) -> bool:
    """Whether the object's own class, not only a base class, is decorated with ``@compiled``."""
    return "_compiled" in vars(type(part))
