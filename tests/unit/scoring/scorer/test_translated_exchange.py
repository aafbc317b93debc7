from dataclasses import replace

import pytest

from scoring import Exchange, Passage, PublishedDocument, Scorer
from scoring.text.prepared_text import TranslationSource
from scoring.text.spans import original_spans
from scoring.values.exchange import Segment, TranslatedText, Translation
from tests.unit.scoring.scoring_support import judged

SCORER, PAPER = Scorer(), Scorer("paper")
QUESTION = "Hoe vraag ik verlof aan?", "How do I request leave?"
ANSWER = [
    ("De medewerker opent het portaal.", "The employee opens the portal."),
    ("De klant keurt het verlof goed.", "The customer approves the leave."),
]
DOCUMENT = [
    ("De medewerker opent het portaal en vraagt verlof aan.", "The employee opens the portal."),
    ("De manager keurt het verlof goed.", "The manager approves the leave."),
]
GUIDE = [
    ("# Verlof aanvragen", "# Requesting leave"),
    ("1. Open het portaal.", "1. Open the portal."),
    ("2. Klik op **Opslaan**.", "2. Click **Save**."),
]
EXCHANGE = Exchange(
    QUESTION[0],
    "\n".join(line for line, _ in ANSWER),
    (Passage("verlof", "\n".join(line for line, _ in DOCUMENT)),),
    "nl",
)


def translated(lines):
    text, segments, start, translated_start = "", [], 0, 0
    for original, english in lines:
        text += f"{english}\n"
        segments.append(
            Segment(start, start + len(original), translated_start, translated_start + len(english))
        )
        start += len(original) + 1
        translated_start += len(english) + 1
    return TranslatedText(text[:-1], tuple(segments))


def in_english(answer=ANSWER, document=DOCUMENT):
    return Translation(translated([QUESTION]), translated(answer), (translated(document),))


def feature(judgement, name):
    return next(value for value in judgement.features if value.name == name)


def test_three_features_measure_the_translation_and_quote_the_original():
    judgement = judged(PAPER, replace(EXCHANGE, translation=in_english()))
    assert judgement.translated
    subjects = feature(judgement, "subject_combination")
    assert subjects.value == 0.5
    assert [evidence.text for evidence in subjects.evidence] == ["De klant keurt het verlof goed."]


def test_the_other_features_measure_what_came():
    native, translated = (judged(PAPER, replace(EXCHANGE, translation=t)) for t in (None, in_english()))
    assert not native.translated
    for name in ("components_defined", "complex_answer", "prompt_overlap"):
        assert feature(native, name) == feature(translated, name)


def test_all_evidence_lies_in_the_answer_as_it_came():
    judgement = judged(SCORER, replace(EXCHANGE, translation=in_english()))
    for value in judgement.features:
        for evidence in value.evidence:
            assert EXCHANGE.answer[evidence.start : evidence.end] == evidence.text


def test_only_what_came_can_be_a_quotation():
    lines = GUIDE[1:]
    guide = "\n".join(line for line, _ in lines)
    document = "\n".join(line for line, _ in GUIDE)
    published = (PublishedDocument("verlof", "nl", "Een dag verlof aanvragen", guide, auto_send=True),)
    context = (Passage("verlof", document),)
    exchange = Exchange(
        "Hoe kan ik een dag verlof aanvragen?", guide, context, "nl", in_english(lines, GUIDE), published
    )
    assert judged(SCORER, exchange).decision == "auto_send"
    changed = replace(exchange, answer=guide.replace("Open", "Sluit"))
    assert judged(SCORER, changed).decision != "auto_send"


def test_a_language_that_cannot_be_read_is_judged_by_its_translation_but_never_as_a_quotation():
    german = [("# Urlaub", "# Leave"), ("1. Öffnen Sie das Portal.", "1. Open the portal.")]
    german.append(("2. Klicken Sie auf **Speichern**.", "2. Click **Save**."))
    lines = german[1:]
    exchange = Exchange(
        "Wie beantrage ich Urlaub?",
        "\n".join(line for line, _ in lines),
        (Passage("urlaub", "\n".join(line for line, _ in german)),),
        "de",
        in_english(lines, german),
    )
    judgement = judged(SCORER, exchange)
    assert (judgement.language, judgement.translated, judgement.decision) == ("de", True, "review")
    assert judgement.score is not None
    assert "language_unsupported" not in judgement.degraded
    without = judged(SCORER, replace(exchange, translation=None))
    assert (without.score, without.degraded) == (None, ("language_unsupported",))


def test_an_answer_whose_translation_is_the_section_of_a_document_is_not_sent_for_it():
    heading, body = (
        "Delete a draft invoice",
        "1. Open the list of drafts.\n2. Choose **Delete** and confirm that you want this.",
    )
    asked = "How do I delete a draft invoice?"
    page = f"# {heading}\n\n{body}"
    published = (PublishedDocument("d", "en", heading, page, auto_send=True),)
    english = Exchange(asked, body, (Passage("d", page),), "en", published_documents=published)
    assert judged(SCORER, english).decision == "auto_send"
    said = [("Rechnungsentwürfe dürfen Sie entfernen.", body)]
    question = ("Wie kann ich einen Rechnungsentwurf löschen?", asked)
    document = translated([("Ein Rechnungsentwurf lässt sich löschen.", page)])
    german = replace(
        english,
        question=question[0],
        answer=said[0][0],
        context=(Passage("d", "Ein Rechnungsentwurf lässt sich löschen."),),
        language="de",
        translation=Translation(translated([question]), translated(said), (document,)),
    )
    judgement = judged(SCORER, german)
    assert judgement.decision == "review"
    assert feature(judgement, "verbatim_document").value is None


def test_a_translation_of_other_passages_is_refused():
    wrong = replace(in_english(), context=())
    with pytest.raises(ValueError, match="shorter"):
        judged(SCORER, replace(EXCHANGE, translation=wrong))


def test_a_span_is_mapped_to_the_segments_it_touches_each_once():
    source = TranslationSource(
        "Een. Twee. Drie.", (Segment(0, 4, 0, 4), Segment(4, 10, 5, 9), Segment(10, 16, 10, 16))
    )
    spans = [(1, 3), (0, 2), (2, 7), (16, 20), (4, 5)]
    assert [source.text[start:end] for start, end in original_spans(source, spans)] == ["Een.", "Een. Twee."]


def test_segments_beyond_the_original_yield_nothing():
    assert list(original_spans(TranslationSource("Een.", (Segment(9, 12, 0, 4),)), [(0, 3)])) == []
