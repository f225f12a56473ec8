"""A small part of the campaign of interruptions, with a fixed seed."""

from __future__ import annotations

import os

import pytest

from tests.campaign import interruptions
from tests.campaign.commands import COMMANDS


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign of interruptions needs fork")
def test_interruptions_damage_nothing(tmp_path, monkeypatch):
    few = [command for command in COMMANDS if command.words.startswith(("train train.csv --solver", "convert train.csv", "predict cars"))]
    monkeypatch.setattr(interruptions, "COMMANDS", few)
    monkeypatch.setattr(interruptions, "KINDS", {"signal": 0.5, "call": 0.3, "largest file": 0.2})
    counts = interruptions.run(60.0, 0, tmp_path / "failures", most=3)
    assert counts["cases"] > 0
    assert not [name for name in counts if not name.startswith("cases")], [file.read_text() for file in (tmp_path / "failures").iterdir()]
