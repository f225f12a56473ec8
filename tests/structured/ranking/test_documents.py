"""Documents of queries: which rows belong together."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.structured.ranking import Documents


@pytest.mark.parametrize("start", [[0, 10**7], [1, 2], [0, 2, 1, 2], []])
def test_blocks_of_documents_are_blocks_of_rows(start):
    with pytest.raises(ValueError, match="rise from 0"):
        Documents(np.eye(2), np.array(start, dtype=np.int64))
