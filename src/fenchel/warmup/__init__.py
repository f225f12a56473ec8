"""Typical calls: ``fenchel warmup`` makes them so that later ones need not compile, and wheels contain the kernels that they use.

typical_calls   the calls, each with its name
compilation     the kernels that calls use, and their machine code for any level of processors
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
