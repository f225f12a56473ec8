"""The loop that runs any solver on any problem and certifies the result: the choice of the solver, the run, progress and advice"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
