"""A folder of Markdown and HTML becomes help documents, each page in its language."""

import os
from datetime import UTC, datetime
from pathlib import Path, PurePath

import pytest

from schemas import KnowledgeDocument
from streams.documents.page_folder import (
    BadFile,
    PageFolder,
    is_language_tag,
    language_of_folder,
    read_folder,
)


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(folder: Path) -> KnowledgeDocument | BadFile:
    (found,) = read_folder(PageFolder(folder, ["nl"]))
    return found


def test_a_file_becomes_a_document_named_after_its_path(tmp_path):
    path = write(tmp_path, "hr/Add employee.v2.md", "# Adding\n\nText.")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    changed = datetime.fromtimestamp(1_700_000_000, UTC)
    assert only(tmp_path) == KnowledgeDocument(
        "hr/Add employee.v2", "nl", "Adding", "# Adding\n\nText.", changed
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n## Second `level` ##\n", "Second `level`"),
        ("Underlined\n===\n", "Underlined"),
        ("```\n# a comment in code\n```\n\n# The title\n", "The title"),
        ("    # indented code\n\ntext\n", "page"),
        ("#no heading\n", "page"),
        ("#\n\n# Later\n", "Later"),
        ("\ufeff# After a byte order mark\n", "After a byte order mark"),
    ],
)
def test_the_title_is_the_first_heading_or_the_name_of_the_file(text, title, tmp_path):
    write(tmp_path, "page.md", text)
    found = only(tmp_path)
    assert isinstance(found, KnowledgeDocument)
    assert found.title == title


def test_files_come_in_the_order_of_their_paths_and_hidden_or_other_files_not_at_all(tmp_path):
    for name in ("b.md", "a/z.md", "a/b.md", ".hidden.md", ".git/x.md", "notes.txt"):
        write(tmp_path, name, "text")
    (tmp_path / "folder.md").mkdir()
    found = [
        entry for entry in read_folder(PageFolder(tmp_path, ["en"])) if isinstance(entry, KnowledgeDocument)
    ]
    assert [entry.document_id for entry in found] == ["a/b", "a/z", "b"]


def test_a_bad_file_is_named_with_its_reason_and_the_rest_is_read(tmp_path):
    bad = write(tmp_path, "a.md", b"good \xff bad")
    blank = write(tmp_path, "b.md", " \n")
    write(tmp_path, "c.md", "# Good")
    found = list(read_folder(PageFolder(tmp_path, ["en"])))
    assert found[:2] == [BadFile(bad, "not UTF-8: byte 5 cannot be read"), BadFile(blank, "has no text")]
    assert isinstance(found[2], KnowledgeDocument)


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    for name in ("a.md", "b.md"):
        write(tmp_path, name, "text")
    found = read_folder(PageFolder(tmp_path, ["en"]))
    assert isinstance(next(found), KnowledgeDocument)
    write(tmp_path, "b.md", "")
    assert isinstance(next(found), BadFile)


def test_a_file_whose_name_is_not_a_utf_8_is_named_and_left_out(tmp_path):
    """No record could carry an id that is made of it."""
    write(tmp_path, "\udcff/page.md", "# One\n\nText.")
    write(tmp_path, "page\udcff.md", "# Two\n\nText.")
    found = list(read_folder(PageFolder(tmp_path, ["nl"])))
    assert [getattr(each, "reason", None) for each in found] == ["its name is not UTF-8"] * 2


def read(pages: PageFolder) -> list[tuple[str, str]]:
    """Give id and language of each page, or the file and what is wrong with it."""
    return [
        (each.path.relative_to(pages.folder).as_posix(), each.reason)
        if isinstance(each, BadFile)
        else (each.document_id, each.language)
        for each in read_folder(pages)
    ]


def test_of_several_languages_each_has_its_folder_and_pages_may_say_their_own(tmp_path):
    write(tmp_path, "nl/page.md", "# Pagina")
    write(tmp_path, "en/page.md", "# Page")
    write(tmp_path, "en/de.md", "---\nlang: de-AT # for Vienna\n---\n# Seite")
    write(tmp_path, "hr/page.md", "# Who knows")
    no_language = "has no language; set --language, or state it in the front matter or as lang of html"
    assert read(PageFolder(tmp_path, ["nl", "en"])) == [
        ("en/de", "de-AT"),
        ("en/page", "en"),
        ("hr/page.md", no_language),
        ("nl/page", "nl"),
    ]


def test_the_language_of_html_counts_where_nothing_else_says_it(tmp_path):
    write(tmp_path, "page.html", '<html lang="de"><p>Seite</p></html>')
    assert read(PageFolder(tmp_path)) == [("page", "de")]
    assert read(PageFolder(tmp_path, ["nl"])) == [("page", "nl")]


@pytest.mark.parametrize("language", ["Klingon", "Dutch", "xx", "n", "nl,en", "nld"])
def test_what_is_not_a_language_is_refused(tmp_path, language):
    assert not is_language_tag(language)
    write(tmp_path, "page.md", f"---\nlanguage: {language}\n---\nText.")
    assert read(PageFolder(tmp_path)) == [
        ("page.md", f"language {language!r} is not a code such as nl or en")
    ]


@pytest.mark.parametrize("language", ["nl", "NL", "en-GB", "zh_Hant", "fy"])
def test_a_code_of_two_letters_with_or_without_a_region_is_a_language(language):
    assert is_language_tag(language)


def test_an_id_has_its_prefix_and_belongs_to_one_file_alone(tmp_path):
    for name in ("page.htm", "page.html", "page.md"):
        write(tmp_path, name, "text")
    assert read(PageFolder(tmp_path, ["nl"], "nl/")) == [
        ("nl/page", "nl"),
        ("page.html", "has the same id as page.htm: nl/page"),
        ("page.md", "has the same id as page.htm: nl/page"),
    ]


@pytest.mark.parametrize(
    ("text", "title", "url", "rest"),
    [
        ("---\ntitle: 'A: b'\nurl: http://x.example\n---\n\n# H\n", "A: b", "http://x.example", "# H\n"),
        ('---\r\nTitle: "A"\r\ntags:\r\n  - b: c\r\n...\r\ntext', "A", None, "text"),
        ("---\ntitle: A\ndraft: true\n---\ntext\n", "A", None, "text\n"),
        ("---\ntext that only looks like it\n", "page", None, "---\ntext that only looks like it\n"),
        ("text\n---\ntitle: x\n---\n", "text", None, "text\n---\ntitle: x\n---\n"),
        ("---\n---\ntext", "page", None, "text"),
    ],
)  # fmt: skip
def test_front_matter_is_not_a_part_of_the_text(text, title, url, rest, tmp_path):
    write(tmp_path, "page.md", text)
    found = only(tmp_path)
    assert isinstance(found, KnowledgeDocument)
    assert (found.title, found.url, found.text) == (title, url, rest)


@pytest.mark.parametrize(
    ("name", "content", "marked"),
    [
        ("page.md", "---\ntitle: A\nauto_send: true # all of it\n---\ntext", True),
        ("page.md", "---\nauto_send: False\n---\ntext", False),
        ("page.md", "---\nmore:\n  auto_send: true\n---\ntext", False),
        ("page.md", "---\ntitle: A\n---\nauto_send: true", False),
        ("page.html", '<meta name="auto_send" content="true"><p>text</p>', False),
    ],
)
def test_a_page_says_whether_it_may_be_sent(name, content, marked, tmp_path):
    write(tmp_path, name, content)
    found = only(tmp_path)
    assert isinstance(found, KnowledgeDocument)
    assert found.auto_send is marked


def test_a_page_whose_mark_is_neither_true_nor_false_is_refused(tmp_path):
    path = write(tmp_path, "page.md", "---\nauto_send: yes\n---\ntext")
    assert only(tmp_path) == BadFile(path, "auto_send 'yes' is neither true nor false")


def test_a_page_without_a_language_is_reported_the_option_that_names_it(tmp_path):
    write(tmp_path, "page.md", "text")
    message = "has no language; set --documents-language, or state it in the front matter or as lang of html"
    assert read(PageFolder(tmp_path, option="--documents-language")) == [("page.md", message)]


@pytest.mark.parametrize(
    ("page", "language", "folder"),
    [
        ("en/invoice", "nl", "en"),
        ("docs/en/hr/invoice", "nl", "docs/en"),
        ("nl/factuur", "nl", None),
        ("nl/factuur", "nl-BE", None),
        ("hr/add", "nl", None),
        ("factuur", "nl", None),
    ],
)
def test_a_folder_of_another_language_is_found_above_a_page(page, language, folder, tmp_path):
    assert language_of_folder(tmp_path, PurePath(page), language) == folder


def test_a_folder_that_may_be_a_department_is_a_language_next_to_that_of_the_page(tmp_path):
    (tmp_path / "nl").mkdir()
    assert language_of_folder(tmp_path, PurePath("hr/add"), "nl") == "hr"


def html(folder: Path, content: str) -> KnowledgeDocument:
    write(folder, "page.html", content)
    found = only(folder)
    assert isinstance(found, KnowledgeDocument)
    return found


def test_html_keeps_headings_steps_and_marked_names_and_leaves_out_what_is_around_the_page(tmp_path):
    page = html(
        tmp_path,
        """<!doctype html><html><head><title>Help</title><link rel="canonical" href="https://x.example/a">
        <style>p { color: red }</style></head><body><nav>Menu</nav><header>Logo</header>
        <main><header><h1>Add an <em>invoice</em></h1></header>
        <p>Do   this:<br>now.</p><script>alert(1)</script>
        <ol start="3"><li>Click <b>New</b>.<ul><li>or <kbd>F2</kbd></li></ul></li>
        <li><p>Click <strong> Save</strong> &amp; <a href="x">wait</a>.</p></li></ol>
        <pre>a\n  b</pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td><b>2</b></td></tr></table>
        <!-- secret --><img alt="A picture" src="x"></main><footer>Imprint</footer></body></html>""",
    )
    assert (page.title, page.url) == ("Add an invoice", "https://x.example/a")
    assert page.text == (
        "# Add an *invoice*\n\n"
        "Do this:\nnow.\n\n"
        "3. Click **New**.\n   - or `F2`\n4. Click **Save** & wait.\n\n"
        "```\na\n  b\n```\n\n"
        "| A | B |\n|---|---|\n| 1 | **2** |\n\n"
        "A picture\n"
    )


@pytest.mark.parametrize(
    ("content", "text", "title"),
    [
        ("<title>T</title><header>x</header><p>A</p>", "A\n", "T"),
        ("<body>A<div>B<p>C</div>D</body>", "A\n\nB\n\nC\n\nD\n", "page"),
        ("<aside>x</aside><article><h2>H</h2><aside>A</aside></article>", "## H\n\nA\n", "H"),
        ("no markup at all", "no markup at all\n", "page"),
        ("<p>a<b> b </b>c <b></b></p>", "a **b** c\n", "page"),
    ],
)
def test_any_html_is_read(tmp_path, content, text, title):
    page = html(tmp_path, content)
    assert (page.text, page.title) == (text, title)


def test_html_in_another_encoding_that_it_states_is_read(tmp_path):
    write(tmp_path, "page.html", '<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1"))
    found = only(tmp_path)
    assert isinstance(found, KnowledgeDocument)
    assert found.text == "Café\n"


def test_hostile_html_is_a_bad_file_and_no_more(tmp_path):
    write(tmp_path, "deep.html", "<div>" * 100_000 + "x")
    write(tmp_path, "empty.html", "<script>x</script>")
    assert read(PageFolder(tmp_path, ["nl"])) == [
        ("deep.html", "its elements are nested too deeply"),
        ("empty.html", "has no text"),
    ]
