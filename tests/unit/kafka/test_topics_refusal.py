"""A worker refuses topics that it cannot work on, in a few lines that fit a screen."""

import pytest

from streams.kafka.topics import ActualTopic, TopicCheck, TopicSpec, refuse_wrong_topics
from streams.settings import InvalidSettings

ADVICE = "`truthgate topics check` says what each needs"


def _check(name: str, *problems: str, there: bool = True, warnings: tuple[str, ...] = ()) -> TopicCheck:
    return TopicCheck(TopicSpec(name, 1, 1, {}), ActualTopic(1, 1, {}) if there else None, problems, warnings)


def _refusal(*checks: TopicCheck) -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        refuse_wrong_topics(checks)
    return [str(caught.value), *caught.value.more]


def test_topics_that_fit_pass_and_so_does_what_is_only_warned_of() -> None:
    refuse_wrong_topics([_check("answers"), _check("documents", warnings=("has retention.ms 1",))])


def test_what_is_missing_is_counted_and_named_with_what_makes_it() -> None:
    missing = [_check(f"topic-{number}", "is missing", there=False) for number in range(5)]
    assert _refusal(*missing, _check("there")) == [
        "5 of 6 topics are missing: topic-0, topic-1, topic-2 and 2 more",
        f"`truthgate topics create` makes what is missing; {ADVICE}",
    ]


def test_what_falls_short_is_told_with_its_reasons_and_creating_is_not_advised() -> None:
    assert _refusal(
        _check("documents", "has cleanup.policy delete, compact wanted", "has x 1, 2 wanted")
    ) == [
        "topic documents has cleanup.policy delete, compact wanted, has x 1, 2 wanted",
        ADVICE,
    ]


def test_however_many_are_wrong_there_are_six_lines_at_most() -> None:
    wrong = [_check(f"topic-{number}", "has x 1, 2 wanted") for number in range(9)]
    lines = _refusal(_check("answers", "is missing", there=False), *wrong)
    assert len(lines) == 6
    assert lines[0] == "1 of 10 topics are missing: answers"
    assert lines[4] == "so do not fit: topic-3, topic-4, topic-5 and 3 more"
