"""The documents of the corpus: the same in both languages."""

from pathlib import Path

import pytest

from training.packed import read_lines
from training.rated.products import LANGUAGES, PRODUCTS

RATED = Path(__file__).parents[3] / "training" / "rated"
UNOPENED = {product.name for product in PRODUCTS if product.unopened}
PRODUCTS_WITH_DOCUMENTS = {path.name.split(".")[0] for path in (RATED / "documents").iterdir()}


def document_ids(product: str, language: str) -> list[str]:
    path = RATED / "documents" / f"{product}.{language}.jsonl.gz"
    return [line["document_id"] for line in read_lines(path)]


def test_kalarm_kexi_krusader_and_tellico_are_unopened():
    assert {"kalarm", "kexi", "krusader", "tellico"} == UNOPENED


@pytest.mark.parametrize("product", sorted(PRODUCTS_WITH_DOCUMENTS))
def test_both_languages_have_the_same_documents_in_the_same_order(product):
    nl, en = (document_ids(product, language) for language in LANGUAGES)
    assert nl == en
    assert len(set(en)) == len(en) >= 24
    assert all(each.startswith(f"{product}-") for each in en)
