"""From verdicts and reviews, in any order, to what is known of an answer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import KnownAnswer, Review, Verdict, WrongSpan
from streams.desk.desk_state import DeskRecord, DeskState
from streams.desk.judgements import combine, judgement
from streams.known_answers.known_state import KnownAnswerState
from streams.reviews.audit_sample import AuditSample
from streams.settings import DeskSettings
from tests.support.known_answers import a_known_answer
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

NO_SAMPLE = AuditSample(b"key", 0)
SEND, REJECT = a_review(outcome="send"), a_review(outcome="reject")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[DeskState]:
    state = DeskState(tmp_path, DeskSettings(), NO_SAMPLE, known_answers=True)
    yield state
    state.close()


def verdict(number: int = 1, key: str | None = "k-1", **fields: object) -> Verdict:
    return any_verdict(verdict_id=f"v-{number}", known_answer_key=key, **{"answer": "Answer.", **fields})


def review(number: int, outcome: str = "none", by: str = "kim", of: int = 1, **fields: object) -> Review:
    return a_review(review_id=f"r-{number}", verdict_id=f"v-{of}", outcome=outcome, reviewer=by, **fields)


def read(state: DeskState, *values: Verdict | Review | KnownAnswer) -> None:
    state.apply([DeskRecord(0, number, value) for number, value in enumerate(values)], {})


def published(state: DeskState) -> dict[str, str]:
    """Publish what is due, read it back until nothing is due, and return the state of each key."""
    while due := state.due_answers(10):
        read(state, *due)
    return {each.key: each.state for each in state.listed_answers("", 100)}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"outcome": "send"}, "true"),
        ({"outcome": "send", "rating": 4}, "true"),
        ({"outcome": "none", "label": "TRUE"}, "true"),
        ({"outcome": "none", "label": "TRUE", "rating": 5}, "true"),
        ({"outcome": "expired", "label": "TRUE"}, "true"),
        ({"outcome": "reject"}, "untrue"),
        ({"outcome": "none", "label": "FALSE"}, "untrue"),
        ({"outcome": "none", "rating": 2}, "untrue"),
        ({"outcome": "send_edited", "label": "FALSE"}, "untrue"),
        ({"outcome": "send_edited", "rating": 1}, "untrue"),
        ({"outcome": "reject", "label": "NOT_GIVEN"}, "untrue"),
        ({"outcome": "send_edited"}, "unsure"),
        ({"outcome": "send_edited", "label": "TRUE", "rating": 5}, "unsure"),
        ({"outcome": "send", "rating": 3}, "unsure"),
        ({"outcome": "send", "label": "FALSE"}, "unsure"),
        ({"outcome": "send", "label": "NOT_GIVEN"}, "unsure"),
        ({"outcome": "send", "label": "A_LATER_ONE"}, "unsure"),
        ({"outcome": "reject", "label": "TRUE"}, "unsure"),
        ({"outcome": "none", "label": "TRUE", "rating": 1}, "unsure"),
        ({"outcome": "none", "rating": 3}, "unsure"),
        ({"outcome": "none", "proposal": "reject"}, "unsure"),
        ({"outcome": "none", "proposal": "send_edited", "text": "So."}, "unsure"),
        ({"outcome": "none", "proposal": "send"}, None),
        ({"outcome": "expired"}, None),
        ({"outcome": "none", "rating": 5}, None),
        ({"outcome": "none", "comment": "why?"}, None),
        ({"outcome": "send", "text": None}, None),
        ({"outcome": "a_later_one"}, None),
        ({"outcome": "send", "source": "known_answer"}, None),
    ],
)
def test_what_a_review_says_of_the_answer(fields, says):
    assert judgement(a_review(**fields)) == says


def test_words_that_are_marked_as_wrong_make_it_no_known_answer():
    assert judgement(replace(SEND, wrong_spans=(WrongSpan("number", "3", 0, 1),))) == "unsure"


@pytest.mark.parametrize(
    ("says", "on_topic", "state"),
    [
        ((), None, None),
        (("unsure",), None, None),
        (("true",), None, "true"),
        (("untrue",), None, "untrue"),
        (("true", "untrue"), None, "ended"),
        (("true", "unsure"), None, "ended"),
        ((), "true", "true"),
        (("untrue",), "true", "ended"),
        (("unsure",), "untrue", "ended"),
        (("true",), "ended", "ended"),
        ((), "ended", "ended"),
    ],
)
def test_whoever_disagrees_ends_it_for_good(says, on_topic, state):
    assert combine(says, on_topic) == state


def test_what_one_reviewer_sent_is_known_with_who_and_by_which_reviews(state):
    read(state, verdict(), review(1, "send"))
    (known,) = state.due_answers(10)
    assert known == KnownAnswer("k-1", "true", "v-1", ("r-1",), ("kim",), SEND.reviewed_at)
    assert published(state) == {"k-1": "true"}


def test_who_sends_another_text_as_the_answer_does_not_say_that_it_is_true(state):
    for number, text in enumerate(("Not the answer.", "Answer.\r\n")):
        key = f"k-{number}"
        read(state, verdict(number, key), review(number, "send", of=number, text=text, source="external"))
    assert published(state) == {"k-1": "true"}


def test_reviews_that_agree_change_nothing_on_the_topic(state):
    read(state, verdict(), verdict(2), review(1, "send"))
    assert published(state) == {"k-1": "true"}
    read(state, review(2, "send", "alex", of=2), review(3, "none", "alex", label="TRUE"))
    assert state.due_answers(10) == []


def test_a_second_decision_that_came_too_late_still_disagrees(state):
    read(state, verdict(), review(1, "send"), review(2, "reject", "alex"))
    assert published(state) == {"k-1": "ended"}


def test_whoever_changes_their_mind_ends_it(state):
    read(state, verdict(), review(1, "reject"))
    assert published(state) == {"k-1": "untrue"}
    read(state, review(2, label="TRUE"))
    assert published(state) == {"k-1": "ended"}


def test_a_changed_document_is_another_key(state):
    read(state, verdict(), review(1, "send"), verdict(2, "k-2"))
    assert published(state) == {"k-1": "true"}


def test_a_verdict_without_a_key_makes_nothing_known(state):
    read(state, verdict(key=None), review(1, "send"))
    assert published(state) == {}


def test_a_verdict_that_was_repeated_with_other_documents_makes_neither_known(state):
    read(state, verdict(key="k-1"), verdict(key="k-2"), review(1, "send"))
    assert published(state) == {}


def test_a_state_of_a_later_release_is_left_alone(state):
    read(state, a_known_answer(state="mostly_true"), verdict(), review(1, "send"))
    assert state.due_answers(10) == []


def test_what_the_topic_has_counts_when_its_verdicts_are_deleted(state):
    read(state, a_known_answer(), verdict(2), review(2, "reject", of=2))
    assert published(state) == {"k-1": "ended"}


def test_what_a_lead_ended_does_not_come_back(state):
    read(state, verdict(), review(1, "send"))
    assert published(state) == {"k-1": "true"}
    read(state, a_known_answer(state="ended", verdict_id=None, reviewers=("lea",)))
    read(state, verdict(2), review(2, "send", of=2))
    assert published(state) == {"k-1": "ended"}
    assert [(each.state, each.reviewers) for each in state.listed_answers("v-2", 9)] == [("ended", "lea")]


def test_a_late_true_of_another_desk_does_not_undo_the_end_which_is_published_again(state):
    ended = a_known_answer(state="ended", verdict_id=None, review_ids=(), reviewers=("Lea, the lead",))
    read(state, verdict(), review(1, "send"), ended, a_known_answer())
    assert state.due_answers(10) == [ended]
    assert [each.state for each in state.listed_answers("k-1", 9)] == ["ended"]
    assert published(state) == {"k-1": "ended"}
    assert [each.reviewers for each in state.listed_answers("k-1", 9)] == ["Lea, the lead"]
    read(state, a_known_answer(state="mostly_true"))  # counts as ended, and is left alone
    assert state.due_answers(10) == []


def test_an_end_of_which_no_review_is_left_is_published_again_too(state):
    read(state, a_known_answer(state="ended"), a_known_answer(state="untrue"))
    assert [each.state for each in state.due_answers(10)] == ["ended"]
    assert published(state) == {"k-1": "ended"}


@given(
    st.lists(st.sampled_from(["send", "reject", "end", "late true", "late untrue", "publish"]), max_size=8)
)
def test_of_desks_active_at_the_same_time_no_one_undoes_an_end(tmp_path_factory, steps):
    state = DeskState(tmp_path_factory.mktemp("desk"), DeskSettings(), NO_SAMPLE, known_answers=True)
    read(state, verdict())
    ended = False
    for number, step in enumerate(steps):
        if step == "publish":
            published(state)
        elif step == "end":
            read(state, a_known_answer(state="ended", reviewers=("lea",)))
            ended = True
        elif step.startswith("late"):
            read(state, a_known_answer(state=step.partition(" ")[2]))
        else:
            read(state, review(number, step))
    found = published(state)
    assert not ended or found == {"k-1": "ended"}
    assert state.due_answers(10) == []
    state.close()


def test_a_lead_finds_an_answer_by_its_key_and_by_a_verdict(state):
    read(state, verdict(), review(1, "send"), verdict(2, "k-2"), review(2, "reject", of=2))
    published(state)
    for wanted in ("k-2", "v-2"):
        assert [each.key for each in state.listed_answers(wanted, 9)] == ["k-2"]
    assert state.listed_answers("v-3", 9) == []


def test_while_known_answers_are_off_nothing_is_kept_for_them(tmp_path):
    state = DeskState(tmp_path, DeskSettings(), NO_SAMPLE)
    read(state, verdict(), review(1, "send"))
    assert state.due_answers(10) == []
    state.close()


REVIEWS = st.builds(
    review,
    st.integers(1, 6),
    st.sampled_from(["send", "reject", "send_edited", "expired", "none"]),
    st.sampled_from(["kim", "alex"]),
    of=st.integers(1, 4),
    label=st.sampled_from([None, None, "TRUE", "FALSE"]),
)
VERDICTS = st.builds(verdict, st.integers(1, 4), st.sampled_from(["k-1", "k-2", None]))


@given(st.lists(VERDICTS | REVIEWS, max_size=12), st.randoms(use_true_random=False))
def test_any_order_repeats_and_publishing_in_between_end_in_the_same_known_answers(
    tmp_path_factory, values, random
):
    """Known to workers: what is true or untrue. What ended may never have been published."""
    found = []
    for publishes in (False, True):
        state = DeskState(tmp_path_factory.mktemp("desk"), DeskSettings(), NO_SAMPLE, known_answers=True)
        mixed = [*values, *random.choices(values, k=3)] if values else []
        random.shuffle(mixed)
        for each in mixed:
            read(state, each)
            if publishes and random.random() < 0.5:
                published(state)
        found.append({key: each for key, each in published(state).items() if each != KnownAnswerState.ENDED})
        assert state.due_answers(10) == []
        state.close()
    assert found[0] == found[1]
