"""What publishing leaves alone: documents in other languages, and ids that are not there."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.cli.command_output import InputErrors
from streams.cli.document_commands import MarkedDocuments, PublishableDocuments, missing_documents
from streams.cli.document_sources import DocumentSource, TopicDocuments
from streams.settings import InvalidSettings, Settings

KNOWN = {"nl/a": "nl", "nl/b": "nl-BE", "en/a": "en", "odd": "Klingon"}


def accepted(*languages: str) -> PublishableDocuments:
    taken = PublishableDocuments(KNOWN, InputErrors("help"), MarkedDocuments(Settings()))
    now = datetime(2026, 3, 2, tzinfo=UTC)
    pages = [KnowledgeDocument(f"{each}/new", each, "t", "text", now) for each in languages]
    assert len(list(taken.select((page.document_id, page) for page in pages))) == len(pages)
    return taken


@pytest.mark.parametrize(
    ("published", "named", "gone", "left"),
    [
        (["nl"], [], ["nl/a", "nl/b"], "--prune: 2 documents in Klingon, en not deleted"),
        (["nl"], ["nl", "en"], ["en/a", "nl/a", "nl/b"], "--prune: 1 document in Klingon not deleted"),
        (["nl", "en"], ["nl", "en"], ["en/a", "nl/a", "nl/b"], "--prune: 1 document in Klingon not deleted"),
        (["nl"], None, ["en/a", "nl/a", "nl/b", "odd"], ""),
    ],
)
def test_pruning_keeps_to_the_languages_that_are_published_and_tells_what_it_leaves(
    published, named, gone, left, capsys
):
    assert accepted(*published).ids_to_prune(KNOWN, "", named) == gone
    told = capsys.readouterr().err
    assert told == (f"truthgate: {left} (--all-languages deletes them)\n" if left else "")


def test_what_cannot_be_read_is_there_and_can_be_deleted():
    published = TopicDocuments({"nl/a": marked("nl/a")}, {b"broken": "key_mismatch"})
    assert missing_documents(published, ["nl/a", "nope", "broken", "nope"]) == ["nope"]


def told_of(source: Path, languages: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    list(DocumentSource(source, languages).read(InputErrors("help"), None))
    return capsys.readouterr().err.splitlines()


def test_pages_that_seem_to_be_in_another_language_than_was_named_are_told(tmp_path, capsys):
    for name in ("nl/factuur.md", "en/invoice.md", "en/pay.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    (told,) = told_of(tmp_path, ["nl"], capsys)
    assert told.startswith("truthgate: warning: 2 pages of the folder en read as nl; ")
    assert told_of(tmp_path, ["nl", "en"], capsys) == []
    (tmp_path / "en" / "pay.md").write_text("---\nlanguage: de\n---\nText")
    assert told_of(tmp_path, ["nl", "en"], capsys) == [
        (
            "truthgate: warning: 1 page in another language than --language, e.g. en/pay (de); "
            "the language of the page is used"
        )
    ]


HOW = "How do I delete a draft?"


def marked(document_id: str, title: str = HOW, text: str = "Click **Delete**.") -> KnowledgeDocument:
    return KnowledgeDocument(document_id, "en", title, text, datetime(2026, 3, 2, tzinfo=UTC), auto_send=True)


def warnings_of(documents: Iterable[KnowledgeDocument], capsys: pytest.CaptureFixture[str]) -> list[str]:
    publishable = PublishableDocuments({}, InputErrors("help"), MarkedDocuments(Settings()))
    named = [(each.document_id, each) for each in documents]
    assert list(publishable.select(named)) == named  # whatever is warned of is published
    return capsys.readouterr().err.splitlines()


def test_a_document_that_is_marked_to_be_sent_in_vain_is_told(capsys):
    draft = marked("draft", text="Click **{{button}}**.")
    (told,) = warnings_of([draft], capsys)
    assert told.startswith("truthgate: warning: draft: marked auto_send, but '{' in it looks as if ")
    assert told.endswith(": it is never sent")
    assert warnings_of([replace(draft, auto_send=False)], capsys) == []
    assert warnings_of([marked("good")], capsys) == []


def test_two_marked_documents_of_one_title_in_one_language_are_told(capsys):
    one, other = marked("one"), marked("other", title="how do I delete a draft?")
    (told,) = warnings_of([one, one, other], capsys)
    assert told.startswith("truthgate: warning: other: marked auto_send, as is one with the same title: ")
    assert warnings_of([one, replace(other, auto_send=False)], capsys) == []
    told = "".join(warnings_of([one, replace(other, language="de")], capsys))
    assert "same title" not in told


def test_a_mark_is_not_checked_by_lexicons_that_cannot_be_read(tmp_path):
    settings = Settings().with_values("scoring", {"lexicons": tmp_path})
    with pytest.raises(InvalidSettings, match=r"scoring\.lexicons: .*holds no lexicon"):
        MarkedDocuments(settings).check(marked("one"))
