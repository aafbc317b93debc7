"""How the environment variable of a setting is called."""

PREFIX = "TRUTHGATE_"
DELIMITER = "__"


def variable_name(*path: str | int) -> str:
    """Name the environment variable of a setting: ``("web", "port")`` is ``TRUTHGATE_WEB__PORT``."""
    return PREFIX + DELIMITER.join(str(part) for part in path).upper()
