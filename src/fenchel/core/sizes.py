"""Numbers of bytes as people write them"""

from __future__ import annotations

import re

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
BYTES = re.compile(r"([0-9]{1,18})\s*([kmgt]?)i?b?", re.IGNORECASE)


def bytes_of(size: int | str) -> int | None:
    """A number of bytes from a whole number or a text; None if it is neither.

    >>> bytes_of("500MB"), bytes_of("2 GiB"), bytes_of(1000), bytes_of("much")
    (524288000, 2147483648, 1000, None)
    """
    if isinstance(size, int) and not isinstance(size, bool):
        return size
    found = BYTES.fullmatch(size.strip()) if isinstance(size, str) else None
    return None if found is None else int(found[1]) * UNITS[found[2].lower()]
