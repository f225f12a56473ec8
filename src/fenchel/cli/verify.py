"""``fenchel verify``: check the certificate of a model with code that is not the solver's."""

from __future__ import annotations

from typing import Annotated

import typer

from fenchel.cli import options as opt
from fenchel.cli.exits import DONE, NOT_CERTIFIED
from fenchel.cli.screen import print_facts, print_json
from fenchel.core.errors import InputError


def command(
    model: opt.Model,
    data: opt.Data,
    target: opt.Target = None,
    format: opt.Format = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compute with exact fractions, for small data: about 0.1 ms an entry.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Check the certificate of a linear model on the rows it was trained on.

    The objective of the weights and a lower bound on the smallest possible one are computed again in extended precision, or with exact
    fractions, from formulas that share no code with the solvers. The dual point that gives the bound is found by solving again; any dual
    point that passes the check is a proof. The exit code is 0 if the gap that is proven is at most the one stored in the model, else 3.

    Keys of --json: objective, dual_objective, gap, claimed, holds, arithmetic, rows.

    Example: fenchel verify cars.fenchel train.csv
    """
    from fenchel.cli.inputs import TableOptions, load_linear_model, read_for_model

    estimator = load_linear_model(model, data)
    rows = read_for_model(estimator, data, TableOptions(target=target, format=format))
    if rows.y is None:
        raise InputError(f"{data} has no labels to verify the model on: give the rows it was trained on.")
    checked = estimator.verify(rows.X, rows.y, rows.sample_weight, exact=exact)
    facts = {"objective": checked.objective, "dual_objective": checked.dual_objective, "gap": checked.gap, "claimed": checked.claimed}
    if as_json:
        print_json({**facts, "holds": checked.holds, "arithmetic": checked.arithmetic, "rows": len(rows)})
    else:
        print_facts(
            {
                "objective": f"{checked.objective:.6g} (rounded up)",
                "bound": f"{checked.dual_objective:.6g} (rounded down)",
                "proven gap": f"{checked.gap:.3g}",
                "claimed gap": f"{checked.claimed:.3g}",
                "verdict": "the claim is proven" if checked.holds else "the claim is not proven",
                "arithmetic": checked.arithmetic,
            }
        )
    raise typer.Exit(DONE if checked.holds else NOT_CERTIFIED)
