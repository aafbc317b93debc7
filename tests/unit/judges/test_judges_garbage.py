"""Whatever an endpoint sends: no exception, bounded requests, nothing confident without a label."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judges import METHODS, Failure, Finish, JudgeOptions, Reply, ask, drive
from scoring.values.opinion import Label
from tests.unit.judges.judges_support import CASES, FALSE, TRUE, reply

OPTIONS = JudgeOptions(samples=3, agents=3, rounds=2, statements=4)
# The longest: the rounds of a discussion, each with its repairs.
MOST_ROUNDS = 2 * max(OPTIONS.rounds, 3)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
GARBAGE = st.one_of(
    st.builds(Failure, st.text(max_size=9)),
    st.builds(Reply, st.text(), st.sampled_from(Finish)),
    JSON.map(lambda content: Reply(json.dumps(content))),
    st.sampled_from(["TRUE", '{"label": "TRUE"}', "{" * 5_000, "[" * 50_000, '"' * 99, "9" * 5_000]).map(
        Reply
    ),
)


@st.composite
def damaged(draw, name):
    """A reply that was right, with a field less, more, or of another kind."""
    content = dict(draw(st.sampled_from([TRUE, FALSE]))[name])
    match draw(st.integers(0, 3)):
        case 0:
            content.pop(draw(st.sampled_from(sorted(content))))
        case 1:
            content[draw(st.text(max_size=9))] = draw(JSON)
        case 2:
            content[draw(st.sampled_from(sorted(content)))] = draw(JSON)
    return reply(content, finish=draw(st.sampled_from(Finish)))


def asked(method, case, outcome_of):
    rounds = []

    def answer_all(requests):
        rounds.append(requests)
        return [outcome_of(request) for request in requests]

    opinion = drive(ask(case, method, OPTIONS), answer_all)
    assert len(rounds) <= MOST_ROUNDS
    assert sum(map(len, rounds)) == opinion.usage.requests <= 2 * METHODS[method].max_requests(OPTIONS)
    return opinion


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), case=st.sampled_from(list(CASES.values())))
def test_garbage_alone_is_never_an_opinion(method, data, case):
    opinion = asked(method, case, lambda _: data.draw(GARBAGE))
    assert (opinion.label, opinion.confidence, opinion.score) == (None, 0, None)
    assert opinion.unsure


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), case=st.sampled_from(list(CASES.values())))
def test_garbage_between_replies_never_raises_and_never_adds_to_the_confidence(method, data, case):
    def outcome_of(request):
        name = request.schema.name
        right = st.sampled_from([TRUE[name], FALSE[name]]).map(reply)
        return data.draw(st.one_of(right, damaged(name), GARBAGE))

    opinion = asked(method, case, outcome_of)
    assert (opinion.label is None) is (opinion.unsure is not None)
    if opinion.label is None:
        assert (opinion.confidence, opinion.score) == (0, None)


@pytest.mark.parametrize(
    "method", [name for name in METHODS if name not in {"cot-sc", "personas", "round-table"}]
)
@given(data=st.data())
def test_one_reply_that_cannot_be_used_keeps_an_answer_from_being_true(method, data):
    broken = data.draw(st.integers(0, METHODS[method].max_requests(OPTIONS) - 1))
    count = iter(range(1_000))
    names = []

    def outcome_of(request):
        if names or next(count) == broken:
            names.append(request.schema.name)
            return Reply("no")
        return reply(TRUE[request.schema.name])

    opinion = asked(method, CASES["documents"], outcome_of)
    assert opinion.label is not Label.TRUE or not names
