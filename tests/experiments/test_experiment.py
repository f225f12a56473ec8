"""Rows, and verdicts from checks."""

from __future__ import annotations

import pytest

from fenchel.experiments.experiment import FAILS, HOLDS, IN_PART, Rows, judged

ROWS = Rows(
    [
        {"method": "scd", "m": 10, "seconds": 1.0},
        {"method": "gcd", "m": 10, "seconds": 2.0},
        {"method": "scd", "m": 20, "seconds": 3.0, "note": "slow"},
    ]
)


def test_rows_are_chosen_by_their_values():
    assert ROWS.where(method="scd")["seconds"].tolist() == [1.0, 3.0]
    assert ROWS.where(method="scd", m=20).one("seconds") == 3.0
    assert ROWS.one("seconds", method="gcd") == 2.0
    assert ROWS.values("m") == [10, 20]
    assert ROWS.values("note") == ["slow"]
    assert [row["m"] for row in ROWS] == [10, 10, 20]


def test_the_only_row_must_be_the_only_one():
    with pytest.raises(ValueError, match="too many"):
        ROWS.one("seconds", method="scd")
    with pytest.raises(ValueError, match="not enough"):
        ROWS.one("seconds", method="smidas")


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [({"a": True, "b": True}, HOLDS), ({"a": True, "b": False}, IN_PART), ({"a": False, "b": False}, FAILS), ({}, FAILS)],
)
def test_a_claim_holds_if_all_checks_do(checks, verdict):
    finding = judged(checks, {"number": 1.0})
    assert finding.verdict == verdict
    assert finding.numbers["number"] == 1.0
    assert finding.numbers.get("fails for") == ("b" if verdict == IN_PART else None)
