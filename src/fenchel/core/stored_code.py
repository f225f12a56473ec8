"""Machine code as bytes with a checksum, found by its key."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from numba.core.serialize import dumps

CHECKSUM_BYTES = 32  # of SHA-256


def packed(key: Any, data: Any) -> bytes:
    """Machine code and its key as they are stored: a checksum, then both, pickled."""
    content = dumps((key, data))
    return hashlib.sha256(content).digest() + content


def unpacked(stored: bytes, key: Any) -> Any:
    """The machine code of a key, or None if what is stored is damaged or belongs to another key."""
    checksum, content = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
    if hashlib.sha256(content).digest() != checksum:
        return None
    found, data = pickle.loads(content)
    return data if found == key else None


def entry_name(kernel: str, key: Any) -> str:
    """The name under which the machine code of a kernel and a key is stored."""
    return f"{kernel}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}"
