"""QuestEval: questions from the answer asked of the reference, and the other way round (003, 5.2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.asking import Ask, Rounds, ask_each, ask_one
from scoring.judges.brief import Brief, lines, numbered
from scoring.judges.judgement import FALSE_TO, Judgement, Method, check_numbers, scaled
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Answered, Pair, Pairs, Quiz, Quizzed, Replies, Wrong
from scoring.judges.texts.fencing import Part
from scoring.values.opinion import Label, Mistake

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


def _run(brief: Brief) -> Rounds[Judgement]:
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
    "questeval", _run, prompts=(_FROM_ANSWER, _FROM_REFERENCE, _REPLY, _SAME), requests=lambda _: 5
)
