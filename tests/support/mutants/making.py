"""The mutants that mutmut makes of files, with their lines and what they change, and a fair sample."""

import ast
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name, parse_mutant_key


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one line; ``name`` is mutmut's."""

    name: str
    file: str
    line: int
    before: str
    after: str

    @property
    def room(self) -> str:
        """The folder of its file."""
        return str(Path(self.file).parent)


def mutants_of(files: Iterable[str]) -> Iterator[Mutant]:
    """Make all mutants of files, named as in the working directory, which holds mutmut's settings."""
    for file in files:
        source = Path(file).read_text()
        made = mutate_file_contents(file, source)
        functions, generated = _functions(source), _functions(made.code)
        for short in made.mutant_names:
            key, _, _ = short.rpartition("__mutmut_")
            function, of_class = parse_mutant_key(key)
            begin, _ = functions[of_class, function]
            (_, old), (_, new) = generated[of_class, f"{key}__mutmut_orig"], generated[of_class, short]
            offset, before, after = _change(old, new)
            yield Mutant(get_mutant_name(Path(file), short), file, begin + offset, before, after)


def choose(mutants: Iterable[Mutant], most: int, seed: int) -> list[Mutant]:
    """Choose ``most`` mutants, of each room alike and of a line once before any twice; a seed fixes which."""
    rooms: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda each: each.name):
        rooms[mutant.room].append(mutant)
    chance = random.Random(seed)
    queues = [_by_turns(each, chance) for _, each in sorted(rooms.items())]
    chosen: list[Mutant] = []
    while queues and len(chosen) < most:
        chosen.append(queues[0].pop(0))
        queues = [*queues[1:], *filter(None, queues[:1])]
    return chosen


def touched(mutants: Iterable[Mutant], lines: Mapping[str, Collection[int]]) -> list[Mutant]:
    """Give the mutants of these lines of these files."""
    return [mutant for mutant in mutants if mutant.line in lines.get(mutant.file, ())]


def _by_turns(mutants: list[Mutant], chance: random.Random) -> list[Mutant]:
    chance.shuffle(mutants)
    before: dict[tuple[str, int], int] = defaultdict(int)
    turns: list[tuple[int, Mutant]] = []
    for mutant in mutants:
        place = mutant.file, mutant.line
        turns.append((before[place], mutant))
        before[place] += 1
    return [mutant for _, mutant in sorted(turns, key=lambda each: each[0])]


def _functions(source: str) -> dict[tuple[str | None, str], tuple[int, list[str]]]:
    """Give line and text of each function from its ``def`` on, by its class and name."""
    text = source.splitlines()
    found: dict[tuple[str | None, str], tuple[int, list[str]]] = {}
    for node in ast.parse(source).body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                of_class = node.name if isinstance(node, ast.ClassDef) else None
                found[of_class, each.name] = each.lineno, text[each.lineno - 1 : each.end_lineno]
    return found


def _change(before: Sequence[str], after: Sequence[str]) -> tuple[int, str, str]:
    """Give the first line in which two texts of a function differ, counted from ``def``, and both."""
    for offset, (old, new) in enumerate(zip_longest(before[1:], after[1:], fillvalue=""), start=1):
        if old != new:
            return offset, old.strip(), new.strip()
    return 0, before[0].strip(), after[0].strip()
