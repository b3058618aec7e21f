"""The annotation of an ElasticQuota that weighs it (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

import json
from typing import Any

from framework.objects.catalogue import QUOTA_WEIGHT, ElasticQuota
from framework.objects.quantity import QuantityError
from framework.objects.resources import Resources, resource_value
from framework.sentences import Sentence, sentence


class WeightUnreadable(ValueError):
    """``words`` says what is wrong with the annotation."""

    def __init__(self, words: Sentence) -> None:
        super().__init__(str(words))
        self.words = words


def shared_weight(quota: ElasticQuota) -> Resources:
    """Resource → weight; nothing where there is no annotation. Raises WeightUnreadable."""
    text = quota.metadata.annotations.get(QUOTA_WEIGHT, "")
    if not text:
        return {}
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise WeightUnreadable(sentence("is no JSON")) from None
    if not isinstance(given, dict):
        raise WeightUnreadable(sentence("must be amounts by resource, such as {example}", example='{"cpu": 40}'))
    weights: Resources = {}
    for name, amount in given.items():
        try:
            weights[name] = resource_value(name, amount)
        except (QuantityError, TypeError):
            raise WeightUnreadable(
                sentence(
                    "gives {resource} the weight {amount}, which is no amount", resource=name, amount=_short(amount)
                )
            ) from None
    return weights


def _short(amount: object) -> str:
    text = json.dumps(amount, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def weight_warning(quota: ElasticQuota) -> Sentence | None:
    """What whoever brings the quota should know; None where its weight can be read and means something."""
    name = f"{quota.metadata.namespace}/{quota.metadata.name}"
    try:
        weights = shared_weight(quota)
    except WeightUnreadable as error:
        return sentence(
            "ElasticQuota {name}: the annotation {annotation} {problem}. It is passed over: max is its weight.",
            name=name,
            annotation=QUOTA_WEIGHT,
            problem=error.words,
        )
    negative = next((resource for resource, weight in weights.items() if weight < 0), None)
    if negative is None:
        return None
    return sentence(
        "ElasticQuota {name}: the annotation {annotation} gives {resource} a negative weight, which is as good as 0.",
        name=name,
        annotation=QUOTA_WEIGHT,
        resource=negative,
    )
