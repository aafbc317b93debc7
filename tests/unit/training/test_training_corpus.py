"""What the Dutch pipeline learns from: gold lemmas as whole words, silver trees that can be trusted."""

from spacy.vocab import Vocab

from training.corpus import documents, read_gold, read_silver, to_doc
from training.prompts import prompts
from training.tree import Sentence, UdWord

GOLD = """\
# text = Vul de basisniveaus in.
1\tVul\tin_vullen\tVERB\tWW|pv|tgw|ev\t_\t0\troot\t_\t_
2\tde\tde\tDET\tLID|bep|stan|rest\t_\t3\tdet\t_\t_
3\tbasisniveaus\tbasis_niveau\tNOUN\tN|soort|mv|basis\t_\t1\tobj\t_\t_
4\tin\tin\tADP\tVZ|fin\t_\t1\tcompound:prt\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\tLET\t_\t1\tpunct\t_\tSpaceAfter=No

1\tIngevulde\tin_vullen\tVERB\tWW|vd|prenom|met-e\t_\t3\tamod\t_\t_
2\ttweede\ttwee\tADJ\tTW|rang|prenom|stan\t_\t3\tamod\t_\t_
3\tvrouwentoernooien\tvrouw_toernooi\tNOUN\tN|soort|mv|basis\t_\t0\troot\t_\t_

"""


def frog(*rows: str) -> str:
    """Frog's columns from "text lemma tag head label"."""
    lines = []
    for number, row in enumerate(rows, 1):
        text, lemma, tag, head, label = row.split()
        lines.append("\t".join([str(number), text, lemma, "", tag, "0.9", "", "", "", "", head, label]))
    return "\n".join(lines) + "\n\n"


def test_lemmas_of_compounds_become_words_with_their_linking_sounds(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD, encoding="utf-8")
    first, second = read_gold(path)
    assert first.text == "Vul de basisniveaus in."
    assert [word.lemma for word in first.words] == ["vullen", "de", "basisniveau", "in", "."]
    assert [word.lemma for word in second.words] == ["invullen", "tweede", "vrouwentoernooi"]


def test_silver_sentences_come_once_and_without_those_that_frog_took_apart(tmp_path):
    good = frog("Klik klikken WW(pv,tgw,ev) 0 ROOT", "hier hier BW() 1 mod", ". . LET() 2 punct")
    noun_for_verb = frog("Voer voer N(soort,ev,basis,onz,stan) 0 ROOT", "de de LID(bep,stan,rest) 1 det")
    no_tree = frog(*(f"{word} {word} N(soort,ev,basis,onz,stan) 0 ROOT" for word in ("a", "b", "c")))
    path = tmp_path / "frog.tsv"
    path.write_text(good + noun_for_verb + no_tree + good, encoding="utf-8")
    assert [sentence.text for sentence in read_silver([path])] == ["Klik hier."]


def test_the_grammar_says_the_same_for_the_same_seed_and_makes_trees():
    assert list(prompts(50, 7)) == list(prompts(50, 7))
    for sentence in prompts(300, 7):
        doc = to_doc(sentence, Vocab())
        assert doc.text.strip() == sentence.text
        assert [token.dep_ for token in doc].count("ROOT") == 1
        assert all(token.lemma_ and token.pos_ for token in doc)


def test_documents_hold_every_sentence_in_order():
    words = (UdWord("Klik", "klikken", "VERB", -1, "root"), UdWord("hier", "hier", "ADV", 0, "advmod"))
    docs = documents([Sentence("Klik hier", words)] * 20, Vocab(), seed=0)
    assert sum(len(list(doc.sents)) for doc in docs) == 20
    assert max(len(list(doc.sents)) for doc in docs) > 1
