"""The warning that an answer is not certified: in a module of its own, for scikit-learn takes longer to import than all of fenchel."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from fenchel.core.errors import MessageWithArguments


class NotCertifiedWarning(MessageWithArguments, ConvergenceWarning):
    """A run ended before its gap was within the tolerance."""
