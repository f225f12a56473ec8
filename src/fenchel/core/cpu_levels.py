"""Levels of processors: machine code for a level runs on every processor that has at least the instructions of that level

Those of x86 are from its psABI (https://gitlab.com/x86-psABIs/x86-64-ABI), with LLVM's names; on other processors there is one.
"""

from __future__ import annotations

import os

from llvmlite import binding

V2 = frozenset(["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"])
V3 = V2 | frozenset(["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"])
V4 = V3 | frozenset(["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"])
X86_LEVELS = {"x86-64-v4": V4, "x86-64-v3": V3, "x86-64-v2": V2}
ARM_LEVELS: dict[str, frozenset[str]] = {"generic": frozenset()}
LEVELS = {"x86_64": X86_LEVELS, "aarch64": ARM_LEVELS, "arm64": ARM_LEVELS}


def levels() -> dict[str, frozenset[str]]:
    """The levels of this computer's kind of processor with the features that they need, the highest first."""
    return LEVELS.get(binding.get_process_triple().partition("-")[0], {})


def levels_of_host() -> list[str]:
    """The levels whose machine code this process may run, the highest first; only that which Numba was told to compile for, if it was."""
    told = os.environ.get("NUMBA_CPU_NAME")
    if told:
        return [told] if told in levels() and not os.environ.get("NUMBA_CPU_FEATURES") else []
    features = binding.get_host_cpu_features()
    return [level for level, needed in levels().items() if all(features.get(name, False) for name in needed)]


def environment_for(level: str) -> dict[str, str]:
    """The environment variables that have Numba compile for a level."""
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
