"""Attributes of an answer's spans: codes and counts, and texts only if the settings allow them.

Names are those of OpenTelemetry's semantic conventions for generative AI, else ``truthgate.``.
"""

import json
from collections.abc import Mapping
from typing import Final

from opentelemetry.util.types import AttributeValue

from schemas.records import Verdict
from scoring.values.scored_answer import ScoredAnswer
from streams.llm.cascade import JudgeOpinions
from streams.observability.span_attributes import Attributes, exportable_identifier
from streams.pipeline.context import ResolvedContext
from streams.search.types import RetrievalResult
from streams.translating.translation_stage import TranslationResult

#: So that a batch of spans stays below what collectors take in one message, 4 MiB.
_TEXT_CHARACTERS: Final = 8192


def context_attributes(context: ResolvedContext) -> Attributes:
    """Describe what an answer is judged against."""
    return {
        "truthgate.context.source": context.source.value,
        "truthgate.context.passages": len(context.passages),
        "truthgate.context.missing": len(context.missing_ids),
        "truthgate.degraded": tuple(map(str, context.degraded)),
    }


def search_attributes(retrieved: RetrievalResult) -> Attributes:
    """Return the attributes of search results."""
    attributes: Attributes = {
        "truthgate.search.passages": len(retrieved.hits),
        "truthgate.search.sufficient": retrieved.is_sufficient,
        "truthgate.search.behind": retrieved.is_outdated,
    }
    if retrieved.relevance is not None:
        attributes["truthgate.search.relevance"] = float(retrieved.relevance)
    return attributes


def translation_attributes(outcome: TranslationResult) -> Attributes:
    """Return the attributes of a translation: whether there is one, and the degraded codes."""
    return {
        "truthgate.translated": outcome.exchange.translation is not None,
        "truthgate.degraded": tuple(map(str, outcome.degraded)),
    }


def score_attributes(scored_answer: ScoredAnswer) -> Attributes:
    """Return the attributes of a scored answer, and in which caches the parses of its documents were."""
    attributes: dict[str, AttributeValue | None] = {
        "truthgate.message_type": scored_answer.message_type.value,
        "truthgate.documents.in_memory": scored_answer.cache_use.hits,
        "truthgate.documents.on_disk": scored_answer.cache_use.disk_hits,
        "truthgate.documents.parsed": scored_answer.cache_use.misses,
        "truthgate.score": scored_answer.score,
    }
    return _without_none(attributes)


def opinion_attributes(opinions: JudgeOpinions) -> Attributes:
    """Return the attributes of the judges' opinions."""
    return {
        "truthgate.opinions": len(opinions.priced_opinions),
        "truthgate.opinions.say": tuple(
            str(each.opinion.label or each.opinion.unsure) for each in opinions.priced_opinions
        ),
        "truthgate.judge.degraded": opinions.degraded,
    }


def verdict_attributes(verdict: Verdict) -> Attributes:
    """Return the attributes of a verdict."""
    attributes: dict[str, AttributeValue | None] = {
        "messaging.message.conversation_id": exportable_identifier(verdict.conversation_id),
        "truthgate.answer.id": exportable_identifier(verdict.answer_id),
        "truthgate.verdict.id": verdict.verdict_id,
        "truthgate.decision": verdict.decision,
        "truthgate.reasons": verdict.reasons,
        "truthgate.message_type": verdict.message_type,
        "truthgate.degraded": verdict.degraded,
        "truthgate.context.source": verdict.context_source,
        "truthgate.context.passages": len(verdict.context),
        "truthgate.translated": verdict.translated,
        "truthgate.profile": verdict.profile,
        "truthgate.score": verdict.score,
        "truthgate.language": verdict.language,
    }
    return _without_none(attributes)


def evaluation_attributes(verdict: Verdict) -> Attributes:
    """Return a verdict as attributes of the event ``gen_ai.evaluation.result``; codes are its explanation."""
    response_id = verdict.metadata.get("gen_ai.response.id")
    attributes: dict[str, AttributeValue | None] = {
        "gen_ai.evaluation.name": "truthfulness",
        "gen_ai.evaluation.score.label": verdict.decision,
        "gen_ai.evaluation.explanation": ", ".join(verdict.reasons),
        "truthgate.answer.id": exportable_identifier(verdict.answer_id),
        "gen_ai.evaluation.score.value": verdict.score,
        "gen_ai.response.id": exportable_identifier(response_id) if response_id else None,
    }
    return _without_none(attributes)


def message_attributes(verdict: Verdict) -> Attributes:
    """Return question and answer in the conventions' JSON for messages."""
    return {
        "gen_ai.input.messages": _message("user", verdict.question),
        "gen_ai.output.messages": _message("assistant", verdict.answer, finish_reason="stop"),
    }


def _without_none(attributes: Mapping[str, AttributeValue | None]) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def _message(role: str, text: str, **more: str) -> str:
    part = {"type": "text", "content": text[:_TEXT_CHARACTERS]}
    message = json.dumps([{"role": role, "parts": [part], **more}], ensure_ascii=False)
    return message.encode("utf-8", "backslashreplace").decode()
