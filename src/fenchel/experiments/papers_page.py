"""A Markdown page of what was reproduced: every claim with its verdict, the figure, and the numbers that the papers print beside ours"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fenchel.core.atomic_files import replacing
from fenchel.core.errors import Argument, InputError
from fenchel.experiments.experiment import FAILS, HOLDS, IN_PART
from fenchel.experiments.reproduction import VERDICTS, experiments

HEAD = """# The papers' experiments, reproduced and judged

<!-- Written by `fenchel reproduce NAME ... --out {folder} --page {page}`. -->

Every table and figure below is rerun by `fenchel reproduce`, which writes the data, the figure and the verdicts. A verdict is computed
from the numbers by the rule beside the claim: *holds*, *holds in part* (for some of the cases that the rule names) or *does not hold*. The
numbers that decided it are folded behind each claim. Where the data of a paper cannot be had, the text says what was taken in their place.
"""


def write_page(page: Path, out: Path) -> None:
    """Write the page of all experiments in a folder, in the order of the papers."""
    found = [json.loads(path.read_text(encoding="utf-8")) for name in experiments() if (path := out / name / VERDICTS).exists()]
    if not found:
        raise InputError(Argument("out", str(out)), " has no experiments to write a page of: run some first.")
    folder = os.path.relpath(out, page.parent)
    text = "\n".join([HEAD.format(folder=folder, page=page.name), _summary(found), *_papers(found, folder)])
    with replacing(page) as file:
        file.write_text(text, encoding="utf-8")


def _summary(found: list[dict[str, Any]]) -> str:
    lines = [f"| experiment | what | {HOLDS} | {IN_PART} | {FAILS} | minutes |", "|---|---|---|---|---|---|"]
    for one in found:
        counts = [sum(claim["verdict"] == verdict for claim in one["claims"]) for verdict in (HOLDS, IN_PART, FAILS)]
        link = f"[{one['experiment']}](#{one['experiment']})"
        lines.append(f"| {link} | {one['source']}: {one['title']} | {' | '.join(map(str, counts))} | {one['seconds'] / 60:.1f} |")
    total = sum(one["seconds"] for one in found) / 60.0
    machine = found[0]["machine"]
    where = f"{machine['cores']} cores of {machine['processor']}, Python {machine['python']}"
    return "\n".join([*lines, "", f"All together {total:.0f} minutes on {where}.", ""])


def _papers(found: list[dict[str, Any]], folder: str) -> list[str]:
    parts = []
    for paper in dict.fromkeys(one["paper"] for one in found):
        parts.append(f"## {paper}\n")
        parts += [_experiment(one, folder) for one in found if one["paper"] == paper]
    return parts


def _experiment(one: dict[str, Any], folder: str) -> str:
    name = one["experiment"]
    lines = [f"### {name}", "", f"**{one['source']}: {one['title']}.** {one['data']}", ""]
    lines += [f"`{one['command']}`, {one['seconds']:.0f} s.", "", f"![{one['source']}: {one['title']}]({folder}/{name}/figure.png)", ""]
    if "table" in one:
        heads, *rest = one["table"]
        lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(f"| {' | '.join(line)} |" for line in rest), ""]
    for claim in one["claims"]:
        lines += _claim(claim)
    return "\n".join(lines)


def _claim(claim: dict[str, Any]) -> list[str]:
    lines = [f"> {claim['claim']}", f"> — {claim['source']}", "", f"**{claim['verdict'].capitalize()}.** {claim['rule']}", ""]
    if claim.get("investigation"):
        lines += [claim["investigation"], ""]
    numbers = "\n".join(f"- {name}: {value}" for name, value in claim["numbers"].items())
    return [*lines, f"<details><summary>numbers</summary>\n\n{numbers}\n\n</details>\n"] if numbers else lines
