"""Another policy than the one in force, to compare with it: some other values, checked as settings are."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scoring.policy import Policy
from streams.settings.base import Section, WrongSettings
from streams.settings.complaints import explained
from streams.settings.config_file import refuse_unreadable_file
from streams.settings.whole import Settings

_POLICY = "policy"


class _PolicyAlone(Section):
    policy: Policy


def other_policy(today: Policy, file: Path | None, values: Mapping[str, Any]) -> Policy:
    """Give the policy with other values: those of section ``[policy]`` of a file, and ``values`` over them.

    What neither names stays as it is; ``overrides`` of a file replace all that there were.

    Raises:
        WrongSettings: the file cannot be read, holds something else, or the policy cannot be.
    """
    kept = {each.name: getattr(today, each.name) for each in dataclasses.fields(Policy)}
    given = _of_file(file) if file else {}
    try:
        return _PolicyAlone(policy={**kept, **given, **values}).policy
    except ValidationError as error:
        raise WrongSettings(
            *(f"{file}: {each}" if file else each for each in explained(error, Settings))
        ) from None


def _of_file(path: Path) -> Mapping[str, Any]:
    refuse_unreadable_file(path)
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    policy = table.get(_POLICY)
    if set(table) != {_POLICY} or not isinstance(policy, dict):
        raise WrongSettings(f"{path} should hold the section [policy], as settings do, and nothing else")
    return policy
