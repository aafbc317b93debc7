"""Company terms are the words that documents use far more than the language at large, and stay in step."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.company_terms import (
    CompanyTerms,
    CompanyTermsError,
    LanguageTerms,
    WatchedTermsFile,
    load_terms,
    save_terms,
)
from scoring.company_terms.term_extraction import (
    MAX_CANDIDATES,
    MIN_DOCUMENT_FREQUENCY,
    GeneralWordFrequencies,
    LanguageCounts,
    WordCounts,
    count_words,
    extract_terms,
)
from scoring.text.prepared_text import split_words
from tests.support.clock import Clock

TERMS = CompanyTerms(
    {"nl": LanguageTerms(3, {"verzuim": 2, "loonstrook": 5, "verlof": 1}), "en": LanguageTerms(1, {"a": 1})}
)
GENERAL = GeneralWordFrequencies()

WORDS = st.sampled_from(["payslip", "leave", "the", "Kantora", "é", "l'heure", "2026", "x", "", "\n"])
DOCUMENTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(st.sampled_from(["nl", "en"]), st.lists(WORDS, max_size=8).map(" ".join)),
)


def counted(documents):
    counts = WordCounts()
    for document_id, (language, text) in documents:
        counts.put(document_id, language, text)
    return counts


@given(DOCUMENTS, st.randoms())
def test_the_order_of_documents_does_not_matter(documents, chance):
    shuffled = list(documents.items())
    chance.shuffle(shuffled)
    assert counted(shuffled).languages == counted(documents.items()).languages


@given(DOCUMENTS, st.sampled_from(["nl", "en"]), st.lists(WORDS).map(" ".join))
def test_taking_a_document_out_undoes_putting_it_in(documents, language, text):
    counts = counted(documents.items())
    counts.put("new", language, text)
    counts.remove("new")
    assert counts.languages == counted(documents.items()).languages
    assert counts.document_ids == documents.keys()


@given(DOCUMENTS, DOCUMENTS)
def test_a_new_version_takes_the_place_of_the_old_one(old, new):
    counts = counted([*old.items(), *new.items()])
    assert counts.languages == counted({**old, **new}.items()).languages


@given(DOCUMENTS, st.lists(st.sampled_from("abcdz")))
def test_removing_documents_leaves_those_that_were_not_removed(documents, gone):
    counts = counted(documents.items())
    for document_id in gone:
        counts.remove(document_id)
    kept = {key: value for key, value in documents.items() if key not in gone}
    assert counts.languages == counted(kept.items()).languages


def test_numbers_addresses_and_single_letters_are_not_counted():
    text = (
        "Ask a.b@shop.example, <mailto:x@y.example> or [us](https://shop.example/help?q=a) by E-123 at 9:30 a"
    )
    assert dict(count_words(text)) == {"ask": 1, "or": 1, "us": 1, "by": 1, "at": 1}


def test_quotes_are_no_part_of_a_word_and_apostrophes_are():
    assert dict(count_words("'leave' and l'heure's 'payslip'")) == {
        "leave": 1,
        "and": 1,
        "l'heure's": 1,
        "payslip": 1,
    }


@given(st.text() | st.lists(WORDS).map(" ".join))
def test_words_are_those_that_an_answer_is_split_into(text):
    split = {word.text for word in split_words(text)}
    assert count_words(text).keys() <= split


def test_a_word_without_end_is_not_counted_and_costs_little():
    assert not count_words("a" * 100_000)


def counts_of(documents, occurrences, spread=MIN_DOCUMENT_FREQUENCY):
    counts = LanguageCounts(documents)
    counts.occurrences.update(occurrences)
    counts.document_frequency.update(dict.fromkeys(occurrences, spread))
    return counts


def test_what_documents_use_much_more_than_the_language_at_large_is_a_term():
    usual = {"the": 600, "to": 300, "of": 300, "and": 300, "in": 200, "house": 1}
    counts = counts_of(20, {**usual, "payroll": 20, "kantora": 10, "table": 40})
    assert extract_terms({"en": counts}, GENERAL).languages["en"].counts == {
        "payroll": 20,
        "kantora": 10,
        "table": 40,
    }


def test_a_word_of_one_document_alone_is_no_term():
    counts = counts_of(20, {"kantora": 50})
    counts.occurrences["jansens"], counts.document_frequency["jansens"] = 30, 1
    assert set(extract_terms({"nl": counts}, GENERAL).languages["nl"].counts) == {"kantora"}


def test_a_language_with_too_few_documents_or_without_a_list_has_no_terms():
    counts = {"en": counts_of(19, {"kantora": 50}), "sw": counts_of(40, {"kantora": 50})}
    assert extract_terms(counts, GENERAL) == CompanyTerms()
    assert extract_terms(counts, GENERAL, min_documents=19).for_language("en") == {"kantora"}


def test_only_the_most_frequent_words_are_looked_at():
    occurrences = {
        f"{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}zq{n // 100:03}x": 3
        for n in range(MAX_CANDIDATES)
    }
    counts = counts_of(20, {**occurrences, "kantora": 2})
    assert "kantora" not in extract_terms({"en": counts}, GENERAL).languages["en"].counts
    counts.occurrences["kantora"] = 4
    assert "kantora" in extract_terms({"en": counts}, GENERAL).languages["en"].counts


def test_frequencies_of_the_language_at_large_are_those_of_the_list_whatever_was_asked_before():
    general = GeneralWordFrequencies()
    assert general.frequencies("en", ["the"])["the"] == pytest.approx(0.0537, rel=0.01)
    assert general.frequencies("en", ["the", "kantora"]) == GENERAL.frequencies("en", ["kantora", "the"])
    assert general.frequencies("en", ["kantora"]) == {"kantora": 0}
    assert general.frequencies("af", ["huis"]) is None


def test_terms_survive_the_file_and_the_same_terms_are_the_same_bytes(tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    reversed_terms = CompanyTerms(
        {
            code: LanguageTerms(t.documents, dict(reversed(t.counts.items())))
            for code, t in reversed(TERMS.languages.items())
        }
    )
    save_terms(TERMS, one)
    save_terms(reversed_terms, two)
    assert load_terms(one) == TERMS
    assert one.read_bytes() == two.read_bytes()
    assert load_terms(one).version == json.loads(one.read_text("utf-8"))["version"]
    assert {path.name for path in tmp_path.iterdir()} == {"one.json", "two.json"}


def test_another_count_is_another_version():
    one, two = (CompanyTerms({"nl": LanguageTerms(3, {"loonstrook": count})}) for count in (1, 2))
    assert one.version != two.version


def test_terms_may_be_taken_out_by_hand(tmp_path):
    path = tmp_path / "terms.json"
    save_terms(TERMS, path)
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if "loonstrook" not in line), "utf-8")
    assert load_terms(path).for_language("nl") == {"verlof", "verzuim"}


GOOD = {"format": 1, "version": "x", "languages": {"nl": {"documents": 3, "terms": {"loonstrook": 5}}}}


def wrong(**changes):
    return json.dumps({**GOOD, **changes})


def wrong_language(table):
    return wrong(languages={"nl": table})


INVALID = [
    ('{\n"format":\n}', "the file: Invalid JSON: expected value at line 3"),
    ("[]", "the file: Input should be an object"),
    ("{}", "format: Field required"),
    (wrong(more=1), "more: Extra inputs are not permitted"),
    (wrong(format=2), "format: Input should be 1"),
    (wrong(languages={"NL": {}}), "languages.NL.[key]: String should match pattern"),
    (wrong_language({"documents": 0, "terms": {}}), "languages.nl.documents: Input should be greater"),
    (wrong_language({"documents": True, "terms": {}}), "languages.nl.documents: Input should be a valid"),
    (wrong_language({"documents": 1, "terms": {"A": 1}}), "terms.A.[key]: is not a word in small letters"),
    (wrong_language({"documents": 1, "terms": {" ": 1}}), "is not a word in small letters"),
    (wrong_language({"documents": 1, "terms": {"a": "1"}}), "languages.nl.terms.a: Input should be a valid"),
]


@pytest.mark.parametrize(("text", "reason"), INVALID)
def test_an_invalid_file_is_refused_by_name_field_and_reason(tmp_path, text, reason):
    path = tmp_path / "terms.json"
    path.write_text(text)
    with pytest.raises(CompanyTermsError) as caught:
        load_terms(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


KEYS = st.sampled_from(["format", "version", "languages", "nl", "documents", "terms", "x"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_content_of_a_file_raises_anything_else(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("terms") / "terms.json"
    path.write_bytes(content)
    with pytest.raises(CompanyTermsError):
        load_terms(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "terms.json"
    save_terms(TERMS, path)
    with pytest.raises(UnicodeEncodeError):
        save_terms(CompanyTerms({"nl": LanguageTerms(1, {"\ud800": 1})}), path)
    assert load_terms(path) == TERMS
    assert list(tmp_path.iterdir()) == [path]


def test_a_watched_file_is_read_again_when_it_changes_but_not_looked_at_all_the_time(tmp_path):
    path, clock = tmp_path / "terms.json", Clock()
    watched = WatchedTermsFile(path, check_interval_seconds=5, clock=clock)
    assert watched.for_language("nl") is None
    save_terms(TERMS, path)
    assert watched.for_language("nl") is None
    clock.now += 5
    assert watched.for_language("nl") == {"verzuim", "verlof", "loonstrook"}
    save_terms(CompanyTerms({"nl": LanguageTerms(1, {"nieuw": 1})}), path)
    clock.now += 5
    assert watched.for_language("nl") == {"nieuw"}


def test_a_broken_or_missing_file_leaves_the_last_good_terms_in_use(tmp_path):
    path, clock = tmp_path / "terms.json", Clock()
    watched = WatchedTermsFile(path, check_interval_seconds=5, clock=clock)
    save_terms(TERMS, path)
    assert watched.terms == TERMS
    path.write_text("{", "utf-8")
    clock.now += 5
    assert watched.terms == TERMS
    assert "Invalid JSON" in str(watched.error)
    path.unlink()
    clock.now += 5
    assert watched.terms == TERMS
    assert watched.error is None
    save_terms(CompanyTerms(), path)
    clock.now += 5
    assert watched.for_language("nl") is None


def test_reading_terms_does_not_load_the_lists_of_the_general_language():
    code = "import sys, scoring.company_terms; sys.exit('wordfreq' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
