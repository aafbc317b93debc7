import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.lexicon import (
    LexiconError,
    MessageTypePatterns,
    PhraseList,
    load_folder,
    load_lexicon,
    load_shipped,
)
from scoring.scorer.profile import profiles
from scoring.values.exchange import MessageType

SHIPPED = Path(__file__).parents[4] / "scoring" / "lexicon"


def test_dutch_and_english_are_shipped_and_know_all_types_but_unspecified():
    for lexicon in load_shipped().values():
        kinds = {patterns.type for patterns in lexicon.message_types}
        assert kinds == {"action", "error", "instruction", "reasoning", "general", "binary"}
    assert set(load_shipped()) == {"nl", "en"}


def test_the_features_have_the_same_lists_in_every_shipped_language():
    tables = [{name: set(lists) for name, lists in each.features.items()} for each in load_shipped().values()]
    assert all(table == tables[0] for table in tables)
    assert tables[0].keys() <= {feature.name for profile in profiles() for feature in profile.features}


NL = (SHIPPED / "nl.toml").read_text(encoding="utf-8")


def line_of(text, occurrence=0):
    """The number of the line of the shipped Dutch lexicon that holds a text."""
    return [n for n, line in enumerate(NL.split("\n"), 1) if text in line][occurrence]


def refusal(folder, content, name="nl.toml"):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LexiconError) as refused:
        load_lexicon(folder / name)
    assert "\n" not in str(refused.value)
    return str(refused.value)


STEPS = 'step_words = ["stap"]'
ACTION = 'type = "action"'
# What is changed, into what, the line that is named and the reason that is given.
WRONG = [
    ('language = "nl"', 'language = "en"', "language: 'en' is not the ISO 639-1 code that names the file"),
    ('language = "nl"', "language = 3", "language: is not a text"),
    ('language = "nl"', "language =", "is not TOML: Invalid value"),
    ('if_question = "binary"', 'if_question = "maybe"', "if_question: 'maybe' is not one of error"),
    ('if_question = "binary"', "if_question = true", "if_question: is not a text"),
    (STEPS, 'step_words = "stap"', "step_words: is not a list"),
    (STEPS, 'step_words = ["Stap"]', "step_words: 'Stap' is not lowercase"),
    (STEPS, 'step_words = ["een stap"]', "step_words: 'een stap' is not one plain word"),
    (STEPS, 'step_words = ["stap", "stap"]', "step_words: 'stap' is listed twice"),
    (STEPS, 'step_words = [""]', "step_words: '' is not a non-empty text"),
    (STEPS, "step_words = [1]", "step_words: 1 is not a non-empty text"),
    (STEPS, 'stepwords = ["stap"]', "stepwords: is not a key of a lexicon"),
    (STEPS, STEPS + " x", "is not TOML: Expected newline"),
    ('    "twee", "drie"', '    "twee en", "drie"', "numbers: 'twee en' is not one plain word"),
    ("numbers = [", "figures = [", "figures: is not a key of a lexicon"),
    (ACTION, 'kind = "action"', "kind: is not a key of a lexicon"),
    (ACTION, 'type = "command"', "type: 'command' is not one of error"),
    ("in_statements = true", 'in_statements = "yes"', "in_statements: is not true or false"),
    ('"^schrijf"', '"schr^ijf"', "phrases: 'schr^ijf' is not lowercase words"),
    ('"^schrijf"', '"^schrijf  het"', "phrases: '^schrijf  het' is not lowercase words"),
    ('"^schrijf"', '"sch*rijf"', "phrases: 'sch*rijf' is not lowercase words"),
    ('"^schrijf"', '"... schrijf"', "phrases: '... schrijf' is not lowercase words"),
    ('"^schrijf"', '"^^^schrijf"', "phrases: '^^^schrijf' is not lowercase words"),
    ('"^schrijf"', '" "', "phrases: ' ' is not a non-empty text"),
    ('"^schrijf"', '"^herschrijf"', "phrases: '^herschrijf' is listed twice"),
    ('"onbereikbaar"', '"melding", "melding"', "phrases: 'melding' is listed twice"),
    ("[features.complex_answer]", "[complexities]", "complexities: is not a key of a lexicon"),
    (
        "[features.complex_answer]",
        "[features.complexity]",
        "features.complexity: is not a key of a lexicon",
    ),
    ('decimal_sign = ","', 'decimal_sign = "-"', "decimal_sign: '-' is neither a point nor a comma"),
    ("day_first = true", 'day_first = "yes"', "day_first: is not true or false"),
    ('["mei"]', '["mei dag"]', "months: 'mei dag' is not one plain word"),
    ('["mei"]', '"mei"', "months: 'mei' is not a list"),
    ('24 = ["twee dozijn"', 'day = ["twee dozijn"', "day: 'day' is neither a number nor a fraction"),
    ("perspective = [", "perspectives = [", "perspectives: is not a key of a lexicon"),
]


@pytest.mark.parametrize(("old", "new", "reason"), WRONG, ids=[new for _, new, _ in WRONG])
def test_an_invalid_lexicon_is_refused_with_file_line_key_and_reason(tmp_path, old, new, reason):
    message = refusal(tmp_path, NL.replace(old, new, 1))
    file, line, why = message.split(": ", 2)
    assert (file, why[: len(reason)]) == ("nl.toml", reason)
    assert abs(int(line.removeprefix("line ")) - line_of(old)) <= (1 if "TOML" in reason else 0)


def test_a_value_is_found_in_its_own_list_and_not_in_an_earlier_one(tmp_path):
    text = NL.replace('"hoezo", "hoe kan dat"', '"hoezo", "hoezo", "hoe kan dat"')
    line = line_of('"hoezo"')
    assert refusal(tmp_path, text).startswith(f"nl.toml: line {line}: phrases: 'hoezo'")
    end = '"om welke reden",\n'
    assert end in NL
    twice_in_two_lines = NL.replace(end, f'{end}    "om welke reden",\n')
    line = line_of('"om welke reden"') + 1
    assert refusal(tmp_path, twice_in_two_lines).startswith(f"nl.toml: line {line}: except: 'om welke reden'")


def test_a_missing_key_is_named_with_the_line_of_its_section(tmp_path):
    assert refusal(tmp_path, NL.replace(f"{STEPS}\n", "", 1)) == "nl.toml: line 1: step_words: is missing"
    line = line_of("[[message_types]]")
    assert refusal(tmp_path, NL.replace(f"{ACTION}\n", "", 1)) == f"nl.toml: line {line}: type: is missing"


@pytest.mark.parametrize("section", ["refusal", "claims", "features", "message_types"])
def test_a_missing_section_is_named(tmp_path, section):
    marked = "\n" + NL
    parts = re.split(r"\n(?=\[)", marked)
    kept = [part for part in parts if not re.match(rf"\[+{section}", part)]
    assert len(kept) < len(parts)
    assert refusal(tmp_path, "\n".join(kept)) == f"nl.toml: line 1: {section}: is missing"


def test_a_lexicon_may_have_no_words_for_figures(tmp_path):
    start, end = NL.index("[figures]"), NL.index("[[message_types]]")
    (tmp_path / "nl.toml").write_text(NL[:start] + NL[end:], encoding="utf-8")
    assert load_lexicon(tmp_path / "nl.toml").figures is None


def test_a_year_has_twelve_months(tmp_path):
    message = refusal(tmp_path, NL.replace('["mei"], ', "", 1))
    assert message == f"nl.toml: line {line_of('months = [')}: months: has 11 groups, not 12"


def test_a_scale_that_is_no_power_of_ten_is_refused(tmp_path):
    line = line_of('3 = ["duizend"')
    message = refusal(tmp_path, NL.replace('3 = ["duizend"', '1000 = ["duizend"', 1))
    assert message == f"nl.toml: line {line}: 1000: '1000' is not a power of ten from 1 to 12"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "nl.toml: line 1: is not UTF-8: invalid start byte"),
        (b'language = "nl"\n\nstep_words = ["\xe9"]\n', "nl.toml: line 3: is not UTF-8: invalid"),
        (b"\x00", "nl.toml: line 1: is not TOML"),
        (b"a = [\n", "nl.toml: line 2: is not TOML"),
        (b"a = 1\na = 2\n", "nl.toml: line 2: is not TOML: Cannot overwrite a value"),
        (b"", "nl.toml: line 1: language: is missing"),
        (b"message_types = 3", "nl.toml: line 1: language: is missing"),
    ],
)
def test_invalid_toml_is_refused_with_its_line(tmp_path, content, message):
    assert refusal(tmp_path, content).startswith(message)


def test_message_types_that_are_no_tables_are_refused(tmp_path):
    text = NL[: NL.index("[[message_types]]")]
    assert (
        refusal(tmp_path, "message_types = [3]\n" + text) == "nl.toml: line 1: message_types: is not a table"
    )


def test_a_lexicon_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(LexiconError, match=r"^xx\.toml: No such file"):
        load_lexicon(tmp_path / "xx.toml")


def test_line_ends_and_byte_order_mark_of_windows_change_nothing(tmp_path):
    (tmp_path / "nl.toml").write_bytes(b"\xef\xbb\xbf" + NL.replace("\n", "\r\n").encode())
    assert load_lexicon(tmp_path / "nl.toml").function_words == load_shipped()["nl"].function_words


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(content):
    with tempfile.TemporaryDirectory() as folder:
        assert refusal(Path(folder), content).startswith("nl.toml: ")


@pytest.mark.parametrize(
    ("phrase", "words", "hits"),
    [
        ("what is", ["so", "what", "is", "it"], [(1, 3)]),
        ("mail*", ["a", "mailtje"], [(1, 2)]),
        ("vat * samen", ["vat", "dit", "samen"], [(0, 3)]),
        ("^can", ["can", "i", "can"], [(0, 1)]),
        ("*ing", ["a", "going"], [(1, 2)]),
        ("vat ... samen", ["vat", "dit", "kort", "samen"], [(0, 4)]),
        ("vat ... samen", ["vat", "samen"], [(0, 2)]),
        ("vat ... samen", ["vat", *"abcdefghi", "samen"], []),
        ("can ... no ... at all", ["can", "find", "no", "way", "at", "all"], [(0, 6)]),
        ("a ... b", ["a", "x", "b", "x", "b"], [(0, 3)]),
        ("if ...", ["if", "a", "b"], [(0, 3)]),
        ("^^can", ["can", "can"], [(0, 1)]),
        ("is", ["this"], []),
        ("what is", ["what", "isn't"], []),
    ],
)
def test_phrases_match_whole_words_endings_and_clause_starts(phrase, words, hits):
    assert list(PhraseList([phrase]).find(words, {0})) == hits


def test_a_gap_ends_with_its_clause():
    words = ["if", "a", "then", "b"]
    assert list(PhraseList(["if ... b"]).find(words, {0, 2})) == []
    assert list(PhraseList(["if ..."]).find(words, {0, 2})) == [(0, 2)]


def test_a_hit_within_an_exception_is_none():
    patterns = MessageTypePatterns(MessageType.GENERAL, PhraseList(["what", "how"]), PhraseList(["what now"]))
    assert list(patterns.hits(["what", "now", "what", "how"], ())) == [(2, 3), (3, 4)]


def test_an_empty_list_matches_nothing():
    assert not PhraseList([]).occurs(["a"])


@given(st.lists(st.sampled_from(["a", "b", "ab"])), st.sets(st.integers(0, 8)))
def test_every_hit_is_a_range_of_words(words, starts):
    for first, last in PhraseList(["a b", "^ab", "b*", "a ... b", "^^b ..."]).find(words, starts):
        assert 0 <= first < last <= len(words)


def test_a_folder_of_lexicons_is_read_and_replaces_those_of_the_package(tmp_path):
    own = NL.replace('if_statement = "unspecified"', 'if_statement = "reasoning"')
    (tmp_path / "nl.toml").write_text(own, encoding="utf-8")
    (tmp_path / "README").write_text("no lexicon")
    assert list(load_folder(tmp_path)) == ["nl"]
    exchange = Exchange("Een boterham", "Lekker.", (Passage("d", "Klik op Opslaan."),), "nl")
    for options, kind in ((ScorerOptions(), "unspecified"), (ScorerOptions(lexicons=tmp_path), "reasoning")):
        assert Scorer(options=options).score(exchange).message_type == kind


def test_an_empty_or_missing_folder_is_refused(tmp_path):
    for folder, reason in ((tmp_path, "holds no lexicon"), (tmp_path / "nowhere", "No such file")):
        with pytest.raises(LexiconError, match=reason):
            load_folder(folder)


@pytest.mark.parametrize("plural", ["invoices", "pages", "addresses", "drafts", "files"])
def test_english_plurals_have_the_stem_of_their_singular(plural):
    stem = load_shipped()["en"].stem
    singular = plural.removesuffix("es") if plural == "addresses" else plural.removesuffix("s")
    assert stem(plural) == stem(singular)
