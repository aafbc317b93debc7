"""The commands against a real broker: what they publish, show, list and send again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from schemas import ChatbotAnswer, Codec, KnowledgeDocument, Pause
from streams.delivery.dead_letter_progress import count_waiting
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.commands import truthgate, variables
from tests.support.pauses import a_pause, pause_record, resumed
from tests.support.records import Outgoing, consume_all, consume_count, produce
from tests.support.verdicts import any_verdict

VERDICT = any_verdict(decision="blocked", reasons=("undefined_component",), answer="Click **Go**.")


def current(pause: Pause) -> Outgoing:
    record = pause_record(pause)
    return Outgoing(record.value, record.key)


def answer_line(index: int, **more: object) -> str:
    line = {
        "answer_id": f"a-{index}",
        "conversation_id": f"c-{index % 5}",
        "question": "Can I?",
        "answer": "Yes.",
    }
    return json.dumps(line | more)


def test_topics_are_missing_then_created_then_as_they_should_be(settings):
    environment, topics = variables(settings), Topics()
    missing = truthgate("topics", "check", environment=environment)
    needed = len((*topics.all, *topics.rate_topics))
    assert (missing.returncode, missing.stdout.count("is missing")) == (2, needed)
    assert missing.stdout.count("  retention.ms  ") == needed - 6
    assert missing.stderr.count("\n") == 1
    assert f"{needed} topics are missing: run `truthgate topics create`" in missing.stderr
    created = truthgate("topics", "create", "--json", environment=environment)
    assert (created.returncode, created.stderr) == (0, "")
    assert {json.loads(line)["status"] for line in created.stdout.splitlines()} == {"created"}
    checked = truthgate("topics", "check", "--json", environment=environment)
    told = json.loads(checked.stdout)
    assert (checked.returncode, told["ok"], told["problems"], told["warnings"]) == (0, True, [], [])
    of_documents = 6
    wanted = {1, of_documents, settings.topics.partitions}
    assert {topic["has"]["partitions"] for topic in told["topics"]} == wanted


def test_a_topic_that_falls_short_is_told_with_exit_code_2(settings, topics):
    there = settings.topics.partitions
    more = variables(settings) | {"TRUTHGATE_TOPICS__PARTITIONS": str(there + 1)}
    done = truthgate("topics", "create", environment=more)
    assert done.returncode == 2
    assert "differs" in done.stdout
    checked = truthgate("topics", "check", environment=more)
    assert checked.returncode == 2
    assert f"topic {topics.answers} has {there} of {there + 1} partitions\n" in checked.stdout
    assert f"  partitions                      at least  {there + 1}   (has {there})\n" in checked.stdout


def test_a_worker_without_topics_says_so_in_a_few_short_lines(settings):
    done = truthgate("worker", environment={**variables(settings), "TRUTHGATE_LOG__FORMAT": "console"})
    assert done.returncode == 2
    first, last = done.stderr.splitlines()
    assert first.startswith("truthgate: 15 of 15 topics are missing: ")
    assert first.endswith(" and 12 more")
    assert last.startswith("truthgate: `truthgate topics create` creates missing topics; ")


async def test_replay_sends_good_lines_in_order_within_a_conversation_and_names_bad_ones(
    settings, topics, tmp_path
):
    file = tmp_path / "chats.jsonl"
    lines = [answer_line(index) for index in range(200)]
    file.write_text("\n".join([*lines[:50], "broken", *lines[50:]]))
    done = truthgate("replay", file, environment=variables(settings))
    assert done.returncode == 1
    assert f"{file}, line 51: " in done.stderr
    assert f"200 answers sent to {topics.answers}" in done.stderr
    records = await consume_count(settings.kafka, topics.answers, 200)
    answers = [Codec().decode(record.value, ChatbotAnswer) for record in records]
    assert [record.key for record in records] == [answer.conversation_id.encode() for answer in answers]
    for conversation in range(5):
        numbers = [int(a.answer_id[2:]) for a in answers if a.conversation_id == f"c-{conversation}"]
        assert numbers == sorted(numbers)
    headers = dict(records[0].headers)
    assert headers["ce_id"].decode() == answers[0].answer_id
    assert (headers["ce_type"], headers["ce_specversion"]) == (b"truthgate.ChatbotAnswer", b"1.0")
    assert {"ce_source", "content-type"} <= headers.keys()


async def test_an_answer_too_large_for_the_topic_is_named_and_the_rest_is_sent(settings, topics, tmp_path):
    file = tmp_path / "chats.jsonl"
    large = answer_line(1, metadata={"x": "y" * 3_000_000})
    file.write_text("\n".join([answer_line(0), large, answer_line(2)]))
    done = truthgate("replay", file, environment=variables(settings))
    assert (done.returncode, f"{file}, line 2: refused by the broker" in done.stderr) == (1, True)
    assert len(await consume_all(settings.kafka, topics.answers)) == 2


async def test_replay_at_recorded_pace_needs_times_of_which_the_earliest_possible_is_one(
    settings, topics, tmp_path
):
    file = tmp_path / "chats.jsonl"
    timed = [answer_line(i, produced_at=f"1970-01-01T00:00:{i:02}Z") for i in range(3)]
    file.write_text("\n".join([*timed, answer_line(9)]))
    done = truthgate("replay", file, "--speed", "100", environment=variables(settings))
    assert (done.returncode, f"{file}, line 4: produced_at: is missing" in done.stderr) == (1, True)
    assert len(await consume_all(settings.kafka, topics.answers)) == 3


async def test_documents_come_from_lines_and_folders_and_are_deleted_by_tombstones(
    settings, topics, tmp_path
):
    lines = tmp_path / "documents.jsonl"
    lines.write_text(
        json.dumps({"document_id": "d-1", "language": "en", "title": "One", "text": "Text."}) + "\n{}"
    )
    folder = tmp_path / "help"
    (folder / "hr").mkdir(parents=True)
    (folder / "hr" / "add.md").write_text("# Toevoegen\n\nKlik op **Nieuw**.")
    (folder / "empty.md").write_text("")
    environment = variables(settings)
    from_lines = truthgate("publish-documents", lines, environment=environment)
    assert (from_lines.returncode, "line 2: " in from_lines.stderr) == (1, True)
    from_folder = truthgate("publish-documents", folder, "--language", "nl", environment=environment)
    assert (from_folder.returncode, "empty.md: has no text" in from_folder.stderr) == (1, True)
    assert truthgate("publish-documents", "--delete", "d-1", environment=environment).returncode == 0
    records = await consume_count(settings.kafka, topics.documents, 3)
    assert sorted((record.key, record.value is None) for record in records) == [
        (b"d-1", False),
        (b"d-1", True),
        (b"hr/add", False),
    ]
    (added,) = (Codec().decode(r.value, KnowledgeDocument) for r in records if r.key == b"hr/add")
    assert (added.language, added.title) == ("nl", "Toevoegen")


@pytest.fixture
def help_pages(tmp_path: Path) -> Path:
    folder = tmp_path / "help"
    pages = {"en/invoice.md": "# Invoice\n\nClick **New**.", "nl/factuur.html": "<h1>Factuur</h1>"}
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    return folder


def published(settings: Settings) -> dict[str, str]:
    """Give id and language of each document that the command lists."""
    listed = truthgate("documents", "list", "--json", environment=variables(settings))
    assert (listed.returncode, listed.stderr) == (0, "")
    found = map(json.loads, listed.stdout.splitlines())
    return {each["document_id"]: each["language"] for each in found}


@pytest.mark.usefixtures("topics")
def test_pages_of_two_languages_are_published_in_one_go_listed_shown_and_pruned(settings, help_pages):
    environment = variables(settings)
    assert published(settings) == {}
    both = ("publish-documents", help_pages, "--language", "nl", "--language", "en", "--prune")
    dry = truthgate(*both, "--dry-run", environment=environment)
    assert (dry.returncode, dry.stdout) == (0, "publish en/invoice (en)\npublish nl/factuur (nl)\n")
    assert published(settings) == {}
    assert truthgate(*both, environment=environment).returncode == 0
    assert published(settings) == {"en/invoice": "en", "nl/factuur": "nl"}
    shown = truthgate("documents", "show", "en/invoice", environment=environment)
    assert shown.stdout.endswith("\n\n# Invoice\n\nClick **New**.\n")
    as_json = truthgate("documents", "show", "en/invoice", "--json", environment=environment)
    assert json.loads(as_json.stdout)["text"] == "# Invoice\n\nClick **New**."
    (help_pages / "nl" / "factuur.html").rename(help_pages / "nl" / "nieuw.html")
    pruned = truthgate(*both, environment=environment)
    assert "2 documents published, 1 deleted" in pruned.stderr
    assert published(settings) == {"en/invoice": "en", "nl/nieuw": "nl"}
    missing = truthgate("documents", "show", "nl/factuur", environment=environment)
    assert (missing.returncode, missing.stderr) == (1, "truthgate: no document has the id nl/factuur\n")
    nope = truthgate("publish-documents", "--delete", "nope", environment=environment)
    assert (nope.returncode, "--delete nope: no such document" in nope.stderr) == (1, True)
    of_one = ("publish-documents", help_pages / "nl", "--language", "nl", "--prune")
    assert truthgate(*of_one, environment=environment).returncode == 0
    assert published(settings) == {"en/invoice": "en", "nieuw": "nl"}


@pytest.mark.usefixtures("topics")
def test_a_page_is_sent_in_reply_to_its_title_while_it_is_published_with_the_mark(settings, tmp_path):
    environment = variables(settings)
    folder, answers = tmp_path / "help", tmp_path / "answers.jsonl"
    folder.mkdir()
    text = "1. Open the list of invoices.\n2. Click on the draft and choose **Delete** in the menu."
    page = f"# How do I delete a draft?\n\n{text}"
    (folder / "template.md").write_text("---\nauto_send: true\n---\n# How do I make a draft?\n\nUse {page}.")
    answers.write_text(
        json.dumps({"question": "How do I delete a draft?", "answer": text, "document_ids": ["draft"]})
    )

    def decided(front_matter: str) -> str:
        (folder / "draft.md").write_text(f"{front_matter}{page}")
        publish = ("publish-documents", folder, "--language", "en")
        assert truthgate(*publish, environment=environment).returncode == 0
        scored = truthgate("score", answers, "--from-kafka", environment=environment)
        decision: str = json.loads(scored.stdout)["decision"]
        return decision

    assert decided("") == "review"
    assert decided("---\nauto_send: true\n---\n") == "auto_send"
    dry = truthgate("publish-documents", folder, "--language", "en", "--dry-run", environment=environment)
    assert dry.stdout == "publish draft (en, auto_send)\npublish template (en, auto_send)\n"
    listed = truthgate("documents", "list", "--json", environment=environment)
    assert [json.loads(line)["auto_send"] for line in listed.stdout.splitlines()] == [True, True]
    for told in (dry.stderr, listed.stderr):
        assert "template: marked auto_send, but '{' in it looks as if" in told
        assert "draft: marked" not in told
    assert decided("") == "review"


@pytest.mark.usefixtures("topics")
def test_nothing_is_pruned_where_a_page_is_bad_nor_what_is_not_under_the_prefix(settings, help_pages):
    environment = variables(settings)
    for name in ("en", "nl"):
        of_one = ("publish-documents", help_pages / name, "--language", name, "--id-prefix", f"{name}/")
        assert truthgate(*of_one, "--prune", environment=environment).returncode == 0
    assert published(settings) == {"en/invoice": "en", "nl/factuur": "nl"}
    (help_pages / "nl" / "factuur.html").write_text("")
    (help_pages / "nl" / "other.md").write_text("Tekst.")
    done = truthgate(*of_one, "--prune", environment=environment)
    assert done.returncode == 1
    assert "--prune: nothing is deleted" in done.stderr
    assert published(settings) == {"en/invoice": "en", "nl/factuur": "nl", "nl/other": "nl"}


@pytest.mark.usefixtures("topics")
def test_a_translation_does_not_take_the_place_of_its_original(settings, help_pages):
    environment = variables(settings)
    (help_pages / "nl" / "invoice.md").write_text("# Factuur")
    english = ("publish-documents", help_pages / "en", "--language", "en")
    assert truthgate(*english, environment=environment).returncode == 0
    dutch = ("publish-documents", help_pages / "nl", "--language", "nl")
    done = truthgate(*dutch, environment=environment)
    assert done.returncode == 1
    assert "a document in en has the id invoice" in done.stderr
    assert published(settings) == {"invoice": "en", "factuur": "nl"}
    assert truthgate(*dutch, "--change-language", environment=environment).returncode == 0
    assert published(settings) == {"invoice": "nl", "factuur": "nl"}


@pytest.mark.usefixtures("topics")
def test_lines_in_no_language_are_refused_and_the_deployment_s_documents_can_be_scored_against(
    settings, tmp_path
):
    environment = variables(settings)
    documents, answers = tmp_path / "documents.jsonl", tmp_path / "answers.jsonl"
    line = {"document_id": "d-1", "language": "en", "title": "Saving", "text": "Click **Save**."}
    other = line | {"document_id": "d-2", "language": "Klingon"}
    documents.write_text("\n".join(map(json.dumps, (line, other))))
    done = truthgate("publish-documents", documents, environment=environment)
    assert done.returncode == 1
    assert "line 2: language: 'Klingon' is not a language code; expected e.g. nl or en" in done.stderr
    answers.write_text(answer_line(1, document_ids=["d-1"], question="Can I save?", answer="Click **Save**."))
    scored = truthgate("score", answers, "--from-kafka", environment=environment)
    assert scored.returncode == 0
    assert json.loads(scored.stdout)["context_ids"] == ["d-1"]


async def test_tail_shows_verdicts_and_passes_over_what_it_cannot_read(settings, topics):
    one_partition = [Outgoing(value, partition=0) for value in (b"\x00nonsense", Codec().encode(VERDICT))]
    await produce(settings.kafka, topics.blocked, one_partition)
    await produce(settings.kafka, topics.review, [b"", Codec().encode(replace(VERDICT, decision="review"))])
    environment = variables(settings)
    lines = truthgate("tail", "--from-beginning", "--limit", "2", environment=environment)
    assert lines.returncode == 0
    assert sorted(line.split()[1] for line in lines.stdout.splitlines()) == ["blocked", "review"]
    chosen = truthgate(
        "tail", "--from-beginning", "-n", "1", "--decision", "blocked", "--json", environment=environment
    )
    assert json.loads(chosen.stdout)["decision"] == "blocked"
    assert f"{topics.blocked} " in chosen.stderr
    assert "cannot be decoded" in chosen.stderr


async def test_tail_shows_pauses_and_their_changes(settings, topics):
    await produce(settings.kafka, topics.controls, [current(a_pause("instruction")), current(a_pause())])
    await produce(settings.kafka, topics.blocked, [Codec().encode(VERDICT)])
    done = truthgate("tail", "--from-beginning", "-n", "1", "--json", environment=variables(settings))
    assert json.loads(done.stdout)["decision"] == "blocked"
    assert "truthgate: sending is paused: instruction answers, since" in done.stderr
    assert "by anna: wrong prices" in done.stderr


async def test_tail_since_a_while_ago_shows_no_pause_that_is_over_as_news(settings, topics):
    over = [current(a_pause("instruction")), current(resumed(a_pause("instruction")))]
    await produce(settings.kafka, topics.controls, [*over, current(a_pause("binary"))])
    await produce(settings.kafka, topics.blocked, [Codec().encode(VERDICT)])
    since = ("tail", "--since", "2026-01-01", "--until", "1s", "--json")
    done = truthgate(*since, environment=variables(settings))
    told = [line for line in done.stderr.splitlines() if "sending" in line]
    assert [("binary answers" in line) for line in told] == [True], done.stderr


@pytest.mark.parametrize(
    ("arguments", "topic"),
    [
        (["tail"], "controls"),
        (["explain", "a-1"], "verdicts.auto-send"),
        (["pause", "--reason", "x"], "controls"),
        (["resume", "--reason", "x"], "controls"),
        (["paused"], "controls"),
        (["dead-letters", "list"], "answers.dead-letters"),
        (["dead-letters", "replay"], "answers.dead-letters"),
        (["dead-letters", "discard", "--all"], "answers.dead-letters"),
        (["replay", "LINES"], "answers"),
        (["publish-documents", "LINES"], "documents"),
        (["publish-documents", "--delete", "d-1"], "documents"),
        (["documents", "list"], "documents"),
    ],
)
def test_a_topic_that_is_not_there_is_one_line_with_what_to_do(settings, tmp_path, arguments, topic):
    lines = tmp_path / "lines.jsonl"
    lines.write_text(answer_line(1))
    done = truthgate(
        *(lines if each == "LINES" else each for each in arguments), environment=variables(settings)
    )
    told = f"topic {settings.kafka.topic_prefix}{topic} does not exist; `truthgate topics create` creates it"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"truthgate: {told}\n")


def dead(stage: str, value: bytes | None, key: bytes | None = b"c-1") -> Outgoing:
    headers = (
        ("ce_id", b"1"),
        ("dlq.stage", stage.encode()),
        ("dlq.error.class", b"truncated"),
        ("dlq.error.message", b"the value ends within the header"),
        ("dlq.attempts", b"1"),
        ("dlq.first_failed_at", b"2026-03-02T09:15:00Z"),
    )
    return Outgoing(value, key, headers, partition=0)


@pytest.fixture
async def letters(settings: Settings, topics: Topics) -> None:
    await produce(
        settings.kafka,
        topics.dead_letters,
        [dead("decode", b"one"), dead("score", b"two"), dead("decode", None), Outgoing(b"four", partition=0)],
    )


@pytest.mark.usefixtures("letters")
def test_dead_letters_are_listed_with_their_reasons(settings):
    environment = variables(settings)
    listed = truthgate("dead-letters", "list", "--json", environment=environment)
    assert (listed.returncode, listed.stderr) == (0, "")
    found = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [each["stage"] for each in found] == ["decode", "score", "decode", ""]
    assert [each["bytes"] for each in found] == [3, 3, None, 4]
    assert found[0]["class"] == "truncated"
    some = truthgate("dead-letters", "list", "--stage", "decode", "--limit", "1", environment=environment)
    heading, line = some.stdout.splitlines()
    assert heading.split()[:4] == ["at", "from", "stage", "class"]
    assert line.startswith("0:0 ")
    assert line.rstrip().endswith("the value ends within the header")
    summary = truthgate("dead-letters", "list", "--summary", "--json", environment=environment)
    kinds = {(row["stage"], row["class"]): row for row in map(json.loads, summary.stdout.splitlines())}
    assert {kind: row["records"] for kind, row in kinds.items()} == {
        ("decode", "truncated"): 2,
        ("score", "truncated"): 1,
        ("", ""): 1,
    }
    assert (kinds["decode", "truncated"]["at"], kinds["decode", "truncated"]["replayed"]) == ("0:0", 0)
    table = truthgate("dead-letters", "list", "--class", "truncated", "--summary", environment=environment)
    assert [line.split()[:3] for line in table.stdout.splitlines()[1:]] == [
        ["decode", "truncated", "2"],
        ["score", "truncated", "1"],
    ]
    none = truthgate("dead-letters", "list", "--since", "2999-01-01T00:00:00Z", environment=environment)
    assert (none.stdout, none.stderr) == ("", "truthgate: no dead letters of that kind\n")


@pytest.mark.usefixtures("letters")
async def test_dead_letters_are_sent_again_as_they_came_and_only_once(settings, topics):
    environment = variables(settings)
    dry = truthgate("dead-letters", "replay", "--dry-run", environment=environment)
    assert f"4 dead letters would be sent to {topics.answers}" in dry.stderr
    assert dry.stdout.splitlines() == [
        f"0:0  decode truncated  key c-1  to {topics.answers}",
        f"0:1  score truncated  key c-1  to {topics.answers}",
        f"0:2  decode truncated  key c-1  to {topics.answers}",
        f"0:3  no reason  no key  to {topics.answers}",
    ]
    assert await consume_all(settings.kafka, topics.answers) == []
    some = truthgate("dead-letters", "replay", "--stage", "score", environment=environment)
    assert "1 dead letter sent" in some.stderr
    rest = truthgate("dead-letters", "replay", environment=environment)
    assert "3 dead letters sent" in rest.stderr
    again = truthgate("dead-letters", "replay", environment=environment)
    assert (again.returncode, "none sent" in again.stderr) == (0, True)
    records = await consume_all(settings.kafka, topics.answers)
    assert sorted(str(record.value) for record in records) == ["None", "b'four'", "b'one'", "b'two'"]
    (one,) = (record for record in records if record.value == b"one")
    assert one.key == b"c-1"
    kept = ["dlq.attempts", "dlq.error.class", "dlq.first_failed_at", "dlq.stage"]
    assert sorted(name for name, _ in one.headers) == ["ce_id", *kept]
    listed = truthgate("dead-letters", "list", "--json", environment=environment)
    assert [json.loads(line)["replayed"] for line in listed.stdout.splitlines()] == [True] * 4
    every = truthgate("dead-letters", "replay", "--all", "--at", "0:1", environment=environment)
    assert "1 dead letter sent" in every.stderr


@pytest.mark.usefixtures("letters")
def test_a_named_place_without_a_letter_is_bad_input_and_one_that_was_sent_before_is_not(settings):
    environment = variables(settings)
    named = ("--at", "0:4", "--at", "9:1", "--at", "0:1")
    some = truthgate("dead-letters", "replay", *named, environment=environment)
    assert some.returncode == 1
    assert "1 dead letter sent" in some.stderr
    missing = [place for place in ("0:1", "0:4", "9:1") if f"{place}: does not exist" in some.stderr]
    assert missing == ["0:4", "9:1"]
    again = truthgate("dead-letters", "replay", "--at", "0:1", environment=environment)
    assert again.returncode == 0
    assert "dead letter 0:1: was replayed before; --all sends it again" in again.stderr


@pytest.mark.usefixtures("letters")
async def test_discarded_letters_are_neither_listed_nor_sent_again(settings, topics):
    environment = variables(settings)
    assert await count_waiting(settings.kafka) == 4
    unnamed = truthgate("dead-letters", "discard", environment=environment)
    assert (unnamed.returncode, "name what to discard" in unnamed.stderr) == (2, True)
    some = truthgate("dead-letters", "discard", "--at", "0:1", "--at", "0:9", environment=environment)
    assert some.returncode == 1
    assert "dead letters of 1 record discarded" in some.stderr
    assert "dead letter 0:9: does not exist" in some.stderr
    assert await count_waiting(settings.kafka) == 3
    listed = truthgate("dead-letters", "list", "--json", environment=environment)
    assert [json.loads(line)["offset"] for line in listed.stdout.splitlines()] == [0, 2, 3]
    every = truthgate("dead-letters", "replay", "--all", environment=environment)
    assert "3 dead letters sent" in every.stderr
    assert await count_waiting(settings.kafka) == 0
    rest = truthgate("dead-letters", "discard", "--all", environment=environment)
    assert (rest.returncode, "dead letters of 3 records discarded" in rest.stderr) == (0, True)
    assert truthgate("dead-letters", "list", environment=environment).stdout == ""
    assert len(await consume_all(settings.kafka, topics.answers)) == 3


async def test_what_fails_for_the_same_reason_twice_is_left_alone_unless_asked_for(settings, topics):
    environment = variables(settings)
    twice = dead("decode", b"bad")
    again = replace(twice, headers=(*twice.headers, ("dlq.repeated", b"1")))
    await produce(settings.kafka, topics.dead_letters, [again])
    left = truthgate("dead-letters", "replay", environment=environment)
    assert "1 skipped that failed twice for the same reason: see --repeated" in left.stderr
    assert "none sent" in left.stderr
    asked = truthgate("dead-letters", "replay", "--repeated", environment=environment)
    assert "1 dead letter sent" in asked.stderr


def dead_document(topics: Topics, offset: int, value: bytes, worker: str) -> Outgoing:
    headers = (
        ("dlq.stage", b"decode"),
        ("dlq.topic", topics.documents.encode()),
        ("dlq.partition", b"0"),
        ("dlq.offset", str(offset).encode()),
        ("dlq.first_failed_at", worker.encode()),
    )
    return Outgoing(value, b"d-1" if offset < 2 else b"d-2", headers)


@pytest.fixture
async def document_letters(settings: Settings, topics: Topics) -> None:
    """Three records of documents, the first replaced by the second since; three workers found them bad."""
    bad = [
        Outgoing(b"first", b"d-1", partition=0),
        Outgoing(b"second", b"d-1", partition=0),
        Outgoing(b"only", b"d-2", partition=0),
    ]
    await produce(settings.kafka, topics.documents, bad)
    letters = [
        dead_document(topics, offset, record.value or b"", worker)
        for worker in ("one", "two", "three")
        for offset, record in enumerate(bad)
    ]
    await produce(settings.kafka, topics.dead_letters, [*letters, dead("score", b"an answer")])


@pytest.mark.usefixtures("document_letters")
def test_letters_of_many_workers_about_one_document_are_listed_once_with_their_count(settings):
    listed = truthgate("dead-letters", "list", "--json", environment=variables(settings))
    found = [json.loads(line) for line in listed.stdout.splitlines()]
    assert {each["original"]: each["letters"] for each in found} == {":": 1, "0:0": 3, "0:1": 3, "0:2": 3}
    one = truthgate("dead-letters", "list", "--json", "--limit", "1", environment=variables(settings))
    shown = json.loads(one.stdout)
    assert (shown["letters"], one.stdout.count("\n")) == (3 if shown["topic"] else 1, 1)


@pytest.mark.usefixtures("document_letters")
async def test_bad_documents_are_sent_again_only_when_asked_and_never_over_a_newer_one(settings, topics):
    environment = variables(settings)
    default = truthgate("dead-letters", "replay", environment=environment)
    assert default.returncode == 0
    assert f"1 dead letter sent to {topics.answers}" in default.stderr
    assert "3 bad documents skipped: publish them again, or see --documents" in default.stderr
    dry = truthgate("dead-letters", "replay", "--documents", "--dry-run", environment=environment)
    assert f"2 dead letters would be sent to {topics.documents}" in dry.stderr
    asked = truthgate("dead-letters", "replay", "--documents", environment=environment)
    assert asked.returncode == 0
    assert f"2 dead letters sent to {topics.documents}" in asked.stderr
    assert asked.stderr.count("not sent, its document has a newer record") == 1
    records = await consume_all(settings.kafka, topics.documents)
    # Partitions are read in any order: the three bad ones are those that came first into theirs.
    sent = [record.value for record in records if record.partition != 0 or record.offset > 2]
    assert sorted(sent) == [b"only", b"second"]
    # By now each of them has a newer record; what was sent is remembered with all letters about it.
    again = truthgate("dead-letters", "replay", "--documents", environment=environment)
    assert "none sent" in again.stderr
    listed = truthgate("dead-letters", "list", "--json", environment=environment)
    assert sorted(json.loads(line)["replayed"] for line in listed.stdout.splitlines()) == [
        False,
        True,
        True,
        True,
    ]
