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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
