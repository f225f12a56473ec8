"""What ``fit`` and ``score`` are given beside X and y, handed on to splitters and scorers by scikit-learn's rules

Without ``sklearn.set_config(enable_metadata_routing=True)`` only sample weights go to the scorer; with it, ``groups`` go to a splitter
that asks for them.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _raise_for_params as refuse_unrouted
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled


class Routing:
    """For estimators with a ``cv`` of their own and, if ``scored`` names methods, a scorer."""

    scored: tuple[str, ...] = ()
    scored_by = ""  #: the scorer where ``scoring`` names none

    cv: Any
    scoring: Any

    def _get_scorer(self) -> Any:
        """The scorer; the one of no name takes sample weights without being told to."""
        scorer = get_scorer(self.scored_by if self.scoring is None else self.scoring)
        return scorer.set_score_request(sample_weight=True) if self.scoring is None and routing_enabled() else scorer

    def _handed_on(self, method: str, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keyword arguments of ``split``, and of the scorer."""
        refuse_unrouted(params, self, method)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not routing_enabled():
            return {}, given
        routed = process_routing(self, method, **given, **params)
        return routed.splitter.split if method == "fit" else {}, routed.scorer.score if self.scored else {}

    def get_metadata_routing(self) -> Any:
        """Who takes which of the keyword arguments of ``fit`` and ``score``, for scikit-learn's metadata routing."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scored:
            mapping = MethodMapping()
            for method in self.scored:
                mapping.add(caller=method, callee="score")
            router.add(scorer=self._get_scorer(), method_mapping=mapping)
        return router
