"""Where punctuation hangs: under the highest word that it can reach without crossing another arc."""

from training.tree import ROOT, Graph


def attach_punctuation(graph: Graph) -> None:
    """Attach every punctuation mark, and make it a leaf."""
    words = [node for node, kind in enumerate(graph.kinds) if kind != "LET"]
    for node, kind in enumerate(graph.kinds):
        if kind == "LET":
            _release_children(graph, node, words)
    for node, kind in enumerate(graph.kinds):
        if kind == "LET":
            graph.attach(node, _reachable(graph, node, words), "punct")


def _release_children(graph: Graph, node: int, words: list[int]) -> None:
    root = next(word for word in words if graph.heads[word] == ROOT)
    for child in graph.children(node):
        graph.heads[child] = root
        if graph.kinds[child] != "LET":
            graph.labels[child] = "parataxis"


def _reachable(graph: Graph, node: int, words: list[int]) -> int:
    arcs = [(min(word, graph.heads[word]), max(word, graph.heads[word])) for word in words]
    start = max((word for word in words if word < node), default=words[0])
    best = start
    for ancestor in graph.path(start):
        low, high = min(node, ancestor), max(node, ancestor)
        if any(a < low < b < high or low < a < high < b for a, b in arcs if a >= 0):
            break
        best = ancestor
    return best
