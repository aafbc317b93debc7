"""Reviews of other tools into the topic and out of it, by the commands and a real broker."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

from schemas import ChatbotAnswer, Codec, ContextPassage
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.commands import truthgate, variables
from tests.support.desk import held, publish, reviews
from tests.support.records import Outgoing, produce
from tests.support.reviews import a_review

ROW = {
    "verdict_id": verdict_id("a-1"),
    "answer_id": "a-1",
    "conversation_id": "c-1",
    "produced_at": "2026-03-02T09:00:00Z",
    "reviewer": "kim",
}


def write_csv(file: Path, *rows: dict[str, str]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, names)
        writer.writeheader()
        writer.writerows(rows)
    return file


async def test_a_file_with_a_bad_line_is_not_half_imported_and_a_repeat_adds_no_review(
    settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    environment = variables(settings)
    sent = ROW | {"outcome": "send", "text": "Hi."}
    good = [ROW | {"rating": "4"}, sent, sent | {"comment": "Comes second."}]
    file = write_csv(tmp_path / "bad.csv", good[0], ROW | {"rating": "6"}, ROW | {"outcome": "send"})
    refused = truthgate("reviews", "import", file, environment=environment)
    assert refused.returncode == 1
    assert "line 3: rating: should be less than or equal to 5" in refused.stderr
    assert "line 4: " in refused.stderr
    assert refused.stderr.splitlines()[-1] == "truthgate: nothing was imported: 2 bad lines"
    assert await reviews(settings) == []
    file = write_csv(tmp_path / "good.csv", *good)
    for _ in range(2):
        done = truthgate("reviews", "import", file, environment=environment)
        assert (done.returncode, done.stderr) == (
            0,
            f"truthgate: 3 of 3 reviews published to {topics.reviews}\n",
        )
    found = await reviews(settings)
    assert len(found) == 6
    assert [each.review_id for each in found[:3]] == [each.review_id for each in found[3:]]
    assert {(each.source, each.reviewer) for each in found} == {("external", "kim")}

    exported = truthgate("reviews", "export", "--format", "csv", environment=environment)
    rows = list(csv.DictReader(exported.stdout.splitlines()))
    assert [(row["outcome"], row["text"], row["rating"]) for row in rows] == [
        ("none", "", "4"),
        ("send", "Hi.", ""),
    ]
    again = tmp_path / "again.csv"
    again.write_text(exported.stdout)
    assert truthgate("reviews", "import", again, environment=environment).returncode == 0
    assert {each.review_id for each in await reviews(settings)} == {each.review_id for each in found}
    as_json = truthgate("reviews", "export", environment=environment)
    assert [json.loads(line)["outcome"] for line in as_json.stdout.splitlines()] == ["none", "send"]


async def test_a_line_that_is_not_of_its_verdict_is_refused_by_its_number(
    settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    await publish(settings, [held(1), held(2, decision="blocked"), held(3, decision="auto_send")])
    rows = [
        ROW | {each: f"{each[0]}-{n}" for each in ("verdict_id", "answer_id", "conversation_id")}
        for n in (1, 2, 3)
    ]
    wrong = [
        rows[0] | {"conversation_id": "c-2"},
        rows[1] | {"answer_id": "a-1"},
        rows[0] | {"verdict_id": "v-4"},
        ROW | {"answer_id": "a-5"},
    ]
    wrong.append(rows[2] | {"outcome": "send", "text": "Not the answer."})
    file = write_csv(tmp_path / "rows.csv", rows[0], *wrong, *rows[1:], ROW)
    refused = truthgate("reviews", "import", file, environment=variables(settings))
    assert refused.returncode == 1
    absent = "verdict_id: no verdict has it, and it is not that of answer_id"
    assert [line.partition(", ")[2] for line in refused.stderr.splitlines()[:-1]] == [
        "line 3: conversation_id: the verdict has c-1",
        "line 4: answer_id: the verdict has a-2",
        f"line 5: {absent}",
        f"line 6: {absent}",
        "line 7: text: send is for the answer as it is, send_edited for another text",
    ]
    twice = [rows[0] | {"outcome": "reject"}, rows[0] | {"outcome": "send", "text": "Answer 1."}]
    refused = truthgate(
        "reviews", "import", write_csv(tmp_path / "twice.csv", *twice), environment=variables(settings)
    )
    assert refused.returncode == 1
    assert "line 3: outcome: line 2 decides otherwise about the same verdict" in refused.stderr
    (tmp_path / "empty.csv").write_text("v-1,a-1,c-1\n")
    assert (
        truthgate("reviews", "import", tmp_path / "empty.csv", environment=variables(settings)).returncode
        == 1
    )
    assert await reviews(settings) == []
    file = write_csv(tmp_path / "good.csv", *rows, ROW)
    assert truthgate("reviews", "import", file, environment=variables(settings)).returncode == 0
    assert len(await reviews(settings)) == 4


async def test_rated_answers_are_what_evaluate_reads(
    settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    environment, codec = variables(settings), Codec()
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    context = (ContextPassage("d-1", "Click **Save** to save the invoice."),)
    answers = [
        ChatbotAnswer(f"a-{n}", f"c-{n}", "How do I save?", "Click **Save**.", at, context) for n in range(4)
    ]
    await produce(settings.kafka, topics.answers, [Outgoing(codec.encode(each)) for each in answers * 2])
    rated = [
        a_review(answer_id="a-1", review_id="1", rating=5, label="TRUE"),
        a_review(answer_id="a-1", review_id="2", rating=3, reviewer="alex"),
        a_review(answer_id="a-2", review_id="3", verdict_id="v-2", outcome="reject", rating=1),
        a_review(answer_id="a-3", review_id="4"),
        a_review(answer_id="gone", review_id="5", label="FALSE"),
    ]
    records = [Outgoing(codec.encode(each), b"c", partition=0) for each in rated]
    await produce(settings.kafka, topics.reviews, [*records, Outgoing(b"x", partition=0)])
    file = tmp_path / "rated.jsonl"
    done = truthgate("reviews", "export", "--format", "rated", "-o", file, environment=environment)
    assert done.returncode == 1
    assert f"1 rated answer no longer on {topics.answers}" in done.stderr
    assert f"{topics.reviews} 0:5 cannot be decoded" in done.stderr
    found = {line["answer_id"]: line for line in map(json.loads, file.read_text().splitlines())}
    assert found.keys() == {"a-1", "a-2"}
    assert [found["a-1"][each] for each in ("rating", "label", "rating_second")] == [5, "TRUE", 3]
    evaluated = truthgate("evaluate", file, "--json")
    assert evaluated.returncode == 0, evaluated.stderr
