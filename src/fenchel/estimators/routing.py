"""Metadata routing: passing extra arguments of ``fit`` and ``score`` to splitters and scorers by scikit-learn's rules

Without ``sklearn.set_config(enable_metadata_routing=True)`` only sample weights are passed, to the scorer; with it, for
example, ``groups`` are passed to a splitter that requests them.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params as refuse_unrouted,
    _routing_enabled as routing_enabled,
    process_routing,
)


class Routing:
    """A mixin for estimators with a parameter ``cv`` and, if ``scored_methods`` is not empty, a parameter ``scoring``."""

    scored_methods: tuple[str, ...] = ()  #: the methods that call the scorer
    default_scorer = ""  #: the name of the scorer for ``scoring=None``

    cv: Any
    scoring: Any

    def _get_scorer(self) -> Any:
        """The scorer; the default one requests sample weights by itself."""
        scorer = get_scorer(self.default_scorer if self.scoring is None else self.scoring)
        return scorer.set_score_request(sample_weight=True) if self.scoring is None and routing_enabled() else scorer

    def _routed(self, method: str, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The keyword arguments for the splitter's ``split`` and for the scorer."""
        refuse_unrouted(params, self, method)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not routing_enabled():
            return {}, given
        routed = process_routing(self, method, **given, **params)
        return routed.splitter.split if method == "fit" else {}, routed.scorer.score if self.scored_methods else {}

    def get_metadata_routing(self) -> Any:
        """Which keyword arguments of ``fit`` and ``score`` go to the splitter and to the scorer."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scored_methods:
            mapping = MethodMapping()
            for method in self.scored_methods:
                mapping.add(caller=method, callee="score")
            router.add(scorer=self._get_scorer(), method_mapping=mapping)
        return router
