"""What the spans of an answer carry: codes and counts, and never a text unless it is asked for.

Names are those of OpenTelemetry's semantic conventions for generative AI, else ``truthgate.``.
"""

import json
from collections.abc import Mapping
from typing import Final

from opentelemetry.util.types import AttributeValue

from schemas.records import Verdict
from scoring.values.assessment import Assessment
from streams.llm.cascade import Advice
from streams.observability.attributes import Attributes, identifier
from streams.pipeline.context import ResolvedContext
from streams.search.types import Retrieved
from streams.translating.step import Translated

#: So that a batch of spans stays below what collectors take in one message, 4 MiB.
_TEXT_CHARACTERS: Final = 8192


def enriched(context: ResolvedContext) -> Attributes:
    """Describe what an answer is judged against."""
    return {
        "truthgate.context.source": context.source.value,
        "truthgate.context.passages": len(context.passages),
        "truthgate.context.missing": len(context.missing),
        "truthgate.degraded": tuple(map(str, context.degraded)),
    }


def found(retrieved: Retrieved) -> Attributes:
    """Describe what a search has found."""
    described: Attributes = {
        "truthgate.search.passages": len(retrieved.hits),
        "truthgate.search.sufficient": retrieved.sufficient,
        "truthgate.search.behind": retrieved.behind,
    }
    if retrieved.relevance is not None:
        described["truthgate.search.relevance"] = float(retrieved.relevance)
    return described


def translated(outcome: Translated) -> Attributes:
    """Say whether an exchange was translated, and what it lacks if it was to be and could not."""
    return {
        "truthgate.translated": outcome.exchange.translation is not None,
        "truthgate.degraded": tuple(map(str, outcome.degraded)),
    }


def scored(assessment: Assessment) -> Attributes:
    """Describe an assessment, and where its documents were found parsed, if anywhere."""
    described: dict[str, AttributeValue | None] = {
        "truthgate.message_type": assessment.message_type.value,
        "truthgate.documents.in_memory": assessment.documents.hits,
        "truthgate.documents.on_disk": assessment.documents.disk_hits,
        "truthgate.documents.parsed": assessment.documents.misses,
        "truthgate.score": assessment.score,
    }
    return _known(described)


def advised(advice: Advice) -> Attributes:
    """Describe what judges said."""
    return {
        "truthgate.opinions": len(advice.asked),
        "truthgate.opinions.say": tuple(
            str(each.opinion.label or each.opinion.unsure) for each in advice.asked
        ),
        "truthgate.judge.degraded": advice.degraded,
    }


def judged(verdict: Verdict) -> Attributes:
    """Describe a verdict."""
    described: dict[str, AttributeValue | None] = {
        "messaging.message.conversation_id": identifier(verdict.conversation_id),
        "truthgate.answer.id": identifier(verdict.answer_id),
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
    return _known(described)


def evaluated(verdict: Verdict) -> Attributes:
    """Describe a verdict as the event ``gen_ai.evaluation.result`` has it; the explanation is codes."""
    response_id = verdict.metadata.get("gen_ai.response.id")
    described: dict[str, AttributeValue | None] = {
        "gen_ai.evaluation.name": "truthfulness",
        "gen_ai.evaluation.score.label": verdict.decision,
        "gen_ai.evaluation.explanation": ", ".join(verdict.reasons),
        "truthgate.answer.id": identifier(verdict.answer_id),
        "gen_ai.evaluation.score.value": verdict.score,
        "gen_ai.response.id": identifier(response_id) if response_id else None,
    }
    return _known(described)


def texts(verdict: Verdict) -> Attributes:
    """Give question and answer, in the JSON that the conventions have for messages."""
    return {
        "gen_ai.input.messages": _message("user", verdict.question),
        "gen_ai.output.messages": _message("assistant", verdict.answer, finish_reason="stop"),
    }


def _known(described: Mapping[str, AttributeValue | None]) -> Attributes:
    return {name: value for name, value in described.items() if value is not None}


def _message(role: str, text: str, **more: str) -> str:
    part = {"type": "text", "content": text[:_TEXT_CHARACTERS]}
    message = json.dumps([{"role": role, "parts": [part], **more}], ensure_ascii=False)
    return message.encode("utf-8", "backslashreplace").decode()
