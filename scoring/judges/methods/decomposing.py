"""Methods that check an answer part by part: FActScore, faithfulness, relevance, QuestEval.

The paper compares embeddings; here a model does, so that a method needs nothing but requests. Relevance
says nothing about truth: a relevant answer has no label by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from scoring.judges.forms import (
    GeneratedQuestionsReply,
    LikenessesReply,
    PairsReply,
    QuizAnswer,
    QuizAnswersReply,
    QuizQuestion,
    QuizReply,
    ReplyPair,
    StatementsReply,
    SupportReply,
    SupportsReply,
    WrongWords,
)
from scoring.judges.method import (
    FALSE_TO,
    Brief,
    Judgement,
    Method,
    NoOpinion,
    Rounds,
    TypedRequest,
    check_numbers,
    jsonl_part,
    numbered_part,
    require_replies,
    require_reply,
    score_from_share,
)
from scoring.judges.prompts import Prompt
from scoring.judges.texts import PromptPart, best_passages
from scoring.values.opinion import Label, Mistake, UnsureReason

Q = TypeVar("Q", GeneratedQuestionsReply, QuizReply)


def judge_by_support(reply: StatementsReply, supports: Sequence[SupportReply]) -> Judgement:
    """Return the judgement; there is one support for each statement, in their order.

    An answer without statements is NOT_GIVEN, since it claims nothing. One statement that is not supported
    makes the answer FALSE, as sure as the surest of these; TRUE is as sure as the least sure statement,
    and no surer than that none was left out.
    """
    if not supports:
        return Judgement(Label.NOT_GIVEN, reply.confidence)
    share = sum(each.supported for each in supports) / len(supports)
    unsupported = [each.confidence for each in supports if not each.supported]
    if not unsupported:
        sure = min(reply.confidence, *(each.confidence for each in supports))
        return Judgement(Label.TRUE, sure, score_from_share(share), consistency=share)
    return Judgement(
        Label.FALSE,
        max(unsupported),
        min(score_from_share(share), FALSE_TO),
        tuple(
            WrongWords(words=statement.words, kind=each.kind or Mistake.HALLUCINATION)
            for statement, each in zip(reply.statements, supports, strict=True)
            if not each.supported
        ),
        consistency=share,
    )


_BREAK_DOWN = Prompt("facts", StatementsReply, needs_reference=False)
_CHECK = Prompt("fact", SupportReply, needs_reference=False)


def _factscore_run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from require_reply(brief.typed_request(_BREAK_DOWN, brief.question_and_answer))
    facts = taken.form.statements
    if len(facts) > brief.options.statements:
        raise NoOpinion(UnsureReason.TOO_LONG)
    if not facts:
        return judge_by_support(taken.form, ())
    said = yield from require_replies([_fact_request(brief, fact.statement) for fact in facts])
    return judge_by_support(taken.form, [each.form for each in said])


def _fact_request(brief: Brief, fact: str) -> TypedRequest[SupportReply]:
    options = brief.options
    near = best_passages(brief.passages, fact, options.passages, options.max_characters)
    passages = (PromptPart(f"passage {number}", text) for number, text in enumerate(near, start=1))
    return brief.typed_request(_CHECK, (*passages, PromptPart("fact", fact)))


FACTSCORE = Method(
    "factscore",
    _factscore_run,
    prompts=(_BREAK_DOWN, _CHECK),
    max_requests=lambda options: 1 + options.statements,
)

_TAKE_APART = Prompt("statements", StatementsReply, needs_reference=False)
_SUPPORT = Prompt("supported", SupportsReply)


def _faithfulness_run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from require_reply(brief.typed_request(_TAKE_APART, brief.question_and_answer))
    statements = taken.form.statements
    if len(statements) > brief.options.statements:
        raise NoOpinion(UnsureReason.TOO_LONG)
    if not statements:
        return judge_by_support(taken.form, ())

    listed = numbered_part("statements", (each.statement for each in statements))
    said = yield from require_reply(
        brief.typed_request(
            _SUPPORT,
            (*brief.reference, brief.question_and_answer[0], listed),
            check=lambda reply: check_numbers(reply.statements, len(statements)),
        )
    )
    in_order = sorted(said.form.statements, key=lambda each: each.number)
    return judge_by_support(taken.form, in_order)


FAITHFULNESS = Method(
    "faithfulness", _faithfulness_run, prompts=(_TAKE_APART, _SUPPORT), max_requests=lambda _: 2
)

_ASK_BACK = Prompt("asked", GeneratedQuestionsReply, needs_reference=False)
_COMPARE = Prompt("alike", LikenessesReply, needs_reference=False)


def _questions_request(brief: Brief, prompt: Prompt[Q], parts: Sequence[PromptPart]) -> TypedRequest[Q]:
    most = brief.options.questions

    def check(reply: Q) -> str | None:
        return f"it has more than {most} questions" if len(reply.questions) > most else None

    return brief.typed_request(prompt, parts, check=check, values={"questions": most})


# Of the mean likeness: at 0.5 the questions generated ask for half of what was asked.
_RELEVANT_FROM = 0.5


def _relevance_run(brief: Brief) -> Rounds[Judgement]:
    answer = (PromptPart("answer", brief.answer),)
    asked = yield from require_reply(_questions_request(brief, _ASK_BACK, answer))
    questions = asked.form.questions
    parts = (PromptPart("question", brief.question), numbered_part("questions", questions))
    said = yield from require_reply(
        brief.typed_request(
            _COMPARE, parts, check=lambda reply: check_numbers(reply.questions, len(questions))
        )
    )
    # An answer that commits itself to nothing answers no question, whatever can be asked about it.
    value = 0.0 if asked.form.noncommittal else fmean(each.alike for each in said.form.questions)
    if value >= _RELEVANT_FROM:
        return Judgement(None, relevance=value, unsure=UnsureReason.TRUTH_NOT_JUDGED)
    return Judgement(Label.NOT_GIVEN, said.form.confidence * (1 - value), relevance=value)


RELEVANCE = Method("relevance", _relevance_run, prompts=(_ASK_BACK, _COMPARE), max_requests=lambda _: 2)

_FROM_ANSWER = Prompt("quiz_answer", QuizReply, needs_reference=False)
_FROM_REFERENCE = Prompt("quiz_reference", QuizReply)
_REPLY = Prompt("reply", QuizAnswersReply, needs_reference=False)
_SAME = Prompt("same", PairsReply, needs_reference=False)


@dataclass(frozen=True, slots=True)
class _QuizResult:
    """A question, what the other text replied, and whether that is the same: None where it did not reply."""

    question: QuizQuestion
    answer: QuizAnswer
    pair: ReplyPair | None = None

    @property
    def is_same(self) -> bool:
        return self.pair is not None and self.pair.same

    @property
    def confidence(self) -> float:
        return self.pair.confidence if self.pair else self.answer.confidence

    @property
    def wrong(self) -> WrongWords:
        kind = Mistake.CONTRADICTION if self.pair else Mistake.HALLUCINATION
        return WrongWords(words=self.question.words, kind=kind)


def _questeval_run(brief: Brief) -> Rounds[Judgement]:
    question, answer = brief.question_and_answer
    sources = ((_FROM_ANSWER, (answer,)), (_FROM_REFERENCE, (*brief.reference, question)))
    quizzes = yield from require_replies([_questions_request(brief, *source) for source in sources])
    answers, references = (each.form for each in quizzes)
    if not answers.questions:
        return Judgement(Label.NOT_GIVEN, answers.confidence)
    checked = yield from _check_quizzes(brief, answers.questions, references.questions)
    count = len(answers.questions)
    return _quiz_judgement(answers, checked[:count], checked[count:])


def _check_quizzes(
    brief: Brief, of_answer: Sequence[QuizQuestion], of_reference: Sequence[QuizQuestion]
) -> Rounds[tuple[_QuizResult, ...]]:
    asks = [_answers_request(brief, brief.reference, of_answer)]
    if of_reference:
        asks.append(_answers_request(brief, brief.question_and_answer[1:], of_reference))
    said = yield from require_replies(asks)
    replies = [reply for each in said for reply in sorted(each.form.replies, key=lambda reply: reply.number)]
    quizzed = zip((*of_answer, *of_reference), replies, strict=True)
    return (yield from _compare(brief, [_QuizResult(*pair) for pair in quizzed]))


def _answers_request(
    brief: Brief, source: Sequence[PromptPart], questions: Sequence[QuizQuestion]
) -> TypedRequest[QuizAnswersReply]:
    listed = numbered_part("questions", (each.question for each in questions))
    return brief.typed_request(
        _REPLY, (*source, listed), check=lambda reply: check_numbers(reply.replies, len(questions))
    )


def _compare(brief: Brief, checked: Sequence[_QuizResult]) -> Rounds[tuple[_QuizResult, ...]]:
    open_ = [each for each in checked if each.answer.answerable]
    if not open_:
        return tuple(checked)

    said = yield from require_reply(
        brief.typed_request(
            _SAME, (_pairs_part(open_),), check=lambda reply: check_numbers(reply.pairs, len(open_))
        )
    )
    pairs = iter(sorted(said.form.pairs, key=lambda pair: pair.number))
    return tuple(
        _QuizResult(each.question, each.answer, next(pairs)) if each.answer.answerable else each
        for each in checked
    )


def _pairs_part(checked: Sequence[_QuizResult]) -> PromptPart:
    return jsonl_part(
        "pairs",
        (
            {
                "number": number,
                "question": each.question.question,
                "one": each.question.reply,
                "other": each.answer.reply,
            }
            for number, each in enumerate(checked, start=1)
        ),
    )


def _quiz_judgement(
    answers: QuizReply, of_answer: Sequence[_QuizResult], of_reference: Sequence[_QuizResult]
) -> Judgement:
    """Precision, over the answer's questions, measures truth; weighted recall, completeness."""
    precision = sum(each.is_same for each in of_answer) / len(of_answer)
    total = sum(each.question.weight for each in of_reference)
    found = sum(each.question.weight for each in of_reference if each.is_same)
    recall = found / total if total else None
    failed = [each for each in of_answer if not each.is_same]
    if not failed:
        sure = min(answers.confidence, *(each.confidence for each in of_answer))
        return Judgement(
            Label.TRUE, sure, score_from_share(precision), consistency=precision, relevance=recall
        )
    return Judgement(
        Label.FALSE,
        max(each.confidence for each in failed),
        min(score_from_share(precision), FALSE_TO),
        tuple(each.wrong for each in failed),
        consistency=precision,
        relevance=recall,
    )


QUESTEVAL = Method(
    "questeval",
    _questeval_run,
    prompts=(_FROM_ANSWER, _FROM_REFERENCE, _REPLY, _SAME),
    max_requests=lambda _: 5,
)
