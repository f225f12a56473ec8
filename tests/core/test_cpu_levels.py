"""Levels of processors: this computer runs only those whose instructions it has."""

from __future__ import annotations

import pytest
from llvmlite import binding

from fenchel.core import cpu_levels
from fenchel.core.cpu_levels import V2, V3, V4, X86_LEVELS, environment_for, levels_of_host


@pytest.fixture
def processor(monkeypatch):
    """Give this computer an x86 processor with some features."""
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
    monkeypatch.setattr(cpu_levels, "levels", lambda: X86_LEVELS)

    def with_features(features):
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: dict.fromkeys(features, True) | {"sse4a": False})

    return with_features


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (V4, ["x86-64-v4", "x86-64-v3", "x86-64-v2"]),
        (V4 | {"avx512vnni"}, ["x86-64-v4", "x86-64-v3", "x86-64-v2"]),
        (V4 - {"avx512vl"}, ["x86-64-v3", "x86-64-v2"]),
        (V3 - {"fma"}, ["x86-64-v2"]),
        (V2, ["x86-64-v2"]),
        (V2 - {"popcnt"}, []),
        ((), []),
    ],
)
def test_a_level_needs_all_of_its_features(processor, features, expected):
    processor(features)
    assert levels_of_host() == expected


def test_each_level_contains_the_one_below():
    assert V2 < V3 < V4


def test_only_the_level_that_numba_was_told_to_compile_for_is_taken(processor, monkeypatch):
    processor(V4)
    for name, value in environment_for("x86-64-v3").items():
        monkeypatch.setenv(name, value)
    assert levels_of_host() == ["x86-64-v3"]
    monkeypatch.setenv("NUMBA_CPU_NAME", "znver4")
    assert levels_of_host() == []


def test_another_kind_of_processor_has_no_levels(monkeypatch):
    monkeypatch.setattr(binding, "get_process_triple", lambda: "riscv64-unknown-linux-gnu")
    assert cpu_levels.levels() == {}
    assert levels_of_host() == []
