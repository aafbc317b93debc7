"""Who may do what at the desk: the roles of each route, and the role that a person has."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from aiohttp import web

from streams.settings import DeskRole

_ALL: Final = frozenset(DeskRole)
_DECIDING: Final = frozenset({DeskRole.LEAD, DeskRole.REVIEWER})
_LEADING: Final = frozenset({DeskRole.LEAD})
_LOOKING: Final = frozenset({DeskRole.LEAD, DeskRole.AUDITOR})

#: Who may use a route; None: everybody, without a login. A route that is missing here is for nobody.
ROUTES: Final[Mapping[str, frozenset[DeskRole] | None]] = {
    **dict.fromkeys(("GET /healthz", "GET /readyz", "GET /metrics"), None),
    **dict.fromkeys(("GET /desk.css", "GET /desk.js", "GET /icon.svg"), None),
    **dict.fromkeys(("GET /login", "POST /login", "GET /oidc/login", "GET /oidc/callback"), None),
    "POST /logout": _ALL,
    "GET /": _ALL,
    "GET /blocked": _ALL,
    "GET /filter": _ALL,
    "POST /filter": _ALL,
    "GET /news": _ALL,
    "POST /decide": _DECIDING,
    "POST /pass": _DECIDING,
    "POST /undo": _DECIDING,
    "GET /lead": _LOOKING,
    "GET /lead/policies": _LOOKING,
    "POST /lead/policies/approve": _LEADING,
    "POST /lead/policies/withdraw": _LEADING,
    "GET /known-answers": _LEADING,
    "POST /known-answers/end": _LEADING,
}


#: What is of the answers of all tenants.
OF_ALL_TENANTS: Final = frozenset(
    route for route in ROUTES if route.partition(" ")[2].startswith(("/lead", "/known-answers"))
)


def route_of(request: web.Request) -> str:
    """Return the key of a request in ``ROUTES``."""
    resource = request.match_info.route.resource
    method = "GET" if request.method == "HEAD" else request.method
    return f"{method} {resource.canonical if resource else ''}"


def may_decide(role: DeskRole) -> bool:
    """Return whether a role takes answers and decides about them."""
    return role in _DECIDING


def role_from(values: Iterable[str], roles: Mapping[str, DeskRole]) -> DeskRole | None:
    """Return the role with the most rights that these values mean, or None."""
    found = {roles.get(value) for value in values}
    return next((role for role in DeskRole if role in found), None)


def claim_values(claims: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a claim, which may be one text, a list, or in objects: ``realm_access.roles``."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for key in name.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
    values = found if isinstance(found, list) else [found]
    return [value for value in values if isinstance(value, str)]
