"""The judgement of an answer by its statements: true if the reference supports each of them."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.judges.judgement import FALSE_TO, Judgement, scaled
from scoring.judges.replies.forms import Statements, Support, Wrong
from scoring.values.opinion import Label, Mistake


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
