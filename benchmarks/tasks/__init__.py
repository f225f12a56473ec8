"""Tasks with published figures, each a file with a ``run`` that prints ours beside them."""
