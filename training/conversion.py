"""From Frog's dependency trees to Universal Dependencies: content words become heads.

Frog follows the Corpus Gesproken Nederlands: auxiliaries, the copula, prepositions, conjunctions
and relative pronouns are heads there. Each step below lifts the content word over one of them;
`relations` then names what is left. Source: the guidelines of Universal Dependencies, version 2,
as the treebanks Alpino and LassySmall apply them to Dutch.
"""

from collections.abc import Sequence

from training.frog import FrogToken
from training.punctuation import attach_punctuation
from training.relations import name_relations
from training.repair import (
    hand_objects_down,
    join_roots,
    mend_infinitives,
    mend_predicate,
    mend_subjects,
    raise_adverbs,
)
from training.tags import upos
from training.tree import ROOT, Graph, UdWord

#: What the treebanks take for auxiliaries.
AUXILIARIES = frozenset({"hebben", "kunnen", "moeten", "mogen", "worden", "zijn", "zullen"})
# Their perfect is made with "zijn", which is no passive then.
_PERFECT_WITH_ZIJN = frozenset(
    (
        "aankomen", "aftreden", "beginnen", "binnenkomen", "blijven", "gaan", "gebeuren", "groeien",
        "keren", "komen", "lopen", "lukken", "mislukken", "omkomen", "ontstaan", "opstaan",
        "overlijden", "promoveren", "raken", "slagen", "starten", "sterven", "stijgen", "stoppen",
        "trouwen", "uitkomen", "vallen", "verdrinken", "verdwijnen", "verhuizen", "verlopen",
        "verschijnen", "vertrekken", "vervallen", "vluchten", "worden", "zijn",
    )
)  # fmt: skip


def convert(sentence: Sequence[FrogToken]) -> tuple[UdWord, ...] | None:
    """Convert one sentence; None if the result is not a tree with a single root."""
    graph = Graph(sentence)
    if not graph.roots():
        return None
    mend_infinitives(graph)
    join_roots(graph)
    if graph.has_circle():  # a word that the parser made its own head, or that a repair hung below itself
        return None
    for node in graph.bottom_up():
        _lift(graph, node)
    mend_subjects(graph)
    raise_adverbs(graph)
    name_relations(graph)
    if not graph.roots():  # only punctuation heads the sentence
        return None
    attach_punctuation(graph)
    return _words(graph) if _is_tree(graph) else None


def _lift(graph: Graph, node: int) -> None:
    match graph.kinds[node]:
        case "VG":
            _lift_over_conjunction(graph, node)
        case "VZ":
            _lift_over_preposition(graph, node)
        case "WW":
            _lift_over_verb(graph, node)
        case "VNW" | "BW":
            _lift_over_pronoun(graph, node)


def _lift_over_conjunction(graph: Graph, node: int) -> None:
    if bodies := graph.children(node, "body"):
        graph.promote(bodies[0], "mark")
    elif conjuncts := graph.children(node, "cnj"):
        first, *others = conjuncts
        # A conjunction that opens the sentence joins nothing in it.
        graph.promote(first, "cc" if others else "mark")
        for other in others:
            graph.attach(other, first, "conj")
        # The conjunction belongs to the conjunct that follows it.
        following = [other for other in others if other > node]
        graph.heads[node] = following[0] if following else first


def _lift_over_preposition(graph: Graph, node: int) -> None:
    objects = graph.children(node, "obj1", "pobj1")
    if bodies := graph.children(node, "body"):
        graph.promote(bodies[-1], "mark")
    elif objects:
        graph.promote(objects[0], "case")
        for other in objects[1:]:
            graph.labels[other] = "conj"


def _lift_over_pronoun(graph: Graph, node: int) -> None:
    if not (bodies := graph.children(node, "body")):
        return
    verb, head = bodies[0], graph.heads[node]
    relative = head != ROOT and graph.labels[node] == "mod" and graph.kinds[head] in {"N", "SPEC", "VNW"}
    graph.promote(verb, _role_of_pronoun(graph, node, verb))
    if relative:
        graph.labels[verb] = "acl:relcl"


def _role_of_pronoun(graph: Graph, node: int, verb: int) -> str:
    if graph.kinds[node] == "BW" or graph.has(node, "adv-pron"):
        return "mod"
    if not graph.children(verb, "su", "nsubj"):
        return "su"
    return "mod" if graph.children(verb, "obj1") else "obj1"


def _lift_over_verb(graph: Graph, node: int) -> None:
    lemma = graph.tokens[node].lemma
    if lemma in AUXILIARIES:
        for verb in graph.children(node, "vc"):
            if graph.kinds[verb] == "WW" and not graph.children(verb, "mark"):
                graph.promote(verb, _kind_of_auxiliary(graph, node, verb))
                return
    if lemma in {"worden", "zijn"}:
        mend_predicate(graph, node)
    if lemma == "zijn" and (predicates := graph.children(node, "predc")):
        graph.promote(predicates[0], "cop")
    hand_objects_down(graph, node)


def _kind_of_auxiliary(graph: Graph, node: int, verb: int) -> str:
    if not graph.has(verb, "vd"):
        return "aux"
    lemma = graph.tokens[node].lemma
    passive = lemma == "worden" or (
        lemma == "zijn"
        and graph.tokens[verb].lemma not in _PERFECT_WITH_ZIJN
        and not graph.children(verb, "aux:pass")
    )
    return "aux:pass" if passive else "aux"


def _is_tree(graph: Graph) -> bool:
    roots = [node for node, head in enumerate(graph.heads) if head == ROOT]
    reach = all((list(graph.path(node)) or [node])[-1] == roots[0] for node in range(len(graph)) if roots)
    return len(roots) == 1 and reach


def _words(graph: Graph) -> tuple[UdWord, ...]:
    return tuple(
        UdWord(token.text, _lemma(token), _pos(graph, node), graph.heads[node], graph.labels[node])
        for node, token in enumerate(graph.tokens)
    )


def _lemma(token: FrogToken) -> str:
    # Frog has "twee" for "tweede", and "'" for any quotation mark.
    as_written = token.tag.startswith(("TW(rang", "LET"))
    return token.text.lower() if as_written else token.lemma.lower()


def _pos(graph: Graph, node: int) -> str:
    if graph.kinds[node] == "WW" and graph.labels[node] in {"aux", "aux:pass", "cop"}:
        return "AUX"
    if graph.tokens[node].lemma == "als":
        return "SCONJ"
    return upos(graph.tokens[node].tag)
