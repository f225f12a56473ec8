"""Convex regularized learning at scale, with a certificate on every answer."""

from __future__ import annotations

import lazy_loader

from fenchel.core.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
