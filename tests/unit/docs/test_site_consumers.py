"""The consumers' page has what the code says: topics, headers, bytes and fingerprints."""

import re
from io import BytesIO

import pytest
from fastavro import schemaless_reader
from fastavro.schema import load_schema

from docs.generate.reference.consumers_page import PARTS, fill_generated_parts
from docs.generate.reference.reference_files import CONSUMERS
from schemas import ChatbotAnswer, Codec, Review
from tests.support.own_patterns import ROOT as SOURCES

EXAMPLES = SOURCES / "docs" / "examples" / "consumers" / "README.md"
RELEASED = SOURCES / "schemas" / "released"


def test_the_page_is_what_the_code_says_and_has_every_part_once():
    page = CONSUMERS.read_text(encoding="utf-8")
    assert page == fill_generated_parts(page), "run `python -m docs.generate`"
    assert sorted(re.findall(r"<!-- made: ([a-z-]+) -->", page)) == sorted(PARTS)


def test_what_is_made_by_hand_stays_and_what_is_out_of_date_goes():
    page = "Before.\n<!-- made: topics -->\nout of date\n<!-- end -->\nAfter.\n"
    made = fill_generated_parts(page)
    assert made.startswith("Before.\n<!-- made: topics -->\n\n| topic |")
    assert made.endswith("\n\n<!-- end -->\nAfter.\n")
    assert "out of date" not in made
    assert fill_generated_parts(made) == made


def test_a_part_that_nothing_makes_is_an_error():
    with pytest.raises(KeyError):
        fill_generated_parts("<!-- made: other -->\n<!-- end -->\n")


def test_every_released_schema_has_a_row_with_its_file():
    links = re.findall(r"\(\.\./(schemas/released/[\d.]+/\w+\.avsc)\)", PARTS["fingerprints"]())
    assert sorted(links) == sorted(str(file.relative_to(SOURCES)) for file in RELEASED.glob("*/*.avsc"))


@pytest.mark.parametrize(("part", "header"), [("single-object", 10), ("confluent", 5)])
def test_the_bytes_of_the_example_are_those_of_its_record(part, header):
    rows = re.findall(r"^\| (\d+) \| `([0-9a-f ]+)` \|", PARTS[part](), re.MULTILINE)
    value = b""
    for at, digits in rows:
        assert int(at) == len(value)
        value += bytes.fromhex(digits)
    read = schemaless_reader(BytesIO(value[header:]), load_schema(RELEASED / "0.1.0" / "Review.avsc"), None)
    assert (read["answer_id"], read["rating"], read["reviewer"], read["text"]) == ("a-1", 4, "kim", None)
    if part == "single-object":
        assert Codec().decode(value, Review).answer_id == "a-1"


def test_the_example_in_json_is_an_answer():
    (example,) = re.findall(r"```json\n(.*?)```", CONSUMERS.read_text(encoding="utf-8"), re.DOTALL)
    assert Codec(json_input=True).decode(example.encode(), ChatbotAnswer).document_ids == ("invoices",)


@pytest.mark.parametrize("page", [CONSUMERS, EXAMPLES], ids=str)
def test_what_is_linked_to_is_there(page):
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", page.read_text(encoding="utf-8"))
    own = [(target, part) for target, part in links if not target.startswith("https://")]
    assert own
    for target, part in own:
        assert (page.parent / target).exists(), target
        if part:
            headings = re.findall(r"^#+ (.*)$", (page.parent / target).read_text("utf-8"), re.MULTILINE)
            assert part in {heading.lower().replace(" ", "-") for heading in headings}
