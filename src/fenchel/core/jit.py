"""The Numba side of :mod:`fenchel.core.compiled`: types of compiled classes, their methods, and the dispatchers of kernels.

It is imported when the first kernel is called. Stored machine code needs the types of the arguments alone, so a class gets its type at
once, while methods, functions and Numba's own registries wait for :func:`prepare_to_compile`, which a process whose kernels are all stored
never calls: that would take longer than loading them.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.errors import NumbaError as NumbaError
from numba.extending import NativeValue, intrinsic, overload, overload_method, register_model, typeof_impl, unbox

from fenchel.core.compile_notice import compilations
from fenchel.core.jit_options import OPTIONS
from fenchel.core.kernel_cache import KeptNowhere, StoredKernels
from fenchel.core.pipeline import KernelCompiler

KERNEL_OPTIONS: dict[str, Any] = {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
# Methods and functions are called from kernels alone, so that they need no wrapper for Python, and no machine code of their own.
FUNCTION_OPTIONS: dict[str, Any] = {**KERNEL_OPTIONS, "no_cpython_wrapper": True}
METHOD_OPTIONS: dict[str, Any] = {**FUNCTION_OPTIONS, "forceinline": True}
READ_INTO_CACHES = 0, 2, 1  # arguments of LLVM's prefetch: a read, of locality 2 out of 3, of data

_preparing = threading.RLock()
_postponed: list[Callable[[], None]] = []  # what only compiling needs
_prepared = False


def prepare_to_compile() -> None:
    """Make methods, functions and constructors known to Numba, once."""
    global _prepared
    with _preparing:
        if not _prepared:
            _prepared = True
            event.register("numba:compile", _Listener())
            for registration in _postponed:
                registration()
            _postponed.clear()


class _Listener(event.Listener):
    """Counts kernels as they are compiled, and has notices given of those that take long."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        function = dispatcher.py_func
        name = function.__name__.strip("_").replace("_", " ")
        compilations.begin(f"{name} ({function.__module__})", isinstance(dispatcher._cache, StoredKernels))

    def on_end(self, event: Any) -> None:
        compilations.end()


def _before_compiling(registration: Callable[[], None]) -> None:
    with _preparing:
        if _prepared:
            registration()
        else:
            _postponed.append(registration)


def add_class(cls: Any) -> None:
    """Give the class a Numba type of its own, and its methods one overload each."""

    class ClassType(types.NamedTuple):
        def __init__(self, field_types: tuple[Any, ...]) -> None:
            super().__init__(field_types, cls)

        # Numba evaluates `if receiver:`, and a tuple type without fields would be false.
        def __bool__(self) -> bool:
            return True

        def __reduce__(self) -> Any:
            return _class_type, (cls, self.types)

    ClassType.__name__ = ClassType.__qualname__ = f"{cls.__name__}Type"
    cls._numba_type = ClassType
    typeof_impl.register(cls)(lambda value, context: ClassType(tuple(typeof_impl(v, context) for v in value)))
    _before_compiling(functools.partial(_add_representation, cls))


def _class_type(cls: Any, field_types: tuple[Any, ...]) -> Any:
    return cls._numba_type(field_types)


def _add_representation(cls: Any) -> None:
    from numba.core.datamodel.models import OpaqueModel, TupleModel

    class_type = cls._numba_type
    if cls._fields:
        register_model(class_type)(TupleModel)
    else:  # an empty tuple has no machine representation: pass a dummy pointer
        register_model(class_type)(OpaqueModel)
        unbox(class_type)(lambda typ, obj, c: NativeValue(c.context.get_dummy_value()))
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            _add_method(class_type, name, method)


def _add_method(class_type: Any, name: str, method: Callable[..., Any]) -> None:
    def implementation(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        return method

    implementation.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    register: Any = overload_method  # its type hints omit jit_options
    options = {**OPTIONS, **METHOD_OPTIONS, **getattr(method, "jit_options", {})}
    register(class_type, name, jit_options=options)(implementation)


def add_function(function: Any) -> None:
    """Let kernels call the function, which stays a plain function in Python."""

    def make_known() -> None:
        made = numba.njit(**function._compile_options, **FUNCTION_OPTIONS)(function)
        made._cache = KeptNowhere(prepare_to_compile)
        made.get_call_template = functools.partial(_template_of_types, made.get_call_template)
        function._dispatcher = made  # of which the type keeps no reference
        function._numba_type_ = made._numba_type_  # what Numba looks for in an object it does not know

    _before_compiling(make_known)


def _template_of_types(template_for: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """How Numba compiles a call, for the types of its arguments alone: a known number such as 0 would get a version of its own."""
    return template_for(tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in keywords.items()})


def add_maker(make: Any, cls: Any) -> None:
    """Let kernels construct the class by calling ``make``."""

    def make_known() -> None:
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

    _before_compiling(make_known)


def add_prefetch(prefetch: Any) -> None:
    """Let ``prefetch`` be an instruction in kernels."""

    def make_known() -> None:
        from numba.np.arrayobj import make_array

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

    _before_compiling(make_known)


def dispatcher(function: Callable[..., Any], *, is_kept: bool) -> Any:
    """Numba's dispatcher of a kernel, whose machine code is stored if it ``is_kept``.

    A kernel has one for each set of user-defined classes: Numba confuses two classes of the same name (a notebook cell run twice).
    """
    made: Any = numba.njit(**OPTIONS, **KERNEL_OPTIONS, **getattr(function, "jit_options", {}))(function)
    made._cache = StoredKernels(function, prepare_to_compile) if is_kept else KeptNowhere(prepare_to_compile)
    return made
