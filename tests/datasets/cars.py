"""A small table with numbers, text and missing text: as CSV, as a frame, and as the encoded matrix."""

from __future__ import annotations

import pandas as pd
import scipy.sparse as sp

CARS = "hp,fuel,old,class\n90,diesel,true,slow\n120,petrol,false,fast\n75.5,,true,slow\n"
CAR_ROWS = [[90, 0, 1, 0, 1], [120, 0, 0, 1, 0], [75.5, 1, 0, 0, 1]]
CAR_NAMES = ("hp", "fuel=", "fuel=diesel", "fuel=petrol", "old")


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def frame():
    return {"hp": [90, 120, 75.5], "fuel": ["diesel", "petrol", None], "old": [True, False, True], "class": ["slow", "fast", "slow"]}


def categorical():
    return pd.DataFrame(frame()).astype({"fuel": "category"}).set_axis([5, 1, 2])
