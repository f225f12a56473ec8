"""Helpers that run commands, and a table of data for them."""

from __future__ import annotations

import csv
import json

import numpy as np
from typer.main import get_command
from typer.testing import CliRunner

from fenchel.cli import app

runner = CliRunner()
COLUMNS = ["hp", "weight", "colour", "fuel", "class"]


def cars(path, m, seed, columns=COLUMNS, colours=("red", "blue", "green")):
    """Write a table with numbers and categories, with the columns in the given order."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(m):
        hp, weight, colour = int(rng.integers(5, 20)), round(rng.normal(10.0, 2.0), 2), str(rng.choice(colours))
        fast = hp + 3.0 * (colour == "red") - weight / 2 + rng.normal(0.0, 2.0) > 8.0
        fuel = str(rng.choice(["diesel", "petrol"]))
        rows.append({"hp": hp, "weight": weight, "colour": colour, "fuel": fuel, "class": "fast" if fast else "slow"})
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def fenchel(*words, code=0):
    """Run a command, check its exit code and return the result."""
    result = runner.invoke(app, [str(word) for word in words])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result


def json_of(*words, code=0):
    """Run a command with ``--json`` and return the parsed output."""
    return json.loads(fenchel(*words, "--json", code=code).stdout)


def commands(group=None, name=()):
    """Every command with its name, as a tuple of words."""
    for key, command in (group or get_command(app)).commands.items():
        yield from commands(command, (*name, key)) if hasattr(command, "commands") else [((*name, key), command)]
