"""Missing words are counted against the mistakes of rated answers."""

from scoring.values.checked_claims import CheckedClaim, ClaimStatus
from training.rated.missing_words import Found, found


def test_missing_words_are_compared_with_the_mistakes_but_harmless_ones() -> None:
    answer = "It costs 50 euros. Ask Karel. It is nice. It is blue."
    kinds = {
        "50 euros": "number",
        "It is nice": "harmless_addition",
        "blue": "contradiction",
        "gone": "number",
    }
    line = {"answer": answer, "mistakes": [{"words": words, "kind": kind} for words, kind in kinds.items()]}
    claims = [
        CheckedClaim("It costs 50 euros", 0, 17, ClaimStatus.SIMILAR, lacking=((9, 11),)),
        CheckedClaim("Ask Karel", 19, 28, ClaimStatus.SIMILAR, lacking=((23, 28),)),
        CheckedClaim("It is blue", 42, 52, ClaimStatus.NOT_FOUND),
    ]
    assert found(line, claims) == Found(spans=2, right=1, mistakes=2, marked=1, seen=2)
    assert found(line, claims[:2]) + found(line, ()) == Found(2, 1, 4, 1, 1)
