"""Opinions: a case prepared for a method, its cache key, and the judgement as an opinion."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from scoring.judges.case import Case, JudgeOptions, ReferenceDocuments, render_example
from scoring.judges.forms import WrongWords
from scoring.judges.masking import EditedText, find_words, mask_personal_data
from scoring.judges.method import Brief, Judgement, Method, NoOpinion, Rounds
from scoring.judges.methods import METHODS
from scoring.judges.prompts import version_of
from scoring.judges.requests import OpinionRounds, Outcome, Reply
from scoring.judges.texts import PromptPart, clean, hash_of, shorten_documents
from scoring.values.exchange import Evidence, Passage
from scoring.values.opinion import Mistake, Opinion, UnsureReason, Usage
from scoring.values.scored_answer import SCORER_VERSION


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """The brief, and the answer with the way back from what the model sees to what the chatbot wrote."""

    brief: Brief
    answer: EditedText


def prepare_case(case: Case, options: JudgeOptions) -> PreparedCase | UnsureReason:
    """Return the case ready to be shown, or why it cannot be judged."""
    reference = _reference(case)
    if not any(passage.text_with_title.strip() for passage in reference):
        return UnsureReason.NO_REFERENCE
    texts = [case.question, case.answer, *(passage.text_with_title for passage in reference)]
    ready = [clean(text) for text in (*texts, *map(render_example, options.examples))]
    question, answer, *others = mask_personal_data(ready) if options.mask else ready
    if len(question.text) + len(answer.text) > options.max_characters:
        return UnsureReason.TOO_LONG
    # The title is part of the text now.
    pairs = zip(reference, others, strict=False)
    passages = tuple(replace(passage, text=text.text, title=None) for passage, text in pairs)
    kept = passages
    if has_documents := isinstance(case.reference, ReferenceDocuments):
        kept = shorten_documents(passages, f"{question.text}\n{answer.text}", options.max_characters)
        parts = tuple(
            PromptPart(f"document {number}", each.text) for number, each in enumerate(kept, start=1)
        )
    else:
        parts = (PromptPart("expected answer", passages[0].text),)
    examples = "\n".join(each.text for each in others[len(reference) :])
    brief = Brief(
        question=question.text,
        answer=answer.text,
        reference_kind="documents" if has_documents else "expected",
        reference=parts,
        passages=passages,
        options=options,
        examples=(PromptPart("examples", examples),) if examples else (),
        shortened=kept != passages,
    )
    return PreparedCase(brief, answer)


def _reference(case: Case) -> tuple[Passage, ...]:
    if isinstance(case.reference, ReferenceDocuments):
        return case.reference.passages
    return (Passage("", case.reference.text),)


def ask(case: Case, method: str, options: JudgeOptions) -> OpinionRounds:
    """Ask for an opinion on a case: yields rounds of requests, takes their outcomes, returns the opinion.

    Whatever comes back, it ends after a number of rounds that the options bound, without an exception.
    Raises KeyError at once where there is no such method.
    """
    return _opinion_rounds(METHODS[method], case, options)


def prompt_version(method: str) -> str:
    """Return the version of a method's prompts: a hash of their content. Raises KeyError for no method."""
    return version_of(METHODS[method].prompts)


def _opinion_rounds(method: Method, case: Case, options: JudgeOptions) -> OpinionRounds:
    prepared = prepare_case(case, options)
    log = _Log()
    if isinstance(prepared, UnsureReason):
        return _make_opinion(method, options, Judgement(None, unsure=prepared), log, None)
    try:
        judgement = yield from _logged(method.run(prepared.brief), log)
    except NoOpinion as nothing:
        judgement = Judgement(None, unsure=nothing.reason)
    return _make_opinion(method, options, judgement, log, prepared)


@dataclass(slots=True)
class _Log:
    rounds: list[tuple[Outcome, ...]] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for outcomes in self.rounds for outcome in outcomes]

    def usage(self) -> Usage:
        replies = [outcome for outcome in self.outcomes if isinstance(outcome, Reply)]
        return Usage(
            requests=len(self.outcomes),
            tokens_in=sum(reply.tokens_in for reply in replies),
            tokens_out=sum(reply.tokens_out for reply in replies),
            seconds=sum(max(outcome.seconds for outcome in outcomes) for outcomes in self.rounds),
        )

    def models(self) -> tuple[str, ...]:
        named = (each.model for each in self.outcomes if isinstance(each, Reply) and each.model)
        return tuple(dict.fromkeys(named))


def _logged(rounds: Rounds[Judgement], log: _Log) -> Rounds[Judgement]:
    try:
        requests = next(rounds)
        while True:
            outcomes = yield requests
            log.rounds.append(outcomes)
            requests = rounds.send(outcomes)
    except StopIteration as stop:
        judgement: Judgement = stop.value
        return judgement


def _make_opinion(
    method: Method, options: JudgeOptions, judgement: Judgement, log: _Log, prepared: PreparedCase | None
) -> Opinion:
    wrong = _wrong_evidence(judgement.wrong, prepared.answer) if prepared else ()
    kinds = {*judgement.mistakes, *(each.kind for each in judgement.wrong)}
    return Opinion(
        method=method.name,
        models=log.models() or options.judges,
        prompt_version=version_of(method.prompts),
        label=judgement.label,
        confidence=judgement.confidence,
        score=judgement.score,
        consistency=judgement.consistency,
        relevance=judgement.relevance,
        wrong=wrong,
        mistakes=tuple(kind for kind in Mistake if kind in kinds),
        unsure=judgement.unsure,
        shortened=prepared is not None and prepared.brief.shortened,
        usage=log.usage(),
    )


def _wrong_evidence(wrong: Iterable[WrongWords], answer: EditedText) -> tuple[Evidence, ...]:
    """Return the wrong words that occur in the answer, with their offsets."""
    original = answer.original
    found = set()
    for each in wrong:
        if span := find_words(each.words, answer.text):
            start, end = answer.original_span(*span)
            found.add((start, end, each.kind.value))
    return tuple(Evidence(kind, original[start:end], start, end) for start, end, kind in sorted(found))


_BYTES = 20


def opinion_key(case: Case, method: str, options: JudgeOptions, models: Mapping[str, str]) -> str:
    """Return the key of the opinion that a method has on a case.

    ``models`` has the model and endpoint behind each name in ``options.judges``: the same
    name for another model must not find the former's opinions. Of the texts only their hash is in it.
    Raises KeyError for an unknown method, and where a judge is not among the models.
    """
    named = {judge: models[judge] for judge in options.judges}
    parameters = asdict(options) | {
        "examples": [example.model_dump(mode="json") for example in options.examples]
    }
    settings = json.dumps([SCORER_VERSION, method, prompt_version(method), named, parameters], sort_keys=True)
    return hash_of((settings, case.question, case.answer, *_reference_texts(case)), _BYTES)


def _reference_texts(case: Case) -> Iterable[str]:
    if not isinstance(case.reference, ReferenceDocuments):
        return ("expected", case.reference.text)
    documents: Sequence[str] = [
        text
        for passage in case.reference.passages
        for text in (passage.document_id, passage.version or "", passage.text_with_title)
    ]
    return ("documents", *documents)
