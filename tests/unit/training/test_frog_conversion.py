"""Frog's trees become Universal Dependencies: content words are heads, function words depend on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.conversion import convert
from training.frog import FrogToken, read_frog
from training.tags import upos

PV, INF, VD = "WW(pv,tgw,ev)", "WW(inf,vrij,zonder)", "WW(vd,vrij,zonder)"
NOUN, NAME = "N(soort,ev,basis,zijd,stan)", "SPEC(deeleigen)"
DET, PREP, PUNCT = "LID(bep,stan,rest)", "VZ(init)", "LET()"
AND, THAT = "VG(neven)", "VG(onder)"
I_TAG = "VNW(pers,pron,nomin,vol,1,ev)"

KLIK = (
    "1\tKlik\tklikken\t\tWW(pv,tgw,ev)\t0.9\t\t\t\t\t0\tROOT\n"
    "2\top\top\t\tVZ(init)\t0.9\t\t\t\t\t1\tpc\n"
    "3\tOpslaan\topslaan\t\tWW(inf,vrij,zonder)\t0.6\t\t\t\t\t2\tobj1\n"
    "4\t.\t.\t\tLET()\t1.0\t\t\t\t\t3\tpunct\n"
)
UNIT = (
    "1\tdoor_middel_van\tdoor_middel_van\t\tVZ(init)_N(soort,ev,basis,onz,stan)_VZ(init)\t0.9\t\t\t\t\t0\tROOT\n"
    "2\tGNU_Help\tGNU_Help\t\tSPEC(deeleigen)_SPEC(deeleigen)\t0.9\t\t\t\t\t1\tobj1\n"
)


def tokens(*rows: tuple[str, str, str, int, str]) -> tuple[FrogToken, ...]:
    """Text, lemma, tag, head counted from 1 as in Frog's columns, and label."""
    return tuple(FrogToken(text, lemma, tag, head - 1, label) for text, lemma, tag, head, label in rows)


def relations(sentence: tuple[FrogToken, ...]) -> dict[str, tuple[str, str]]:
    """For each word its relation and its head's text."""
    words = convert(sentence)
    assert words is not None
    return {word.text: (word.dep, words[word.head].text if word.head >= 0 else "") for word in words}


def test_columns_are_read():
    (sentence,) = read_frog(KLIK.splitlines())
    assert sentence[1] == FrogToken("op", "op", "VZ(init)", 0, "pc")
    assert [token.head for token in sentence] == [-1, 0, 1, 2]


def test_sentences_are_told_apart_by_empty_lines():
    assert len(list(read_frog([*KLIK.splitlines(), "", *KLIK.splitlines(), ""]))) == 2


def test_a_unit_of_several_words_is_split():
    (sentence,) = read_frog(UNIT.splitlines())
    assert [(token.text, token.head, token.label) for token in sentence] == [
        ("door", -1, "ROOT"),
        ("middel", 0, "fixed"),
        ("van", 0, "fixed"),
        ("GNU", 0, "obj1"),
        ("Help", 3, "flat"),
    ]


def test_an_underscore_of_the_text_splits_nothing():
    row = "1\tmijn_bestand\tmijn_bestand\t\tN(soort,ev,basis,onz,stan)\t0.9\t\t\t\t\t0\tROOT"
    (sentence,) = read_frog([row])
    assert [token.text for token in sentence] == ["mijn_bestand"]


def test_a_preposition_depends_on_its_noun():
    (sentence,) = read_frog(KLIK.splitlines())
    assert relations(sentence) == {
        "Klik": ("root", ""),
        "op": ("case", "Opslaan"),
        "Opslaan": ("obl:arg", "Klik"),
        ".": ("punct", "Klik"),
    }


def test_an_auxiliary_depends_on_its_verb_and_leaves_it_the_subject():
    found = relations(
        tokens(
            ("De", "de", DET, 2, "det"),
            ("factuur", "factuur", NOUN, 3, "su"),
            ("kan", "kunnen", PV, 0, "ROOT"),
            ("worden", "worden", INF, 3, "vc"),
            ("gewijzigd", "wijzigen", VD, 4, "vc"),
        )
    )
    assert found["gewijzigd"] == ("root", "")
    assert found["kan"] == ("aux", "gewijzigd")
    assert found["worden"] == ("aux:pass", "gewijzigd")
    assert found["factuur"] == ("nsubj:pass", "gewijzigd")


def test_an_auxiliary_is_tagged_as_one_and_a_verb_of_its_own_is_not():
    sentence = tokens(
        ("Ik", "ik", I_TAG, 2, "su"),
        ("heb", "hebben", PV, 0, "ROOT"),
        ("betaald", "betalen", VD, 2, "vc"),
    )
    assert [word.pos for word in convert(sentence) or ()] == ["PRON", "AUX", "VERB"]
    assert [word.pos for word in convert(sentence[:2]) or ()] == ["PRON", "VERB"]


def test_a_perfect_with_zijn_is_no_passive():
    found = relations(
        tokens(
            ("Ik", "ik", I_TAG, 2, "su"),
            ("ben", "zijn", PV, 0, "ROOT"),
            ("begonnen", "beginnen", VD, 2, "vc"),
        )
    )
    assert found["ben"] == ("aux", "begonnen")
    assert found["Ik"] == ("nsubj", "begonnen")


def test_the_predicate_is_head_of_the_copula():
    found = relations(
        tokens(
            ("De", "de", DET, 2, "det"),
            ("knop", "knop", NOUN, 3, "su"),
            ("is", "zijn", PV, 0, "ROOT"),
            ("niet", "niet", "BW()", 3, "mod"),
            ("zichtbaar", "zichtbaar", "ADJ(vrij,basis,zonder)", 3, "predc"),
        )
    )
    assert found["zichtbaar"] == ("root", "")
    assert found["is"] == ("cop", "zichtbaar")
    assert found["knop"] == ("nsubj", "zichtbaar")
    assert found["niet"] == ("advmod", "zichtbaar")


def test_the_first_conjunct_is_head_and_the_conjunction_belongs_to_the_next():
    found = relations(
        tokens(
            ("Open", "openen", PV, 3, "cnj"),
            ("bestanden", "bestand", "N(soort,mv,basis)", 1, "obj1"),
            ("en", "en", AND, 0, "ROOT"),
            ("kies", "kiezen", PV, 3, "cnj"),
        )
    )
    assert found["Open"] == ("root", "")
    assert found["kies"] == ("conj", "Open")
    assert found["en"] == ("cc", "kies")


def test_a_conjunction_that_opens_a_clause_is_its_marker():
    found = relations(
        tokens(
            ("Als", "als", THAT, 4, "mod"),
            ("u", "u", I_TAG, 3, "su"),
            ("klikt", "klikken", "WW(pv,tgw,met-t)", 1, "body"),
            ("sluit", "sluiten", "WW(pv,tgw,met-t)", 0, "ROOT"),
            ("het", "het", DET, 6, "det"),
            ("venster", "venster", NOUN, 4, "su"),
        )
    )
    assert found["Als"] == ("mark", "klikt")
    assert found["klikt"] == ("advcl", "sluit")
    assert found["venster"] == ("nsubj", "sluit")


def test_the_verb_of_a_relative_clause_depends_on_the_noun():
    found = relations(
        tokens(
            ("bestanden", "bestand", "N(soort,mv,basis)", 0, "ROOT"),
            ("die", "die", "VNW(betr,pron,stan,vol,persoon,getal)", 1, "mod"),
            ("ik", "ik", I_TAG, 4, "su"),
            ("bewaar", "bewaren", PV, 2, "body"),
        )
    )
    assert found["bewaar"] == ("acl:relcl", "bestanden")
    assert found["die"] == ("obj", "bewaar")


def test_om_and_te_mark_the_infinitive_even_where_frog_took_om_for_a_preposition():
    found = relations(
        tokens(
            ("Klik", "klikken", PV, 0, "ROOT"),
            ("om", "om", PREP, 1, "mod"),
            ("mappen", "map", "N(soort,mv,basis)", 2, "obj1"),
            ("te", "te", PREP, 3, "mod"),
            ("maken", "maken", INF, 4, "body"),
        )
    )
    assert found["om"] == ("mark", "maken")
    assert found["te"] == ("mark", "maken")
    assert found["mappen"] == ("obj", "maken")
    assert found["maken"] == ("advcl", "Klik")


def test_of_two_subjects_the_pronoun_in_the_nominative_stays_one():
    found = relations(
        tokens(
            ("Hoe", "hoe", "BW()", 0, "ROOT"),
            ("maak", "maken", PV, 0, "ROOT"),
            ("ik", "ik", I_TAG, 2, "su"),
            ("een", "een", "LID(onbep,stan,agr)", 5, "det"),
            ("factuur", "factuur", NOUN, 2, "su"),
            ("?", "?", PUNCT, 5, "punct"),
        )
    )
    assert found == {
        "Hoe": ("advmod", "maak"),
        "maak": ("root", ""),
        "ik": ("nsubj", "maak"),
        "een": ("det", "factuur"),
        "factuur": ("obj", "maak"),
        "?": ("punct", "maak"),
    }


def test_what_an_imperative_governs_is_no_subject():
    found = relations(tokens(("Kies", "kiezen", PV, 0, "ROOT"), ("Bestand", "bestand", NOUN, 1, "su")))
    assert found["Bestand"] == ("obj", "Kies")


def test_the_object_goes_to_the_infinitive_that_governs_it():
    found = relations(
        tokens(
            ("Ik", "ik", I_TAG, 2, "su"),
            ("wil", "willen", PV, 0, "ROOT"),
            ("foto's", "foto", "N(soort,mv,basis)", 2, "obj1"),
            ("bewaren", "bewaren", INF, 2, "vc"),
        )
    )
    assert found["bewaren"] == ("xcomp", "wil")
    assert found["foto's"] == ("obj", "bewaren")


def test_a_particle_apart_is_one_word_with_its_verb():
    found = relations(
        tokens(
            ("Vul", "vullen", PV, 0, "ROOT"),
            ("bedragen", "bedrag", "N(soort,mv,basis)", 1, "obj1"),
            ("in", "in", "VZ(fin)", 1, "svp"),
        )
    )
    assert found["in"] == ("compound:prt", "Vul")


def test_punctuation_alone_is_no_tree():
    assert convert(tokens(("-", "-", PUNCT, 0, "ROOT"))) is None


@pytest.mark.parametrize(
    ("tag", "part_of_speech"),
    [
        ("N(eigen,ev,basis,zijd,stan)", "PROPN"),
        ("SPEC(vreemd)", "X"),
        ("TW(hoofd,vrij)", "NUM"),
        ("VNW(bez,det,stan,vol,2,getal,prenom,zonder,agr)", "PRON"),
        ("VNW(aanw,det,stan,prenom,met-e,rest)", "DET"),
        ("VNW(aanw,adv-pron,stan,red,3,getal)", "ADV"),
        ("VG(onder)", "SCONJ"),
        ("", "X"),
    ],
)
def test_tags_become_universal_parts_of_speech(tag, part_of_speech):
    assert upos(tag) == part_of_speech


def test_heads_that_run_in_a_circle_are_no_tree():
    adjective, noun = "ADJ(prenom,basis,zonder)", "N(soort,ev,basis,zijd,stan)"
    rows = (("vrije", "vrij", adjective, 0, "ROOT"), ("factuur", "factuur", noun, 2, "ROOT"))
    assert convert(tokens(*rows)) is None


LABELS = ["ROOT", "su", "obj1", "mod", "det", "vc", "cnj", "body", "predc", "pc", "svp", "punct", "None"]
TAGS = [PV, INF, VD, NOUN, NAME, DET, PREP, PUNCT, AND, THAT, I_TAG, "BW()", "ADJ(prenom,basis,zonder)"]
WORDS = ["zijn", "kunnen", "willen", "klikken", "te", "om", "factuur", "als"]


@given(
    st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS), st.integers(0, 9), st.sampled_from(LABELS)),
        min_size=1,
        max_size=9,
    )
)
def test_whatever_the_parser_gives_the_result_is_a_tree_or_nothing(rows):
    rows = [(word, word, tag, min(head, len(rows)), label) for word, tag, head, label in rows]
    words = convert(tokens(*rows))
    if words is None:
        return
    assert sum(word.head == -1 for word in words) == 1
    for start in range(len(words)):
        node, steps = start, 0
        while words[node].head != -1:
            node, steps = words[node].head, steps + 1
            assert steps < len(words)
