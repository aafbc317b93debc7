"""Names of Universal Dependencies for the relations of a tree whose content words are heads already."""

from training.tags import upos
from training.tree import ROOT, Graph

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "X", "SYM"})
_FIXED = {
    "app": "appos",
    "cnj": "conj",
    "crd": "cc",
    "hdf": "case",
    "obj2": "iobj",
    "pobj1": "expl",
    "se": "expl:pv",
    "sup": "expl",
    "svp": "compound:prt",
}
_DETERMINERS = {
    "ADJ": "amod",
    "ADV": "advmod",
    "NOUN": "nmod:poss",
    "NUM": "nummod",
    "PRON": "nmod:poss",
    "PROPN": "nmod:poss",
    "VERB": "amod",
}
_FUNCTION_WORDS = {"CCONJ": "cc", "DET": "det", "SCONJ": "mark"}
_UNIVERSAL = frozenset(
    (
        "acl", "acl:relcl", "aux", "aux:pass", "case", "cc", "conj", "cop", "expl", "fixed", "flat", "mark",
        "nsubj", "obj", "parataxis", "root",
    )
)  # fmt: skip


def name_relations(graph: Graph) -> None:
    """Give every word but punctuation its universal relation; passive subjects included."""
    for node, label in enumerate(list(graph.labels)):
        if graph.kinds[node] == "LET" or label == "punct":
            continue
        if graph.heads[node] == ROOT:
            graph.labels[node] = "root"
        elif label not in _UNIVERSAL:
            graph.labels[node] = _FIXED.get(label) or _named(graph, node, label)
    for node in range(len(graph)):
        if graph.labels[node] == "nsubj" and graph.children(graph.heads[node], "aux:pass"):
            graph.labels[node] = "nsubj:pass"


def _named(graph: Graph, node: int, label: str) -> str:
    clause = _is_clause(graph, node)
    match label:
        case "su":
            relation = "csubj" if clause else "nsubj"
        case "obj1" | "me" if not clause:
            relation = _object(graph, node)
        case "predc" | "predm":
            relation = "advcl" if graph.children(node, "mark") else "xcomp"
        case "vc" | "obj1":
            relation = _complement(graph, node)
        case "det":
            relation = _determiner(graph, node)
        case "obcomp":
            relation = "advcl" if clause else "obl"
        case _:
            relation = _modifier(graph, node, argument=label == "pc")
    return relation


def _is_clause(graph: Graph, node: int) -> bool:
    if graph.kinds[node] == "WW":
        return not graph.has(node, "prenom") and not graph.has(node, "nom") and not _has_case(graph, node)
    return bool(graph.children(node, "cop", "mark"))


def _has_case(graph: Graph, node: int) -> bool:
    return bool(graph.children(node, "case"))


def _head_is_nominal(graph: Graph, node: int) -> bool:
    head = graph.heads[node]
    nominal = upos(graph.tokens[head].tag) in _NOMINAL or graph.has(head, "nom")
    return nominal and not (node in graph.clausal and graph.children(head, "cop"))


def _object(graph: Graph, node: int) -> str:
    if _head_is_nominal(graph, node):
        return "nmod"
    return "obl" if _has_case(graph, node) else "obj"


def _complement(graph: Graph, node: int) -> str:
    if graph.kinds[node] != "WW" and not _is_clause(graph, node):
        return _modifier(graph, node, argument=True)
    if _head_is_nominal(graph, node):
        return "acl"
    subject = graph.children(node, "su", "nsubj")
    return "ccomp" if subject or _is_finite(graph, node) else "xcomp"


def _is_finite(graph: Graph, node: int) -> bool:
    verbs = [node, *graph.children(node, "aux", "aux:pass", "cop")]
    return any(graph.has(verb, "pv") for verb in verbs)


def _determiner(graph: Graph, node: int) -> str:
    return _DETERMINERS.get(upos(graph.tokens[node].tag), "det")


def _modifier(graph: Graph, node: int, *, argument: bool) -> str:
    nominal = _head_is_nominal(graph, node)
    if _is_clause(graph, node):
        return "acl" if nominal else "advcl"
    if not _has_case(graph, node) and (relation := _bare_modifier(graph, node, nominal=nominal)):
        return relation
    pos = upos(graph.tokens[node].tag)
    if pos == "ADP":
        return "compound:prt" if argument and not nominal else "case"
    return _FUNCTION_WORDS.get(pos) or _nominal_modifier(graph, node, nominal=nominal, argument=argument)


def _bare_modifier(graph: Graph, node: int, *, nominal: bool) -> str | None:
    match upos(graph.tokens[node].tag):
        case "ADV" | "ADJ":
            return "amod" if nominal or graph.has(node, "prenom") else "advmod"
        case "VERB":
            return "amod"
        case "NUM" if nominal:
            return "nummod"
        case "CCONJ":
            # A conjunction that opens the sentence joins nothing in it.
            return "cc" if node else "mark"
        case _:
            return None


def _nominal_modifier(graph: Graph, node: int, *, nominal: bool, argument: bool) -> str:
    if nominal:
        return "nmod"
    if graph.children(graph.heads[node], "aux:pass") and _case(graph, node) == "door":
        return "obl:agent"
    return "obl:arg" if argument else "obl"


def _case(graph: Graph, node: int) -> str | None:
    return next((graph.tokens[child].lemma for child in graph.children(node, "case")), None)
