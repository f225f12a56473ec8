"""The types of arrays and seeds that users pass to fenchel."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

MatrixLike: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix  #: an array, a sparse matrix or a data frame
RandomState: TypeAlias = int | np.random.RandomState | None  #: scikit-learn's ``random_state``
