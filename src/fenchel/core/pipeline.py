"""The stages in which kernels are compiled: Numba's, less what would be thrown away

Numba makes machine code of every function that it compiles. A kernel calls dozens of methods and functions that nothing else can call,
because they have no wrapper for Python: their code is linked into the kernel's, and is optimised and translated there. Doing both for each
of them as well takes about as long as the kernel itself. Only functions with loops are optimised before they are linked: loops that become
part of others first are not always vectorised (the step length of softmax takes six times as long).
"""

from __future__ import annotations

from typing import Any

from numba.core.analysis import compute_cfg_from_blocks
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering


class LinkedCode(JITCodeLibrary):
    """The code of a function that only kernels call, kept as Numba has generated it until it is linked into theirs."""

    def __init__(self, codegen: Any, name: str, has_loops: bool) -> None:
        super().__init__(codegen, name)
        self.has_loops, self.environments = has_loops, dict[str, Any]()

    @property
    def codegen(self) -> Any:
        """What is asked to tell the function's machine code where its Python objects are: kernels pass it on to theirs."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Note an environment; there is no machine code yet that could be told."""
        self.environments[name] = environment

    def get_pointer_to_function(self, name: str) -> int:
        """Null: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        if self.has_loops:
            super()._optimize_functions(module)

    def _optimize_final_module(self) -> None:
        if self.has_loops:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        for library in self._linking_libraries:
            self.environments.update(getattr(library, "environments", {}))
        self._finalized = True


class KernelCode(JITCodeLibrary):
    """The code of a kernel and of all that it calls."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout  # the optimisation of the whole includes that of each function

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for library in self._linking_libraries:
            for name, environment in getattr(library, "environments", {}).items():
                if self._codegen._engine.is_symbol_defined(name):
                    self.codegen.set_env(name, environment)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """Generates LLVM's code, in a library that suits the function."""

    _name = "fenchel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Generate the code."""
        codegen, name = state.targetctx.codegen(), state.func_id.func_qualname
        if state.flags.no_cpython_wrapper:
            state.library = LinkedCode(codegen, name, has_loops=bool(compute_cfg_from_blocks(state.func_ir.blocks).loops()))
        else:
            state.library = KernelCode(codegen, name)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class Stages(PassManager):
    """Runs the stages without telling Numba's listeners of each one, which takes about a tenth of the time."""

    def __init__(self, name: str, stages: list[tuple[Any, str]]) -> None:
        super().__init__(name)
        self.passes.extend(stages)
        self.finalize()

    def _runPass(self, index: int, stage: Any, state: Any) -> None:
        stage.analysis = self._analysis
        for part in (stage.run_initialization, stage.run_pass, stage.run_finalizer):
            part(state)


class KernelCompiler(Compiler):
    """Numba's stages with this lowering, and without a listing of types that nobody reads."""

    def define_pipelines(self) -> list[Stages]:
        """The stages."""
        replaced = {NativeLowering: Lowering}
        return [
            Stages(given.pipeline_name, [(replaced.get(stage, stage), text) for stage, text in given.passes if stage is not AnnotateTypes])
            for given in super().define_pipelines()
        ]
