"""The commands that write files, their data, and how to see that what they wrote is whole"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import fenchel as fl
from tests.cli.conftest import write_structured_data
from tests.cli.shell import cars

UNPACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
ENDS = {".png": (b"\x89PNG", b"IEND\xaeB`\x82"), ".svg": (b"<?xml", b"</svg>\n")}  # how figures begin and end
OLD = b"the content of the file before\n"


class Command(NamedTuple):
    """The words of a command, the file that it writes, and whether it trains a model, which an interrupt must not lose."""

    words: str
    output: str
    trains: bool = False

    @property
    def name(self) -> str:
        """Words without options."""
        return " ".join(self.words.split()[:2])


TRAINING = "--tol 1e-9 --quiet --model"
COMMANDS = (
    Command(f"train train.csv --solver fista {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"train train.csv --target colour --multiclass one-vs-rest --threads 2 {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"train text.svm --loss hinge --calibration sigmoid {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"train text.svm --penalty l1 --validation 0.2 {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"tag train train.conll --l2 1e-3 {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"rank train train.letor --l2 1e-3 {TRAINING} OUT", "m.fenchel", trains=True),
    Command(f"fold train train.dbn --l2 0.3 {TRAINING} OUT", "m.fenchel", trains=True),
    Command("path train.csv --strengths 8 --cv 3 --model OUT", "m.fenchel"),
    Command("path text.svm --strengths 20 --plot OUT", "path.svg"),
    Command("compare train.svm --solvers sdca,lbfgs --plot OUT", "compare.png"),
    Command("demo --rows 300 --plot OUT", "demo.svg"),
    Command("inverse-time text.svm --accuracy 0.8 --sizes 200,1000 --runs 1 --plot OUT", "inverse.png"),
    Command("evaluate cars.fenchel test.csv --plot OUT", "roc.png"),
    Command("predict cars.fenchel test.csv --probabilities -o OUT", "p.csv"),
    Command("predict cars.fenchel test.csv --scores -o OUT", "p.npz"),
    Command("predict text.fenchel text.svm -o OUT", "p.txt"),
    Command("tag predict chunks.fenchel test.conll -o OUT", "tags.conll"),
    Command("convert train.csv OUT", "numbers.svm"),
    Command("convert text.svm OUT", "numbers.npz"),
    Command("convert text.svm OUT", "numbers.svm.gz"),
    Command("convert train.csv OUT", "numbers.parquet"),
    Command("export text.fenchel OUT --format liblinear", "text.model"),
    Command("export text.fenchel OUT --format vw", "text.vw"),
    Command("datasets make text OUT --rows 200 --features 500", "made.svm.xz"),
    Command("datasets make wide OUT --rows 100 --features 500", "made.csv"),
    Command("datasets make rna OUT --rows 300", "made.dbn"),
)


def write_data(folder: Path, commands: Sequence[Command]) -> None:
    """The data and the models that the commands read."""
    cars(folder / "train.csv", 200, 0)
    cars(folder / "test.csv", 2000, 1)
    fl.datasets.write_svmlight(folder / "train.svm", *fl.datasets.make_text(300, n=100, nonzeros=10, seed=0))
    fl.datasets.write_svmlight(folder / "text.svm", *fl.datasets.make_text(1500, n=300, nonzeros=15, contrast=0.8, seed=1))
    write_structured_data(folder, "train", 30)
    write_structured_data(folder, "test", 10)
    table = fl.datasets.read(folder / "train.csv")
    model = fl.LinearClassifier().fit(table.X, table.y)
    model.encoding_ = table.encoding
    fl.save(model, folder / "cars.fenchel")
    fl.save(fl.LinearClassifier().fit(*fl.datasets.read(folder / "text.svm")), folder / "text.fenchel")
    if any("chunks.fenchel" in command.words for command in commands):  # its kernels take long to compile
        words, marks = fl.datasets.read_conll(folder / "train.conll")
        fl.save(fl.Tagger(l2=1e-2).fit(words, marks), folder / "chunks.fenchel")


def fault_of(file: Path, reference: bytes) -> str | None:
    """What is wrong with a file that a command has written; None if it is whole."""
    content = file.read_bytes()
    if file.suffix == ".fenchel":
        try:
            fl.load(file)
        except (fl.InputError, OSError) as error:
            return f"the model does not load: {error}"
        return None
    if file.suffix in ENDS:  # figures contain times, and after an interrupt what is finished
        first, last = ENDS[file.suffix]
        return None if content.startswith(first) and content.endswith(last) else "the figure is not whole"
    unpack = UNPACKED.get(file.suffix, bytes)
    try:
        return None if unpack(content) == unpack(reference) else "the content is not that of an undisturbed run"
    except (OSError, EOFError, lzma.LZMAError) as error:
        return f"the content cannot be unpacked: {error}"
