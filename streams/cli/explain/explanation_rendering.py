"""An explanation in a terminal, a section for each question."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from schemas.records import Verdict, VerdictEvidence, VerdictPassage
from scoring.policy.thresholds import Thresholds
from scoring.values.exchange import MAX_SCORE, MIN_SCORE
from streams.cli.command_output import plural, printable
from streams.cli.verdict_rendering import (
    DECISION_STYLES,
    STATUS_STYLES,
    claim_in_full,
    format_opinion,
    format_relevance,
    format_score,
    humanize_code,
    quote,
)
from streams.explaining.explanation import (
    Explanation,
    FeatureExplanation,
    RepeatedVerdict,
    RuleExplanation,
    RuleRole,
    ScoreOrigin,
)
from streams.pipeline.verdict import FAULTS, fault_evidence, marked_claims

LEGEND: Final = "✗ contradicted, ? not found, ≈ similar, ‹not in the passage›, ✓ supported, «at fault»"
_AT_FAULT: Final = "bold red underline"
_CLOSING: Final = "›»"


def marked_answer(verdict: Verdict) -> Text:
    """Give the answer; signs stand before claims, and around words at fault or that a passage lacks."""
    text, end = Text(printable_lines(verdict.answer)), len(verdict.answer)
    signs: list[tuple[int, str]] = []
    marks = [(fault.start, fault.end, "«", "»") for fault in fault_evidence(verdict)]
    for claim in marked_claims(verdict):
        sign, style = STATUS_STYLES[claim.status]
        text.stylize(style, claim.start, min(claim.end, end))
        signs.append((claim.start, sign))
        marks += [(span.start, span.end, "‹", "›") for span in claim.lacking]
    for start, stop, opening, closing in marks:
        if start < min(stop, end):
            text.stylize(_AT_FAULT if closing == "»" else "underline", start, min(stop, end))
            signs += [(start, opening), (min(stop, end), closing)]
    # In the order in which they are met: what ends somewhere ends before something else begins there.
    signs.sort(key=lambda each: (each[0], each[1] not in _CLOSING))
    parts = text.divide([place for place, _ in signs])
    marked = Text()
    for part, (_, sign) in zip(parts, signs, strict=False):
        marked.append_text(part).append(sign)
    return marked.append_text(parts[-1])


def printable_lines(text: str) -> str:
    """Make text safe for a terminal, with its lines; every offset stays what it was."""
    return "\n".join(map(printable, text.split("\n")))


_INDENT: Final = 4
_MINUTE: Final = 60

_SOURCES: Final = {
    "inline": "The answer brought these passages.",
    "by_id": "The answer named these documents; they are of the versions of its time.",
    "retrieved": "The answer brought none: these were found for its question.",
    "none": "There are none: the answer brought none, and none was found.",
}
_PARTS: Final = {
    RuleRole.DECIDED: "and decided",
    RuleRole.NAMED: "and something else decided",
    RuleRole.OUTWEIGHED: "but another rule came first",
}
_MADE_BY: Final = {
    ScoreOrigin.SUPPORT: "how far the documents have what the answer says, the lower of the two",
    ScoreOrigin.CONTRADICTION: "how surely they say something else, the lower of the two",
    ScoreOrigin.RULE: "a rule",
    ScoreOrigin.MEAN: "the mean of the features",
    ScoreOrigin.UNKNOWN: "another release of the scorer",
}


def render_explanation(explanation: Explanation) -> Iterator[RenderableType]:
    """Yield what a terminal shows of an explanation, from top to bottom."""
    verdict = explanation.verdict
    yield _title(explanation)
    yield from _section("Why", _reasons(explanation))
    yield from _section("Question", [printable_lines(verdict.question)])
    yield from _section(f"Answer ({LEGEND})", [marked_answer(verdict)])
    yield from _section("Claims, and what the documents say", map(claim_in_full, verdict.claims))
    yield from _section("Rules", map(_rule, explanation.rules))
    yield from _section("Score", _score(explanation))
    yield from _section("Features", _features(explanation))
    yield from _section("Documents", _documents(explanation))
    yield from _section("Language models", _opinions(explanation))
    yield from _section("Policy", _policy(explanation))
    yield from _section("Times and places", _times(explanation))
    yield from _section("Repeats", map(_repeat, explanation.repeats))


def _section(title: str, content: Iterable[Text | str]) -> Iterator[RenderableType]:
    """Yield a heading with its content below, or nothing where there is none."""
    parts = [Text(each) if isinstance(each, str) else each for each in content]
    if parts:
        yield Text(f"\n{title}", "bold")
        for line in (line for part in parts for line in part.split("\n", allow_blank=True)):
            yield Padding(line, (0, 0, 0, _INDENT), expand=False)


def _title(explanation: Explanation) -> Text:
    verdict = explanation.verdict
    title = Text(printable(verdict.answer_id), "bold").append("  ")
    title.append(humanize_code(verdict.decision), DECISION_STYLES.get(verdict.decision, ""))
    of_five = "no score" if verdict.score is None else f"score {format_score(verdict.score)} of {MAX_SCORE:g}"
    language = printable(verdict.language or "language unknown")
    title.append(f"  {of_five}  {humanize_code(verdict.message_type)}, {language}", "not bold")
    return title.append(", translated to English before it was judged" if verdict.translated else "")


def _reasons(explanation: Explanation) -> Iterator[Text]:
    decided = len(explanation.verdict.reasons)
    for place, each in enumerate(explanation.reasons):
        line = Text(humanize_code(each.code), "bold" if place == 0 else "")
        line.append(f"  {each.meaning}" if each.meaning else "", "not bold")
        line.append("  (could not be checked)" if place >= decided else "", "dim not bold")
        yield line
        if each.to_do:
            yield Text(f"→ {each.to_do}", "cyan")


def _rule(rule: RuleExplanation) -> Text:
    line = Text(f"{humanize_code(rule.reason)}: {rule.effect}", "bold")
    line.append(f", {_PARTS[rule.role]}", "not bold")
    line.append(f"  {rule.meaning}", "not bold")
    sure = f"; speaks against it with {rule.contradiction:.2f}" if rule.contradiction else ""
    evidence, features = (", ".join(map(humanize_code, names)) for names in (rule.kinds, rule.features))
    return line.append(f"  ({evidence}, of {features}{sure})", "dim not bold")


def _score(explanation: Explanation) -> Iterator[str]:
    told, verdict = explanation.score, explanation.verdict
    if told.value is None:
        yield "There is none."
    else:
        made_by = f", by {_MADE_BY[told.made_by]}" if told.made_by else ""
        yield f"{told.value:.2f}{made_by}"
    profile = printable(verdict.profile) or "unknown"
    yield f"profile {profile}, scorer {printable(verdict.scorer_version)}"
    for name, value, alone in (
        ("support", verdict.support, told.of_support),
        ("contradiction", verdict.contradiction, told.of_contradiction),
    ):
        if value is not None:
            yield f"{name} {value:.2f}, which alone gives {format_score(alone)}"
    if verdict.faithfulness is not None:
        yield f"faithfulness {verdict.faithfulness:.2f}: the share of its claims that are supported"


def _features(explanation: Explanation) -> Iterator[Text]:
    features = explanation.verdict.features
    for feature, told in zip(features, explanation.features, strict=True):
        if feature.value is not None or feature.evidence:
            value = "does not apply" if feature.value is None else f"{feature.value:.2f}"
            line = Text(f"{humanize_code(feature.name)} {value}", "bold").append(
                f"  {told.meaning}", "not bold"
            )
            yield line.append(_led_to(told), "not bold")
            yield from map(_evidence, feature.evidence)
    if others := [humanize_code(each.name) for each in features if each.value is None and not each.evidence]:
        yield Text(f"do not apply: {', '.join(others)}", "dim")


def _led_to(told: FeatureExplanation) -> str:
    return f"  → {', '.join(map(humanize_code, told.rules))}" if told.rules else ""


def _evidence(evidence: VerdictEvidence) -> Text:
    of = f"  in {printable(evidence.document_id)}" if evidence.document_id else ""
    at_fault = evidence.kind in FAULTS
    line = Text("  ").append(
        f"{humanize_code(evidence.kind)} {quote([evidence.text])}", "red" if at_fault else ""
    )
    return line.append(f" {evidence.start}–{evidence.end}{of}", "dim")


def _documents(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    if missing := verdict.missing_context_ids:
        yield f"The answer names documents that are not there: {', '.join(map(printable, missing))}."
    elif source := _SOURCES.get(verdict.context_source):
        yield source
    if verdict.context:
        yield from map(_passage, verdict.context)
    else:
        yield from map(printable, dict.fromkeys(verdict.context_ids))


def _passage(passage: VerdictPassage) -> str:
    version = f" version {printable(passage.version)}" if passage.version else ""
    place = "" if passage.start is None else f", characters {passage.start}–{passage.end}"
    found = "" if passage.score is None else f", found with {passage.score:.3g}"
    title = f" {quote([passage.title])}" if passage.title else ""
    url = f", {printable(passage.url)}" if passage.url else ""
    floor = passage.relevance_floor
    relevance = "" if passage.relevance is None else f", {format_relevance(passage.relevance, floor)}"
    return f"{printable(passage.document_id)}{title}{version}{place}{found}{relevance}{url}"


def _opinions(explanation: Explanation) -> Iterator[Text]:
    for said in explanation.verdict.opinions:
        yield Text(format_opinion(said))
        cost = "" if said.cost is None else f", cost {said.cost:g}"
        tokens = f"{said.tokens_in} tokens in, {said.tokens_out} out"
        used = f"{plural(said.requests, 'request')}, {tokens}, {said.seconds:.1f} s{cost}"
        yield Text(f"  prompts {printable(said.prompt_version)}, {used}", "dim")
        yield from map(_evidence, said.evidence)


def _policy(explanation: Explanation) -> Iterator[str]:
    policy = explanation.policy
    yield f"version {printable(policy.version)}"
    if policy.thresholds is None:
        yield "It is neither that of these settings nor the shipped one: its thresholds are not known here."
    else:
        yield from _thresholds(policy.thresholds)


def _thresholds(found: Thresholds) -> Iterator[str]:
    sent = f"from {found.auto_send_at:g} on" if found.auto_send_at < MAX_SCORE else "by a rule alone"
    blocked = f"below {found.block_below:g}" if found.block_below > MIN_SCORE else "by a rule alone"
    yield f"for such answers: sent {sent}, blocked {blocked}"
    unscored, refusal = humanize_code(found.unscored), humanize_code(found.refusal)
    yield f"without a score for their type: {unscored}; refusals: {refusal}"
    asked, never = (", ".join(map(humanize_code, codes)) or "none" for codes in (found.ask, found.ask_never))
    yield f"in doubt: {asked}, never {never}"
    sure = f"sends from {found.send_confidence:g} on, blocks from {found.block_confidence:g} on"
    yield f"by its confidence an opinion {sure}"
    if found.pause:
        yield "nothing is sent by itself (policy.pause)"


def _times(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    by = f" by {printable(verdict.model)}" if verdict.model else ""
    yield f"answered {_moment(verdict.produced_at)}{by}"
    yield f"judged   {_moment(verdict.scored_at)}, {_later(explanation.seconds)}"
    if explanation.place:
        written = f", written {_moment(explanation.written_at)}" if explanation.written_at else ""
        yield f"at {printable(str(explanation.place))}{written}"
    yield f"verdict {printable(verdict.verdict_id)}, conversation {printable(verdict.conversation_id)}"
    yield f"trace {explanation.trace_id or 'not known'}"


def _repeat(repeat: RepeatedVerdict) -> Text:
    differs = ", ".join(map(humanize_code, repeat.differs))
    line = Text(f"{_moment(repeat.written_at or repeat.scored_at)}  {printable(str(repeat.place))}  ")
    line.append(humanize_code(repeat.decision), DECISION_STYLES.get(repeat.decision, ""))
    line.append(f"  {format_score(repeat.score)}  {', '.join(map(humanize_code, repeat.reasons))}")
    return line.append(f"  differs in {differs}" if differs else "  the same", "bold" if differs else "dim")


def _later(seconds: float) -> str:
    told = f"{abs(seconds):.3f} s" if abs(seconds) < _MINUTE else str(timedelta(seconds=round(abs(seconds))))
    return f"{told} {'later' if seconds >= 0 else 'earlier'}"


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S.%f}"[:-3]
