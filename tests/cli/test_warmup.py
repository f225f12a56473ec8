"""``fenchel warmup`` makes the calls that are asked for, and says what it did."""

from __future__ import annotations

import pytest

from fenchel.core import compile_notice, kernel_cache
from fenchel.warmup import typical_calls
from tests.cli.shell import fenchel, json_of


@pytest.fixture
def made(monkeypatch):
    """The names of the calls made, of which there are few, in place of the calls."""
    names = []

    def call(name, common):
        return typical_calls.Call(name, common, lambda: names.append(name))

    calls = [call("Ridge() on an array", True), call("Lasso() on an array", True), call("Lasso(positive=True) on an array", False)]
    monkeypatch.setattr(typical_calls, "all_calls", lambda: calls)
    monkeypatch.setattr("fenchel.warmup.all_calls", lambda: calls)
    monkeypatch.setattr(compile_notice, "compilations", compile_notice.Compilations())
    return names


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["Ridge() on an array", "Lasso() on an array"]),
        (("--all",), ["Ridge() on an array", "Lasso() on an array", "Lasso(positive=True) on an array"]),
        (("--only", "lasso"), ["Lasso() on an array", "Lasso(positive=True) on an array"]),
    ],
)
def test_the_calls_asked_for_are_made(made, words, expected):
    found = json_of("warmup", *words, "--json")
    assert made == expected
    assert found["calls"] == len(expected)
    assert found["compiled"] == 0
    assert found["kept_in"] == str(kernel_cache.cache_directory())


def test_it_says_what_it_did_and_where(made):
    output = " ".join(fenchel("warmup").output.split())
    assert "2 calls in" in output
    assert "0 kernels compiled" in output
    assert "Machine code is kept in" in output
    assert fenchel("warmup", "--quiet").output == ""


def test_a_name_that_no_call_has_is_refused(made):
    output = fenchel("warmup", "--only", "Randge", code=2).output
    assert "no typical call has such a name" in " ".join(output.split())
    assert made == []
