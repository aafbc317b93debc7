"""Mends what Frog's parser often leaves wrong: sentences with several roots, verbs with two subjects."""

from training.tree import ROOT, Graph

_TAKE_A_VERB = frozenset({"hebben", "kunnen", "moeten", "mogen", "willen", "worden", "zijn", "zullen"})
_OPEN_AN_INFINITIVE = frozenset({"door", "om", "zonder"})
_LEAVE_THE_OBJECT = frozenset(
    (
        "beginnen", "besluiten", "blijven", "dienen", "durven", "gaan", "hoeven", "komen", "proberen",
        "trachten", "weten", "wensen", "willen",
    )
)  # fmt: skip
_NEAR = 4


def mend_infinitives(graph: Graph) -> None:
    """Bind "te" to the infinitive after it, and "om", "door", "zonder" to the first such infinitive."""
    for node in range(len(graph) - 1):
        if graph.kinds[node] == "VZ" and graph.tokens[node].lemma == "te":
            _bind_te(graph, node)
    for node in range(len(graph)):
        if graph.kinds[node] == "VZ" and graph.tokens[node].lemma in _OPEN_AN_INFINITIVE:
            _bind_opener(graph, node)


def _bind_te(graph: Graph, te: int) -> None:
    verb = te + 1
    if graph.kinds[verb] == "WW" and graph.has(verb, "inf") and not graph.children(te, "body"):
        for child in graph.children(te):
            graph.heads[child] = verb
        if verb in graph.path(te) or graph.heads[verb] != ROOT:
            graph.attach(te, verb, "mark")
        else:
            graph.attach(verb, te, "body")


def _bind_opener(graph: Graph, opener: int) -> None:
    if graph.children(opener, "body") or not graph.children(opener):
        return
    for te in range(opener + 1, len(graph) - 1):
        if graph.kinds[te] == "LET" or graph.has(te, "pv"):
            return
        if graph.tokens[te].lemma == "te" and graph.kinds[te] == "VZ":
            _bind_clause(graph, opener, te if graph.children(te, "body") else te + 1)
            return


def _bind_clause(graph: Graph, opener: int, clause: int) -> None:
    verb = next(iter(graph.children(clause, "body")), clause)
    if clause in graph.path(opener) or not graph.has(verb, "inf"):
        return
    for child in graph.children(opener):
        if child != clause and child not in graph.path(clause):
            graph.heads[child] = verb
    graph.attach(clause, opener, "body")
    for child in graph.children(opener):
        if child != clause:
            graph.attach(child, verb, graph.labels[child])


def join_roots(graph: Graph) -> None:
    """Leave one root: the finite verb or conjunction that comes first; the others are attached below it.

    Where heads run in a circle there may be no root; then nothing is joined.
    """
    for node in graph.roots():
        _find_head(graph, node)
    roots = graph.roots()
    if not roots:
        return
    main = next((node for node in roots if graph.has(node, "pv") or graph.children(node, "cnj")), roots[0])
    for node in roots:
        if node != main:
            graph.attach(node, main, _loose_label(graph, node))


def _find_head(graph: Graph, node: int) -> None:
    if graph.kinds[node] == "WW" and (graph.has(node, "inf") or graph.has(node, "vd")):
        before = [
            other for other in graph.roots() if other < node and graph.tokens[other].lemma in _TAKE_A_VERB
        ]
        if before and not graph.children(before[-1], "vc"):
            graph.attach(node, before[-1], "vc")
    elif graph.kinds[node] == "LID" or graph.has(node, "prenom"):
        nouns = [n for n in range(node + 1, min(node + _NEAR, len(graph))) if graph.kinds[n] == "N"]
        if nouns and node not in graph.path(nouns[0]):
            graph.attach(node, nouns[0], "mod" if graph.kinds[node] in {"ADJ", "WW"} else "det")


def _loose_label(graph: Graph, node: int) -> str:
    return "mod" if graph.kinds[node] in {"ADJ", "BW", "LID", "VG", "VZ"} else "parataxis"


def mend_predicate(graph: Graph, verb: int) -> None:
    """Take what the parser calls an object or a second subject of the copula as its predicate."""
    if graph.children(verb, "predc", "vc"):
        return
    subjects = graph.children(verb, "su")
    spare = [node for node in subjects if not graph.has(node, "nomin")][-1:] if len(subjects) > 1 else []
    for node in (spare or (subjects and graph.children(verb, "obj1")))[:1]:
        graph.labels[node] = "predc"


def hand_objects_down(graph: Graph, verb: int) -> None:
    """Give the object to the infinitive that it belongs to: in "wilt u het opslaan" not to "wilt"."""
    if graph.tokens[verb].lemma not in _LEAVE_THE_OBJECT:
        return
    for lower in graph.children(verb, "vc")[:1]:
        if graph.kinds[lower] == "WW" and not graph.children(lower, "obj1"):
            for node in graph.children(verb, "obj1"):
                graph.heads[node] = lower


def mend_subjects(graph: Graph) -> None:
    """Leave each verb one subject, and an imperative none: the others are objects."""
    for verb in range(len(graph)):
        subjects = [child for child in graph.children(verb, "su") if graph.kinds[child] != "WW"]
        if _is_imperative(graph, verb):
            kept = next((s for s in subjects if graph.has(s, "nomin")), None)
        else:
            kept = next((s for s in subjects if graph.has(s, "nomin")), subjects[0] if subjects else None)
        for subject in subjects:
            if subject != kept:
                graph.labels[subject] = "obj1"


def _is_imperative(graph: Graph, verb: int) -> bool:
    """Tell whether a finite verb is a bare stem, which no noun of the third person can be subject of."""
    token = graph.tokens[verb]
    if token.tag != "WW(pv,tgw,ev)" or token.lemma in _TAKE_A_VERB:
        return False
    opens = verb == 0 and graph.tokens[-1].text != "?"
    return opens or not token.text.endswith("t")


def raise_adverbs(graph: Graph) -> None:
    """Give an adverb that follows the noun it was attached to, to the verb above the noun."""
    for node in range(len(graph)):
        head = graph.heads[node]
        if graph.kinds[node] == "BW" and graph.labels[node] == "mod" and ROOT < head < node:
            verb = next((up for up in graph.path(head) if graph.kinds[up] == "WW"), None)
            if graph.kinds[head] in {"N", "SPEC", "TW"} and verb is not None:
                graph.heads[node] = verb
