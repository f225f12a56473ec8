"""The help texts and docs/cli.md: every command has an example, every example runs, and exit codes are listed."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from fenchel.cli import exits
from tests.cli.shell import commands, fenchel

STRUCTURED = ("tag", "rank", "fold")


def examples():
    found = [example for _, command in commands() for example in re.findall(r"Example: fenchel (.+)", command.help)]
    return [pytest.param(example, marks=pytest.mark.slow if example.split()[0] in STRUCTURED else ()) for example in found]


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda part: " ".join(part) if isinstance(part, tuple) else "")
def test_every_command_has_an_example_and_lists_its_json_keys(name, command):
    assert re.search(rf"Example: fenchel {' '.join(name)} ?", command.help)
    if any("--json" in option.opts for option in command.params):
        assert "Keys of --json" in command.help


@pytest.mark.parametrize("example", examples())
def test_examples_run(example, at_home, tmp_path, monkeypatch, request):
    if example.split()[0] in STRUCTURED:
        request.getfixturevalue("structured_models")
    shutil.copytree(at_home, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    fenchel(*shlex.split(example))


def test_every_command_has_an_example_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    missing = [name for name, _ in commands() if not re.search(rf"^fenchel {name[0]}\b", page, flags=re.MULTILINE)]
    assert missing == [], "add an example of each to a bash block of docs/cli.md"


@pytest.mark.slow
def test_the_commands_in_the_documentation_run(structured_models, at_home, tmp_path, monkeypatch):
    shutil.copytree(at_home, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL) for line in block.splitlines()]
    for line in lines:
        fenchel(*shlex.split(line, comments=True)[1:])
    for code in (exits.DONE, exits.INTERNAL, exits.BAD_INPUT, exits.NOT_CERTIFIED, exits.INTERRUPTED):
        assert f"| {code} |" in page


def test_exit_codes_are_in_the_help():
    words = " ".join(fenchel("--help").output.split())
    for code in (exits.DONE, exits.INTERNAL, exits.BAD_INPUT, exits.NOT_CERTIFIED, exits.INTERRUPTED):
        assert re.search(rf"\b{code} \w+", words)
