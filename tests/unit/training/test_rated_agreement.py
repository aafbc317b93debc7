"""Answers keep a rating that two raters gave; what no two agree on is left out."""

import pytest

from training.rated.agreement import agreed_rating, disputed, settled


@pytest.mark.parametrize(
    ("first", "second", "third", "agreed"),
    [(5, 5, None, 5), (1, 2, 1, 1), (1, 2, 2, 2), (1, 2, 3, None), (1, 2, None, None), (4, 4, 5, 4)],
)
def test_two_of_three_decide(first, second, third, agreed):
    assert agreed_rating(first, second, third) == agreed


def test_a_file_keeps_what_two_agree_on_with_all_ratings_and_tells_how_far_they_did():
    written = [{"answer_id": f"a-{n}", "rating": n, "message_type": "binary"} for n in (1, 2, 3, 5)]
    second = {
        "a-1": {"rating": 2, "message_type": "binary"},
        "a-2": {"rating": 4, "message_type": "general"},
        "a-3": {"rating": 3, "message_type": "binary"},
    }
    lines, found = settled(written, second, {"a-1": {"rating": 2}, "a-2": {"rating": 5}})
    assert [(line["answer_id"], line["rating"], line["rating_first"]) for line in lines] == [
        ("a-1", 2, 1),
        ("a-3", 3, 3),
    ]
    assert lines[0]["rating_third"] == 2
    assert (found.exact, found.far, found.same_type, found.decided, found.left_out) == (1 / 3, 1, 2, 1, 1)
    assert [line["answer_id"] for line in disputed(written, second)] == ["a-1", "a-2"]
