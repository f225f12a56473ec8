"""Whoever waits for the compiler is told so, once, after a second."""

from __future__ import annotations

import gc
import logging
import time

import pytest

from fenchel.core import compile_notice
from fenchel.core.compile_notice import Compilations, heard_by

SHORT = 0.02


@pytest.fixture
def soon(monkeypatch):
    """Notices come after a fiftieth of a second."""
    monkeypatch.setattr(compile_notice, "NOTICE_AFTER", SHORT)


def compile_for(compilations, seconds, what="a kernel", is_kept=True):
    compilations.begin(what, is_kept)
    time.sleep(seconds)
    compilations.end()


def test_a_short_compilation_is_counted_and_not_mentioned(caplog):
    compilations, heard = Compilations(), []
    with caplog.at_level(logging.INFO, "fenchel"), heard_by(heard.append):
        compile_for(compilations, 0.0)
    assert compilations.count == 1
    assert heard == []
    assert caplog.records == []


@pytest.mark.parametrize(("is_kept", "words"), [(True, "this happens once"), (False, "in every process")])
def test_a_long_one_is_logged_and_told_to_the_last_listener(soon, caplog, is_kept, words):
    first, last = [], []
    with caplog.at_level(logging.INFO, "fenchel"), heard_by(first.append), heard_by(last.append):
        compile_for(Compilations(), 10 * SHORT, "sweep (module)", is_kept)
    assert first == []
    (text,) = last
    assert text.startswith("compiling sweep (module)")
    assert words in text
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"{text.capitalize()}."


def test_many_short_ones_add_up_and_are_mentioned_once(soon):
    compilations, heard = Compilations(), []
    with heard_by(heard.append):
        for number in range(20):
            compile_for(compilations, SHORT / 4, f"kernel {number}")
    assert compilations.count == 20
    assert len(heard) == 1


def test_functions_compiled_for_a_kernel_are_part_of_it(soon):
    compilations, heard = Compilations(), []
    with heard_by(heard.append):
        compilations.begin("kernel", True)
        compile_for(compilations, 2 * SHORT, "a function that it calls")
        compilations.end()
    assert compilations.count == 1
    assert len(heard) == 1
    assert "kernel" in heard[0]


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_again_afterwards(collects):
    before = gc.isenabled()
    try:
        gc.enable() if collects else gc.disable()
        compilations = Compilations()
        compilations.begin("kernel", True)
        assert not gc.isenabled()
        compile_for(compilations, 0.0)
        assert not gc.isenabled()
        compilations.end()
        assert gc.isenabled() is collects
    finally:
        gc.enable() if before else gc.disable()
