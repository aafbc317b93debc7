"""Judges one answer: language, message type, features, score, decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.features import ContextText, Material
from scoring.greeting import content_span
from scoring.language import LanguageDetector, stated_language
from scoring.lexicon import Lexicon, load_shipped
from scoring.message_type import message_type
from scoring.policy import Assessment, Policy
from scoring.profile import profile_named
from scoring.reasons import Reason
from scoring.text import PreparedText, TextCache
from scoring.truthfulness import Score, truthfulness
from scoring.types import Exchange, FeatureValue, Judgement, MessageType, Passage
from scoring.version import SCORER_VERSION

# About 2,000 help documents; what is derived from them takes some ten times as many bytes.
_CACHED_CHARACTERS = 4_000_000
_IDENTIFIED_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class _Measured:
    score: Score
    message_type: MessageType = MessageType.UNSPECIFIED
    features: tuple[FeatureValue, ...] = ()


class Scorer:
    """Judges answers by one profile and one policy.

    Making one reads the lexicons and the language model (about a second); judging is then
    deterministic and keeps nothing but prepared documents. Not safe for use by several threads.
    Raises ValueError for an unknown profile and LexiconError for a lexicon that cannot be read.
    """

    def __init__(self, policy: Policy, profile: str = "paper") -> None:
        """Prepare to judge by ``policy`` and the profile of that name."""
        self._policy = policy
        self._profile = profile_named(profile)
        self._lexicons = load_shipped()
        self._languages = LanguageDetector(self._lexicons.values())
        self._documents = TextCache(_CACHED_CHARACTERS)

    @property
    def languages(self) -> frozenset[str]:
        """The languages that can be judged as they come."""
        return frozenset(self._lexicons)

    def judge(self, exchange: Exchange, degraded: tuple[str, ...] = ()) -> Judgement:
        """Return the judgement of one answer; ``degraded`` says what could not be had for it.

        A stated language is trusted where it is a valid code: the platform knows its customer, and
        phrases of a wrong lexicon are not found, which ends in review. Without context, or in a
        language that has no lexicon, there is no score and the answer goes to review.
        """
        language = stated_language(exchange.language) or self._languages.identify(_text_of(exchange))
        context = tuple(passage for passage in exchange.context if passage.text.strip())
        lexicon = self._lexicons.get(language or "")
        if lexicon is None:
            measured = _Measured(Score(None, Reason.LANGUAGE_UNSUPPORTED))
        else:
            measured = self._measure(exchange, context, lexicon)
        gaps = (*degraded, *self._gaps(context, language))
        return _judgement(self._policy, self._profile.name, language, measured, tuple(dict.fromkeys(gaps)))

    def _gaps(self, context: tuple[Passage, ...], language: str | None) -> Iterator[str]:
        if language not in self._lexicons:
            yield Reason.LANGUAGE_UNSUPPORTED
        if not context:
            yield Reason.CONTEXT_MISSING
        elif any(self._is_in_another(passage, language) for passage in context):
            yield Reason.CONTEXT_LANGUAGE_DIFFERS

    def _is_in_another(self, passage: Passage, language: str | None) -> bool:
        return self._languages.identify(passage.text) not in (None, language)

    def _measure(self, exchange: Exchange, context: tuple[Passage, ...], lexicon: Lexicon) -> _Measured:
        question = _without_courtesies(exchange.question, lexicon)
        kind = message_type(question)
        if kind not in self._profile.message_types:
            return _Measured(Score(None, Reason.MESSAGE_TYPE_NOT_SCORED), kind)
        if not context:
            return _Measured(Score(None, Reason.CONTEXT_MISSING), kind)
        if all(self._is_in_another(passage, lexicon.language) for passage in context):
            return _Measured(Score(None, Reason.CONTEXT_LANGUAGE_DIFFERS), kind)
        documents = tuple(self._document(passage, lexicon) for passage in context)
        material = Material(
            question,
            _without_courtesies(exchange.answer, lexicon),
            documents,
            PreparedText.of(exchange.answer, lexicon),
        )
        values = tuple(feature.measure(material) for feature in self._profile.features)
        score = truthfulness(values, quotation_decides=kind is MessageType.INSTRUCTION)
        return _Measured(score, kind, values)

    def _document(self, passage: Passage, lexicon: Lexicon) -> ContextText:
        # The title defines components too; many publishers keep it out of the text.
        text = f"{passage.title}\n\n{passage.text}" if passage.title else passage.text
        return ContextText(passage.document_id, self._documents.prepare(text, lexicon))


def _judgement(
    policy: Policy, profile: str, language: str | None, measured: _Measured, degraded: tuple[str, ...]
) -> Judgement:
    score = measured.score
    decision, reasons = policy.decide(
        Assessment(score.value, measured.message_type, language, score.because, degraded)
    )
    return Judgement(
        decision=decision,
        reasons=reasons,
        score=score.value,
        profile=profile,
        message_type=measured.message_type,
        language=language,
        translated=False,
        features=measured.features,
        policy_version=policy.identity,
        scorer_version=SCORER_VERSION,
        degraded=tuple(map(str, degraded)),
    )


def _text_of(exchange: Exchange) -> str:
    # Both, since a question is often too short to tell; neither may push the other out of view.
    return f"{exchange.question[:_IDENTIFIED_CHARACTERS]}\n{exchange.answer[:_IDENTIFIED_CHARACTERS]}"


def _without_courtesies(text: str, lexicon: Lexicon) -> PreparedText:
    return PreparedText.of(text, lexicon, *content_span(text, lexicon))
