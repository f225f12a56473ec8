"""Write a loss, a regularizer or a matrix once, as a ``NamedTuple``; run it in Python and inside compiled kernels.

Only this module and :mod:`fenchel.core.kernel_cache`, which keeps machine code on disk, use Numba's extension API.
It offers two decorators:

``@compiled``  on a ``NamedTuple`` class: its fields and methods become usable inside kernels.
               On a plain function: a helper that methods and kernels may call.
``@kernel``    on a loop that takes such objects. Machine code is kept on disk between processes, under a
               directory named after a hash of the package's sources: Numba's own cache checks only the kernel's
               file, so kernels would keep running an old version of an edited loss. For the same reason a kernel
               called with an object whose class is defined outside the package is recompiled in every process.

With ``NUMBA_DISABLE_JIT=1`` both decorators do nothing and everything runs as plain Python.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import OpaqueModel, TupleModel
from numba.core.errors import NumbaError
from numba.extending import NativeValue, intrinsic, overload, overload_method, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array

from fenchel.core.errors import InputTypeError
from fenchel.core.kernel_cache import JIT, PACKAGE, DiskCache, cache_directory

log = logging.getLogger("fenchel")
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # NumPy's rule that 1/0 is inf lets loops vectorise
# Methods are called from kernels alone: without the wrappers that Python and C would need, kernels compile about 8% faster.
METHOD_OPTIONS: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
READ_INTO_CACHES = 0, 2, 1  # arguments of LLVM's prefetch: a read, of locality 2 out of 3, of data

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
        return numba.njit(**OPTIONS, **getattr(definition, "jit_options", {}))(definition) if JIT else definition
    if not (issubclass(definition, tuple) and hasattr(definition, "_fields")):
        raise InputTypeError(f"{definition.__name__} is not a NamedTuple: write `class {definition.__name__}(NamedTuple):`.")
    _construct_with_checks(definition)
    definition._compiled = True  # type: ignore[attr-defined]
    if JIT:
        _register_with_numba(definition)
    return definition


def inlined(function: F) -> F:
    """Like ``compiled`` for a plain function, and inlined into its callers: for functions cheaper than a call."""
    return numba.njit(**OPTIONS, forceinline=True, **getattr(function, "jit_options", {}))(function) if JIT else function


def maker(cls: Any) -> Callable[..., Any]:
    """A function that constructs a ``@compiled`` class from its fields and also works inside kernels, where the class cannot be called."""

    def make(*fields: Any) -> Any:
        return cls(*fields)

    if JIT:

        @intrinsic
        def build(typing_context: Any, fields: Any) -> Any:
            made = cls._numba_type(fields.types)

            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                parts = [builder.extract_value(values[0], k) for k in range(len(made.types))]
                for kind, part in zip(made.types, parts, strict=True):
                    context.nrt.incref(builder, kind, part)
                return context.make_tuple(builder, made, parts)

            return made(fields), generate

        overload(make)(lambda *fields: lambda *fields: build(fields))  # type: ignore[call-arg]
    return make


def prefetch(array: np.ndarray, *position: int | np.unsignedinteger[Any]) -> None:
    """Have the processor load an entry of an array into its caches, for a kernel that reads it soon; in Python nothing happens.

    Processors foresee which entries follow each other, not which row comes next in random order: waiting for its first entries takes
    longer than the arithmetic on a short row.
    """


def _register_prefetch() -> None:
    @intrinsic
    def fetch(typing_context: Any, array: Any, position: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            data = make_array(array)(context, builder, values[0])
            entry = cgutils.get_item_pointer(context, builder, array, data, cgutils.unpack_tuple(builder, values[1]))
            address, number = builder.bitcast(entry, cgutils.voidptr_t), cgutils.int32_t
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [address, *map(number, READ_INTO_CACHES)])
            return context.get_dummy_value()

        return types.void(array, position), generate

    overload(prefetch)(lambda array, *position: lambda array, *position: fetch(array, position))  # type: ignore[call-arg]


if JIT:
    _register_prefetch()


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


def _register_with_numba(cls: Any) -> None:
    """Register a separate Numba type for the class, with one overload per method."""

    class ClassType(types.NamedTuple):
        def __init__(self, field_types: tuple[Any, ...]) -> None:
            super().__init__(field_types, cls)

        # Numba evaluates `if receiver:`, and a tuple type without fields would be false.
        def __bool__(self) -> bool:
            return True

        def __reduce__(self) -> Any:
            return _numba_type, (cls, self.types)

    ClassType.__name__ = ClassType.__qualname__ = f"{cls.__name__}Type"
    cls._numba_type = ClassType
    typeof_impl.register(cls)(lambda value, context: ClassType(tuple(typeof_impl(v, context) for v in value)))
    if cls._fields:
        register_model(ClassType)(TupleModel)
    else:  # an empty tuple has no machine representation: pass a dummy pointer
        register_model(ClassType)(OpaqueModel)
        unbox(ClassType)(lambda typ, obj, c: NativeValue(c.context.get_dummy_value()))
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            _register_method(ClassType, name, method)


def _register_method(class_type: Any, name: str, method: Callable[..., Any]) -> None:
    def implementation(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        return method

    implementation.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    register: Any = overload_method  # its type hints omit jit_options
    options = {**OPTIONS, **METHOD_OPTIONS, **getattr(method, "jit_options", {})}
    register(class_type, name, jit_options=options)(implementation)


def _numba_type(cls: Any, field_types: tuple[Any, ...]) -> Any:
    return cls._numba_type(field_types)


def kernel(function: F) -> F:
    """Compile a loop, keep its machine code on disk, and recompile it whenever the stored code could be stale."""
    if not JIT:
        return function
    ours = function.__module__.partition(".")[0] == PACKAGE

    @functools.cache
    def dispatcher(foreign: tuple[type, ...]) -> Any:
        # One per set of user-defined classes: Numba confuses two classes of the same name (a notebook cell run twice).
        made = numba.njit(**OPTIONS, **getattr(function, "jit_options", {}))(function)
        if ours and not foreign and cache_directory() is not None:
            made._cache = DiskCache(function)
        return made

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if _own_types.issuperset(map(type, args)):
            return dispatcher(())(*args)
        foreign = _foreign_classes(args)
        try:
            return dispatcher(foreign)(*args)
        except NumbaError as error:
            if not foreign:
                raise
            log.debug("Numba's error: %s", error)
            names = " and ".join(dict.fromkeys(cls.__name__ for cls in foreign))
            raise InputTypeError(
                f"{names} could not be compiled ({_main_reason(error)}): its methods may use numbers, arrays, math and NumPy functions, "
                "and other functions decorated with @fenchel.compiled."
            ) from None

    return call  # type: ignore[return-value]


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
def _is_own(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in (PACKAGE, "builtins")


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
