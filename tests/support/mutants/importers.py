"""Which unit tests import a module: straight, through helpers of the tests, or through its own room."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCES = ("schemas", "scoring", "streams")


def tests_of(root: Path, modules: Iterable[str]) -> list[str]:
    """Give the files of unit tests that import one of ``modules``, as paths in ``root``.

    Of the tests of the module's own room (all of ``scoring`` is one, and of ``schemas``) imports are
    followed, through helpers in ``tests`` and within the room. Others must import the module themselves: what
    uses the whole application would take too long.
    """
    graph = _graph(root)
    wanted = set(modules)
    files = sorted((root / "tests" / "unit").rglob("test_*.py"))
    return [str(file.relative_to(root)) for file in files if _imports_one(_name(root, file), wanted, graph)]


def _imports_one(test: str, wanted: set[str], graph: Mapping[str, frozenset[str]]) -> bool:
    own = {f"tests.unit.{_room(module).removeprefix('streams.')}." for module in wanted}
    near = test.startswith(tuple(own))
    return bool(wanted & (_reached(test, wanted, graph) if near else graph[test]))


def _reached(test: str, wanted: set[str], graph: Mapping[str, frozenset[str]]) -> set[str]:
    rooms = {_room(module) for module in wanted}
    seen, waiting = set[str](), [test]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        package = f"{module}.__init__" in graph
        if module.startswith("tests.") or _room(module) in rooms:
            waiting += graph.get(f"{module}.__init__" if package else module, frozenset())
    return seen


@cache
def _graph(root: Path) -> dict[str, frozenset[str]]:
    """Give what each file of ours imports of ours, by its dotted name."""
    files = [file for top in (*SOURCES, "tests") for file in (root / top).rglob("*.py")]
    names = {_name(root, file): file for file in files}
    ours = names.keys() | {name.removesuffix(".__init__") for name in names}
    helpers = {name.rpartition(".")[2]: name for name in names if name.startswith("tests.unit.")}
    return {
        name: frozenset(helpers.get(each, each) for each in _imports(file) if each in ours or each in helpers)
        for name, file in names.items()
    }


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _room(module: str) -> str:
    top, _, rest = module.partition(".")
    return f"{top}.{rest.partition('.')[0]}" if top == "streams" else top


def _name(root: Path, file: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts)
