"""Data sets: named ones, files, tables in memory, and generators.

Named data sets are found in ``$FENCHEL_DATA`` or downloaded; ``available`` lists them:

>>> import fenchel as fl
>>> [known.name for known in fl.datasets.available() if known.task == "regression"]
['abalone', 'cadata', 'bodyfat']

``X, y = fl.datasets.load("a9a")`` loads rows and labels; ``fl.datasets.path("s151rfam")`` is the path of a data set's file.
The ending of a file determines its format: ``fl.datasets.read("cars.csv", target="price")``, ``fl.datasets.write("cars.npz", data)``.
An ``Encoding`` turns a data frame into a matrix, and later data frames into matrices with the same columns:

>>> import pyarrow as pa
>>> table = pa.table({"size": [1.0, 2.0], "colour": ["red", "blue"], "label": ["a", "b"]})
>>> fl.datasets.Encoding.fit(table).transform(table)
Data('': 2 rows x 3 features, dense float64; labels a, b)

Generators return data with known solutions:

>>> X, y, w = fl.datasets.make_gaussians(1000, n=10)
>>> X, y, w = fl.datasets.make_wide(100, n=1000, informative=10)
>>> X, y, qid = fl.datasets.make_ranking(queries=10)
"""

from __future__ import annotations

from fenchel.datasets.conll import read_conll, write_conll
from fenchel.datasets.data import Data
from fenchel.datasets.formats import read, write
from fenchel.datasets.generators import make_gaussians, make_text, make_wide, with_noise_features
from fenchel.datasets.rna_files import RnaRecord, read_bpseq, read_dbn, read_rna, write_dbn
from fenchel.datasets.store.fetch import ChecksumError
from fenchel.datasets.store.lookup import Listing, available, load, path
from fenchel.datasets.structured_generators import make_ranking, make_rna, make_sequences
from fenchel.datasets.svmlight.reader import read_svmlight
from fenchel.datasets.svmlight.writer import write_svmlight
from fenchel.datasets.tables.column import Column
from fenchel.datasets.tables.encoding import Encoding

__all__ = [
    "ChecksumError",
    "Column",
    "Data",
    "Encoding",
    "Listing",
    "RnaRecord",
    "available",
    "load",
    "make_gaussians",
    "make_ranking",
    "make_rna",
    "make_sequences",
    "make_text",
    "make_wide",
    "path",
    "read",
    "read_bpseq",
    "read_conll",
    "read_dbn",
    "read_rna",
    "read_svmlight",
    "with_noise_features",
    "write",
    "write_conll",
    "write_dbn",
    "write_svmlight",
]


def __dir__() -> list[str]:
    return sorted(__all__)
