"""``fenchel fold``: predict the secondary structure of RNA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fenchel.cli import options as opt, training
from fenchel.cli.screen import print_json
from fenchel.cli.structured_models import load_model_of_kind, print_scores, resolve_path, train, write_text
from fenchel.core.errors import InputError

BASES = set("ACGTUN")
app = typer.Typer(help="Train and use models of RNA secondary structure.", no_args_is_help=True)
Rna = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="RNA with structures: a dot-bracket file, a .bpseq file, a folder or .tar of them (plain, .gz, .xz); or a name: s151rfam.",
        show_default=False,
    ),
]
Sequences = Annotated[
    str,
    typer.Argument(metavar="DATA", help="A FASTA, dot-bracket or .bpseq file; or a sequence, such as GGGAAACCC.", show_default=False),
]


@app.command("train")
def train_folder(
    data: Rna,
    model: opt.ModelOut,
    loss: Annotated[str, typer.Option(help="likelihood, which gives base-pair probabilities, or margin.")] = "likelihood",
    l2: opt.UsualL2 = None,
    gamma: Annotated[
        float, typer.Option(help="The weight of pairs relative to unpaired bases when folding; a larger value gives more pairs.")
    ] = 6.0,
    solver: opt.Solver = "auto",
    tol: opt.Tol = 1e-2,
    max_passes: opt.MaxPasses = 300.0,
    time_limit: opt.TimeLimit = None,
    checkpoint: opt.Checkpoint = None,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    progress: opt.Progress = None,
) -> None:
    """Train a folding model on RNA with known structures.

    Keys of --json: sequences, bases, weights, loss, l2, objective, dual_objective, gap, converged, solver, tol, passes, interrupted,
    seconds, model.

    Example: fenchel fold train train.dbn --model folder.fenchel --l2 0.3
    """
    import fenchel as fl
    from fenchel.core.atomic_files import checked_place

    checked_place(model, data)
    records = fl.datasets.read_rna(resolve_path(data))
    limits = training.limits(solver, tol, max_passes, time_limit, seed, threads)
    shown = int(training.is_progress_shown(progress, quiet))
    estimator = fl.RnaFolder(loss, l2=l2, gamma=gamma, **limits, verbose=shown)
    sequences, structures = [record.sequence for record in records], [record.structure for record in records]
    without_structure = next((record.name for record in records if not record.structure), None)
    if without_structure is not None:
        raise InputError(f"{data}: {without_structure} has no structure to train on: give a dot-bracket or .bpseq file.")
    counts = {"sequences": len(sequences), "bases": sum(map(len, sequences))}
    train(estimator, lambda: estimator.fit(sequences, structures), counts, model, as_json, quiet, checkpoint)


@app.command()
def predict(
    model: opt.Model,
    data: Sequences,
    output: opt.TextOut = Path("-"),
    gamma: Annotated[float | None, typer.Option(help="Replaces the value the model was trained with.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the pairs of one RNA as arcs, with the known pairs below the sequence.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Fold RNA: print names, sequences and predicted structures in dot-bracket notation.

    Keys of --json: structures, a list of name, sequence and structure.

    Example: fenchel fold predict folder.fenchel GGGGAAAACCCC

    Example: fenchel fold predict folder.fenchel test.dbn -o folded.dbn
    """
    import fenchel as fl
    from fenchel import plots

    if plot is not None:
        plots.check_file(plot)
    folder = load_model_of_kind("RnaFolder", model, data)
    if gamma is not None:
        folder.set_params(gamma=gamma)
    records = _sequences(data)
    if plot is not None and len(records) > 1:
        raise InputError(f"{data} has {len(records)} sequences, and a figure shows only one: give a file with one sequence.")
    structures = folder.predict([record.sequence for record in records])
    if plot is not None:
        plots.save(fl.plots.arcs(records[0].sequence, structures[0], records[0].structure or None), plot)
    if as_json:
        pairs = zip(records, structures, strict=True)
        print_json({"structures": [{"name": r.name, "sequence": r.sequence, "structure": s} for r, s in pairs]})
        return
    write_text("".join(f">{r.name}\n{r.sequence}\n{s}\n" for r, s in zip(records, structures, strict=True)), output, data, model)


@app.command()
def evaluate(model: opt.Model, data: Rna, as_json: opt.Json = False) -> None:
    """Evaluate a folding model on RNA with known structures; pairs are counted over all sequences.

    Keys of --json: sequences, pairs, sensitivity, ppv, f1.

    Example: fenchel fold evaluate folder.fenchel test.dbn --json
    """
    import fenchel as fl
    from fenchel.structured.rna import accuracy

    folder = load_model_of_kind("RnaFolder", model, data)
    records = fl.datasets.read_rna(resolve_path(data))
    truths = [record.structure for record in records]
    if not all(truths):
        raise InputError(f"{data} has sequences without structures: give a file with a structure for each sequence.")
    found = accuracy(truths, folder.predict([record.sequence for record in records]))
    pairs = sum(structure.count("(") for structure in truths)
    print_scores({"sequences": len(records), "pairs": pairs, "sensitivity": found.sensitivity, "ppv": found.ppv, "f1": found.f1}, as_json)


def _sequences(data: str) -> list[Any]:
    import fenchel as fl

    if set(data.upper()) <= BASES and not Path(data).exists():
        return [fl.datasets.RnaRecord("sequence", data, "")]
    return fl.datasets.read_rna(resolve_path(data))
