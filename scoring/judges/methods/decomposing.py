"""Methods that check an answer part by part: FActScore, faithfulness, relevance, QuestEval.

The paper compares embeddings; here a model does, so that a method needs nothing but requests. Relevance
says nothing about truth: a relevant answer has no label by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scoring.judges.forms import (
    Answered,
    Asked,
    Likenesses,
    Pair,
    Pairs,
    Quiz,
    Quizzed,
    Replies,
    Statements,
    Support,
    Supports,
    Wrong,
)
from scoring.judges.method import (
    FALSE_TO,
    Ask,
    Brief,
    Judgement,
    Method,
    NoOpinion,
    Rounds,
    ask_each,
    ask_one,
    check_numbers,
    lines,
    numbered,
    scaled,
)
from scoring.judges.prompts import Prompt
from scoring.judges.texts import Part, best_passages
from scoring.values.opinion import Label, Mistake, Unsure


def supported(taken: Statements, supports: Sequence[Support]) -> Judgement:
    """Return the judgement; there is one support for each statement, in their order.

    An answer without statements is NOT_GIVEN, since it claims nothing. One statement that is not supported
    makes the answer FALSE, as sure as the surest of these; TRUE is as sure as the least sure statement,
    and no surer than that none was left out.
    """
    if not supports:
        return Judgement(Label.NOT_GIVEN, taken.confidence)
    share = sum(each.supported for each in supports) / len(supports)
    unsupported = [each.confidence for each in supports if not each.supported]
    if not unsupported:
        sure = min(taken.confidence, *(each.confidence for each in supports))
        return Judgement(Label.TRUE, sure, scaled(share), consistency=share)
    return Judgement(
        Label.FALSE,
        max(unsupported),
        min(scaled(share), FALSE_TO),
        tuple(
            Wrong(words=statement.words, kind=each.kind or Mistake.HALLUCINATION)
            for statement, each in zip(taken.statements, supports, strict=True)
            if not each.supported
        ),
        consistency=share,
    )


_BREAK_DOWN = Prompt("facts", Statements, compares=False)
_CHECK = Prompt("fact", Support, compares=False)


def _run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from ask_one(brief.ask(_BREAK_DOWN, brief.asked))
    facts = taken.form.statements
    if len(facts) > brief.options.statements:
        raise NoOpinion(Unsure.TOO_LONG)
    if not facts:
        return supported(taken.form, ())
    said = yield from ask_each([_ask(brief, fact.statement) for fact in facts])
    return supported(taken.form, [each.form for each in said])


def _ask(brief: Brief, fact: str) -> Ask[Support]:
    options = brief.options
    near = best_passages(brief.passages, fact, options.passages, options.longest)
    passages = (Part(f"passage {number}", text) for number, text in enumerate(near, start=1))
    return brief.ask(_CHECK, (*passages, Part("fact", fact)))


FACTSCORE = Method(
    "factscore", _run, prompts=(_BREAK_DOWN, _CHECK), requests=lambda options: 1 + options.statements
)

_TAKE_APART = Prompt("statements", Statements, compares=False)
_SUPPORT = Prompt("supported", Supports)


def _faithfulness_run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from ask_one(brief.ask(_TAKE_APART, brief.asked))
    statements = taken.form.statements
    if len(statements) > brief.options.statements:
        raise NoOpinion(Unsure.TOO_LONG)
    if not statements:
        return supported(taken.form, ())

    def check(supports: Supports) -> str | None:
        return check_numbers((each.number for each in supports.statements), len(statements))

    listed = numbered("statements", (each.statement for each in statements))
    said = yield from ask_one(brief.ask(_SUPPORT, (*brief.reference, brief.asked[0], listed), check=check))
    in_order = sorted(said.form.statements, key=lambda each: each.number)
    return supported(taken.form, in_order)


FAITHFULNESS = Method(
    "faithfulness", _faithfulness_run, prompts=(_TAKE_APART, _SUPPORT), requests=lambda _: 2
)

_ASK_BACK = Prompt("asked", Asked, compares=False)
_COMPARE = Prompt("alike", Likenesses, compares=False)
# Of the mean likeness: at 0.5 the questions generated ask for half of what was asked.
_RELEVANT_FROM = 0.5


def _relevance_run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.questions

    def check(asked: Asked) -> str | None:
        return f"it has more than {most} questions" if len(asked.questions) > most else None

    answer = (Part("answer", brief.answer),)
    asked = yield from ask_one(brief.ask(_ASK_BACK, answer, check=check, values={"questions": most}))
    questions = asked.form.questions

    def check_likenesses(likenesses: Likenesses) -> str | None:
        return check_numbers((each.number for each in likenesses.questions), len(questions))

    parts = (Part("question", brief.question), numbered("questions", questions))
    said = yield from ask_one(brief.ask(_COMPARE, parts, check=check_likenesses))
    # An answer that commits itself to nothing answers no question, whatever can be asked about it.
    value = 0.0 if asked.form.noncommittal else fmean(each.alike for each in said.form.questions)
    if value >= _RELEVANT_FROM:
        return Judgement(None, relevance=value, unsure=Unsure.TRUTH_NOT_JUDGED)
    return Judgement(Label.NOT_GIVEN, said.form.confidence * (1 - value), relevance=value)


RELEVANCE = Method("relevance", _relevance_run, prompts=(_ASK_BACK, _COMPARE), requests=lambda _: 2)

_FROM_ANSWER = Prompt("quiz_answer", Quiz, compares=False)
_FROM_REFERENCE = Prompt("quiz_reference", Quiz)
_REPLY = Prompt("reply", Replies, compares=False)
_SAME = Prompt("same", Pairs, compares=False)


@dataclass(frozen=True, slots=True)
class _Checked:
    """A question, what the other text replied, and whether that is the same: None where it did not reply."""

    quizzed: Quizzed
    answered: Answered
    pair: Pair | None = None

    @property
    def holds(self) -> bool:
        return self.pair is not None and self.pair.same

    @property
    def sure(self) -> float:
        return self.pair.confidence if self.pair else self.answered.confidence

    @property
    def wrong(self) -> Wrong:
        kind = Mistake.CONTRADICTION if self.pair else Mistake.HALLUCINATION
        return Wrong(words=self.quizzed.words, kind=kind)


def _questeval_run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.questions

    def check(quiz: Quiz) -> str | None:
        return f"it has more than {most} questions" if len(quiz.questions) > most else None

    question, answer = brief.asked
    sources = ((_FROM_ANSWER, (answer,)), (_FROM_REFERENCE, (*brief.reference, question)))
    quizzes = yield from ask_each(
        [brief.ask(prompt, parts, check=check, values={"questions": most}) for prompt, parts in sources]
    )
    answers, references = (each.form for each in quizzes)
    if not answers.questions:
        return Judgement(Label.NOT_GIVEN, answers.confidence)
    checked = yield from _check(brief, answers.questions, references.questions)
    count = len(answers.questions)
    return _judged(answers, checked[:count], checked[count:])


def _check(
    brief: Brief, of_answer: Sequence[Quizzed], of_reference: Sequence[Quizzed]
) -> Rounds[tuple[_Checked, ...]]:
    asks = [_ask_text(brief, brief.reference, of_answer)]
    if of_reference:
        asks.append(_ask_text(brief, brief.asked[1:], of_reference))
    said = yield from ask_each(asks)
    replies = [reply for each in said for reply in sorted(each.form.replies, key=lambda reply: reply.number)]
    quizzed = zip((*of_answer, *of_reference), replies, strict=True)
    return (yield from _compare(brief, [_Checked(*pair) for pair in quizzed]))


def _ask_text(brief: Brief, source: Sequence[Part], questions: Sequence[Quizzed]) -> Ask[Replies]:
    def check(replies: Replies) -> str | None:
        return check_numbers((each.number for each in replies.replies), len(questions))

    listed = numbered("questions", (each.question for each in questions))
    return brief.ask(_REPLY, (*source, listed), check=check)


def _compare(brief: Brief, checked: Sequence[_Checked]) -> Rounds[tuple[_Checked, ...]]:
    open_ = [each for each in checked if each.answered.answerable]
    if not open_:
        return tuple(checked)

    def check(pairs: Pairs) -> str | None:
        return check_numbers((each.number for each in pairs.pairs), len(open_))

    said = yield from ask_one(brief.ask(_SAME, (_listed(open_),), check=check))
    pairs = iter(sorted(said.form.pairs, key=lambda pair: pair.number))
    return tuple(
        _Checked(each.quizzed, each.answered, next(pairs)) if each.answered.answerable else each
        for each in checked
    )


def _listed(checked: Sequence[_Checked]) -> Part:
    return lines(
        "pairs",
        (
            {
                "number": number,
                "question": each.quizzed.question,
                "one": each.quizzed.reply,
                "other": each.answered.reply,
            }
            for number, each in enumerate(checked, start=1)
        ),
    )


def _judged(answers: Quiz, of_answer: Sequence[_Checked], of_reference: Sequence[_Checked]) -> Judgement:
    """Precision, the share of the answer's questions, tells the truth; weighted recall, what was answered."""
    precision = sum(each.holds for each in of_answer) / len(of_answer)
    total = sum(each.quizzed.weight for each in of_reference)
    found = sum(each.quizzed.weight for each in of_reference if each.holds)
    recall = found / total if total else None
    failed = [each for each in of_answer if not each.holds]
    if not failed:
        sure = min(answers.confidence, *(each.sure for each in of_answer))
        return Judgement(Label.TRUE, sure, scaled(precision), consistency=precision, relevance=recall)
    return Judgement(
        Label.FALSE,
        max(each.sure for each in failed),
        min(scaled(precision), FALSE_TO),
        tuple(each.wrong for each in failed),
        consistency=precision,
        relevance=recall,
    )


QUESTEVAL = Method(
    "questeval", _questeval_run, prompts=(_FROM_ANSWER, _FROM_REFERENCE, _REPLY, _SAME), requests=lambda _: 5
)
