"""The corpus of rated answers holds together: ids, words, passages, ratings are what they are said to be."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scoring.values.exchange import MessageType
from training.packed import read_lines
from training.rated.agreement import agreed_rating
from training.rated.products import PRODUCTS

RATED = Path(__file__).parents[3] / "training" / "rated"
UNOPENED = {product.name for product in PRODUCTS if product.unopened}
FILES = sorted(path.name for path in (RATED / "answers").iterdir())


def lines(folder: str, name: str) -> list[dict[str, Any]]:
    return read_lines(RATED / folder / name)


def test_there_are_two_hundred_answers_a_product_and_fewer_of_the_unopened_half_dutch_half_english():
    counts = Counter({name: len(lines("answers", name)) for name in FILES})
    assert len(FILES) == 20
    assert min(counts.values()) == 80
    assert min(count for name, count in counts.items() if name.split(".")[0] not in UNOPENED) >= 99
    assert set(FILES) <= {path.name for path in (RATED / "documents").iterdir()}


@pytest.mark.parametrize("name", FILES)
def test_every_mistake_and_every_passage_stands_where_it_is_said_to(name):
    documents = {each["document_id"]: each["text"] for each in lines("documents", name)}
    answers = lines("answers", name)
    assert len({each["answer_id"] for each in answers}) == len(answers)
    for each in answers:
        assert each["document_ids"]
        assert set(each["document_ids"]) <= documents.keys()
        assert each["message_type"] in set(MessageType)
        assert all(mistake["words"] in each["answer"] for mistake in each["mistakes"]), each["answer_id"]
        for proof in each["evidence"]:
            assert proof["passage"] in documents[proof["document_id"]], each["answer_id"]


@pytest.mark.parametrize("name", FILES)
def test_a_rating_is_what_two_of_three_gave(name):
    for each in lines("answers", name):
        given = each["rating_first"], each["rating_second"], each.get("rating_third")
        assert each["rating"] == agreed_rating(*given), each["answer_id"]
