"""The tree of an XML file with every entity resolved: DocBook as KDE writes it, and Mallard.

The tree that the standard library builds leaves out what the files of a DTD declare; KDE's handbooks name
their programs, keys and chapters with such entities.
"""

from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

_CUSTOMIZATION = "usr/share/kf5/kdoctools/customization"


def read_xml(path: Path, root: Path) -> Element:
    """Return the tree of ``path`` without name spaces; ``root`` is where the packages are unpacked.

    Raises:
        xml.parsers.expat.ExpatError: the file is not well-formed.
        FileNotFoundError: a file that it includes is missing.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.SetBase(str(path.parent))
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ordered_attributes = False
    parser.StartElementHandler = lambda tag, attributes: builder.start(
        _local(tag), {_local(name): value for name, value in attributes.items()}
    )
    parser.EndElementHandler = lambda tag: builder.end(_local(tag))
    parser.CharacterDataHandler = builder.data
    parser.ExternalEntityRefHandler = _included(parser, root)
    parser.Parse(path.read_bytes(), True)
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _included(
    parser: expat.XMLParserType, root: Path
) -> Callable[[str | None, str | None, str | None, str | None], int]:
    def parse(context: str | None, base: str | None, system_id: str | None, _public_id: str | None) -> int:
        if system_id is None:
            return 1
        path = _located(system_id, Path(base or "."), root)
        child = parser.ExternalEntityParserCreate(context)
        child.SetBase(str(path.parent))
        child.ExternalEntityRefHandler = _included(child, root)
        child.Parse(path.read_bytes(), True)
        return 1

    return parse


def _located(system_id: str, base: Path, root: Path) -> Path:
    if system_id.startswith("dtd/"):
        return root / _CUSTOMIZATION / system_id
    path = root / system_id[1:] if system_id.startswith("/") else base / system_id
    # A package's absolute link means a place of the system that it would be installed in.
    return root / str(path.readlink())[1:] if path.is_symlink() and path.readlink().is_absolute() else path
