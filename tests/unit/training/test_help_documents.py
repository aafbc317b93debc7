"""Help of DocBook, Mallard and HTML becomes the same Markdown, and the same pages in both languages."""

from xml.etree.ElementTree import fromstring

import pytest

from scoring.lexicon import load_shipped
from scoring.text.language_detection import LanguageDetector
from training.rated.help_trees import read_html, read_xml
from training.rated.markdown import Writer
from training.rated.pages import Page, chosen, distinguished, identified, paired, usable
from training.rated.products import Product

PRODUCT = Product("notes", ("notes",), "GPL-2", "docbook", "{language}", ("index.docbook",))

DOCBOOK = """\
<?xml version="1.0"?>
<!DOCTYPE section SYSTEM "small.dtd" [
  <!ENTITY chapter SYSTEM "chapter.docbook">
]>
<section><title>Printing with &notes;</title>&chapter;</section>
"""
CHAPTER = """\
<sect1 id="print"><title>A page</title>
<para>See <xref linkend="print"/>.<footnote><para>Not this.</para></footnote></para>
<procedure>
<step><para>Choose <menuchoice><shortcut><keycombo><keycap>Ctrl</keycap><keycap>P</keycap></keycombo>
</shortcut><guimenu>File</guimenu><guimenuitem>Print</guimenuitem></menuchoice>.</para></step>
<step><para>Click <guibutton>OK</guibutton>:</para>
<itemizedlist><listitem><para>once</para></listitem></itemizedlist></step>
</procedure>
<variablelist><varlistentry><term><guilabel>Copies</guilabel></term>
<listitem><para>At most 99.</para></listitem></varlistentry></variablelist>
<screen>lp  -n 2
</screen>
</sect1>
"""
WRITTEN = """\
# Printing with Notes

## A page

See “A page”.

1. Choose **File / Print** (Ctrl+P).
2. Click **OK**:
   - once

- **Copies**: At most 99.

```
lp  -n 2
```"""


def test_docbook_is_written_with_its_entities_steps_paths_and_code(tmp_path):
    (tmp_path / "small.dtd").write_text('<!ENTITY notes "Notes">', encoding="utf-8")
    (tmp_path / "chapter.docbook").write_text(CHAPTER, encoding="utf-8")
    (tmp_path / "index.docbook").write_text(DOCBOOK, encoding="utf-8")
    tree = read_xml(tmp_path / "index.docbook", tmp_path)
    assert Writer({"print": "A page"}).page(tree) == WRITTEN


def test_a_file_that_is_included_and_missing_is_an_error(tmp_path):
    (tmp_path / "small.dtd").write_text('<!ENTITY notes "Notes">', encoding="utf-8")
    (tmp_path / "index.docbook").write_text(DOCBOOK, encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        read_xml(tmp_path / "index.docbook", tmp_path)


def test_mallard_is_written_with_its_components_keys_and_terms(tmp_path):
    path = tmp_path / "crop.page"
    path.write_text(
        """<page xmlns="http://projectmallard.org/1.0/" id="crop"><info><desc>Not this.</desc></info>
        <title>Crop</title><media type="image" src="crop.png"/>
        <p>Press <keyseq><key>Ctrl</key><key>K</key></keyseq> or
        <guiseq><gui>Edit</gui><gui>Crop</gui></guiseq>.</p>
        <steps><item><p>Open <gui style="button">Crop</gui>.</p><p>Wait.</p></item></steps>
        <terms><item><title>Width</title><p>In pixels.</p></item></terms>
        <table><tr><td><p>a|b</p></td><td><p>2</p></td></tr></table></page>""",
        encoding="utf-8",
    )
    assert Writer().page(read_xml(path, tmp_path)).split("\n\n") == [
        "# Crop",
        "Press Ctrl+K or **Edit / Crop**.",
        "1. Open **Crop**. Wait.",
        "- Width: In pixels.",
        "|  |  |\n| --- | --- |\n| a\\|b | 2 |",
    ]


def test_html_made_from_docbook_is_written_without_numbers_pictures_and_navigation(tmp_path):
    path = tmp_path / "crop.html"
    path.write_text(
        """<html><body><div class="navheader">Next</div><div class="sect1"><div class="titlepage">
        <h2 class="title"><a id="idm1"></a>4.4. Crop</h2></div>
        <p>Use <span class="guimenu">Tools</span> → <span class="guimenuitem">Crop</span>, see
        <a class="xref" href="x.html">Section 2.1, “Sizes”</a>, or click <img src="icon.png"/> there.</p>
        <div class="note"><table><tr><td><img/></td><th>Note</th></tr><tr><td><p>Type
        <span class="command"><strong>crop</strong></span>.</p></td></tr></table></div>
        <dl class="variablelist"><dt><span class="term">Feather</span></dt><dd><p>Soft edges.</p></dd>
        <dt><span class="term"><span class="keycap"><strong>Ctrl</strong></span></span></dt>
        <dd><p>Twice.</p></dd></dl>
        <table><thead><tr><th>Unit</th></tr></thead><tbody><tr><td>px</td></tr></tbody></table>
        </div></body></html>""",
        encoding="utf-8",
    )
    [section] = read_html(path).findall("section")
    assert Writer(bold_terms=True).page(section).split("\n\n") == [
        "# Crop",
        "Use **Tools / Crop**, see “Sizes”, or click [icon] there.",
        "Type `crop`.",
        "- **Feather**: Soft edges.\n- Ctrl: Twice.",
        "| Unit |\n| --- |\n| px |",
    ]


def _book(title: str, word: str, parts: int = 2) -> str:
    body = f"<para>{f'{word} ' * 300}</para>"
    sections = "".join(f"<section><title>{title}</title>{body}</section>" for _ in range(parts))
    return f"<chapter><title>{title} {title}</title><para>{word}</para>{sections}</chapter>"


def test_a_long_chapter_is_split_alike_in_both_languages():
    trees = {"nl": {"a": fromstring(_book("Deel", "woord"))}, "en": {"a": fromstring(_book("Part", "word"))}}
    own, first, second = paired(trees, PRODUCT)
    assert own.texts == {"nl": "# Deel Deel\n\nwoord", "en": "# Part Part\n\nword"}
    assert first.titles == second.titles == {"nl": "Deel", "en": "Part"}
    assert list(identified(distinguished([own, first, second]), "notes")) == [
        "notes-part-part",
        "notes-part-part-part",
        "notes-part-part-part-2",
    ]


def test_a_chapter_whose_parts_differ_is_kept_whole():
    trees = {
        "nl": {"a": fromstring(_book("Deel", "woord", 1))},
        "en": {"a": fromstring(_book("Part", "word"))},
    }
    assert [page.titles["en"] for page in paired(trees, PRODUCT)] == ["Part Part"]


DUTCH = "Klik op de knop en kies daarna in het menu hoe u het bestand wilt opslaan op uw computer. " * 8
ENGLISH = "Click the button and then choose in the menu how you want to save the file on your computer. " * 8


def _page(nl: str, en: str, group: str = "a") -> Page:
    return Page(group, {"nl": "Opslaan", "en": "Saving"}, {"nl": nl, "en": en}, {})


def test_only_pages_that_are_long_enough_and_translated_are_usable():
    detector = LanguageDetector(load_shipped().values())
    good = _page(DUTCH, ENGLISH)
    half = _page(f"{DUTCH}\n\n{ENGLISH[:180]}", f"{ENGLISH}\n\n{ENGLISH[:180]}")
    short = _page(DUTCH[:90], ENGLISH[:90])
    untranslated = _page(ENGLISH, ENGLISH)
    assert usable([half, short, untranslated, good, good], detector) == [good]


def test_pages_are_chosen_from_each_chapter_in_turn_those_with_steps_first():
    plain, steps, other = _page("", "Text."), _page("", "1. One.\n2. Two."), _page("", "Text.", "b")
    assert chosen([plain, steps, other], most=2) == [steps, other]
