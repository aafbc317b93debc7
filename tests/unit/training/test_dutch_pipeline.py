"""The Dutch pipeline that the package carries reads what help texts and their readers say."""

from functools import cache
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

import scoring.text.pipelines

FOLDER = Path(scoring.text.pipelines.__file__).parent / "nl_truthgate"
MOST_BYTES = 20_000_000


@cache
def pipeline() -> Language:
    return spacy.load(FOLDER)


def parsed(text: str) -> Doc:
    return pipeline()(text)


def root(doc: Doc) -> Token:
    (found,) = (token for token in doc if token.dep_ == "ROOT")
    return found


def word(doc: Doc, text: str) -> Token:
    return next(token for token in doc if token.text == text)


def test_it_is_dutch_and_has_no_more_parts_than_are_read():
    assert pipeline().lang == "nl"
    assert pipeline().pipe_names == ["tok2vec", "morphologizer", "parser", "lemmatizer"]


def test_it_is_small_enough_to_ship():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < MOST_BYTES


def test_it_names_no_file_of_the_machine_it_was_trained_on():
    assert pipeline().config["paths"]["train"] is None
    assert pipeline().config["paths"]["dev"] is None


def test_its_licenses_lie_beside_it():
    note = (FOLDER / "LICENSE.md").read_text(encoding="utf-8")
    for part in ("CC BY-SA 4.0", "Alpino", "LassySmall", "GNOME", "KDE", "Frog"):
        assert part in note
    assert pipeline().meta["license"] == "CC BY-SA 4.0"


@pytest.mark.parametrize(
    ("sentence", "lemmas"),
    [
        ("Klik op Opslaan.", {"klikken"}),
        ("Kies Bestand.", {"kiezen"}),
        ("Vul het bedrag in.", {"invullen", "vullen"}),
        ("Voeg een medewerker toe.", {"toevoegen", "voegen"}),
        ("Ga naar Instellingen en kies Gebruikers.", {"gaan"}),
        ("Selecteer de regel die u wilt verwijderen.", {"selecteren"}),
        ("Open het menu rechtsboven.", {"openen"}),
    ],
)
def test_an_instruction_has_its_imperative_as_root(sentence, lemmas):
    verb = root(parsed(sentence))
    assert verb.i == 0
    assert verb.pos_ == "VERB"
    assert verb.lemma_ in lemmas


@pytest.mark.parametrize(
    ("sentence", "verb", "lemma", "subject"),
    [
        ("Hoe maak ik een factuur?", "maak", "maken", "ik"),
        ("Hoe kan ik een factuur maken?", "maken", "maken", "ik"),
        ("Kan ik de factuur verwijderen?", "verwijderen", "verwijderen", "ik"),
        ("Waar vind ik de loonstrook?", "vind", "vinden", "ik"),
        ("Mag een medewerker zijn adres wijzigen?", "wijzigen", "wijzigen", "medewerker"),
        ("Wie kan een verlofaanvraag goedkeuren?", "goedkeuren", "goedkeuren", "Wie"),
    ],
)
def test_a_question_has_its_verb_as_root_and_finds_who_acts(sentence, verb, lemma, subject):
    doc = parsed(sentence)
    assert (root(doc).text, root(doc).lemma_, root(doc).pos_) == (verb, lemma, "VERB")
    assert word(doc, subject).dep_ == "nsubj"
    assert word(doc, subject).head == root(doc)


def test_a_question_without_capital_and_question_mark_is_read_the_same():
    assert root(parsed("hoe maak ik een factuur")).lemma_ == "maken"
    assert root(parsed("kan ik de factuur verwijderen")).lemma_ == "verwijderen"


@pytest.mark.parametrize(
    ("sentence", "text", "lemma"),
    [
        ("De facturen zijn betaald.", "facturen", "factuur"),
        ("De facturen zijn betaald.", "zijn", "zijn"),
        ("Het formulier is ingevuld.", "ingevuld", "invullen"),
        ("Het bestand wordt opgeslagen.", "wordt", "worden"),
        ("U kunt vier regels selecteren.", "vier", "vier"),
        ("De salarisstroken staan klaar.", "salarisstroken", "salarisstrook"),
        ("Het systeem crediteert de factuur.", "crediteert", "crediteren"),
    ],
)
def test_lemmas_are_those_of_a_dictionary_also_for_words_that_none_has(sentence, text, lemma):
    assert word(parsed(sentence), text).lemma_ == lemma


def test_the_subject_of_a_passive_is_told_from_one_that_acts():
    doc = parsed("De factuur wordt automatisch verstuurd.")
    assert word(doc, "factuur").dep_ == "nsubj:pass"
    assert word(doc, "factuur").head.lemma_ == "versturen"


def test_the_content_word_is_head_of_the_copula_and_of_prepositions():
    doc = parsed("De knop is niet zichtbaar.")
    assert root(doc).text == "zichtbaar"
    assert word(doc, "is").dep_ == "cop"
    doc = parsed("U vindt de knop in het menu.")
    assert word(doc, "in").dep_ == "case"
    assert word(doc, "in").head.text == "menu"


def test_sentences_end_where_they_end():
    doc = parsed("Klik op Opslaan. De factuur staat nu in het overzicht. Wilt u de factuur versturen?")
    assert [len(sentence) > 1 for sentence in doc.sents] == [True, True, True]


def test_the_same_text_gives_the_same_parse():
    text = "U kunt de instellingen van de medewerker wijzigen als u beheerder bent."
    first, second = parsed(text), next(iter(pipeline().pipe([text])))
    assert [(t.lemma_, t.pos_, t.dep_, t.head.i) for t in first] == [
        (t.lemma_, t.pos_, t.dep_, t.head.i) for t in second
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "!!!", "x" * 1000, "🙂 👍", "**Opslaan**"])
def test_odd_texts_are_parsed(text):
    assert parsed(text).text == text
