"""The lead's page of fitted policies: which one decides and why, what each promises, and changing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import web

from schemas import PolicyChange, PolicyFigures
from scoring.guarantees.drift import DRIFTED
from scoring.guarantees.policy_comparison import PolicyDifference
from streams.desk.desk_login import SESSION, DeskLogin
from streams.desk.desk_pages import DeskPages
from streams.desk.policy_charts import HEIGHT, WIDTH, PolicyChart, policy_charts
from streams.desk.policy_publishing import POLICY_NOTICES, PolicyPublishing
from streams.rates.verdict_counts import from_epoch_ms
from streams.reviews.policy_records import SETTINGS_VERSION, Change
from streams.reviews.policy_state import PolicyEntry, PolicyStatus, PolicyVersion
from streams.reviews.policy_watch import PolicyWatch, WatchedCertificate
from streams.settings import DeskRole

_PATH: Final = "/lead/policies"
#: So many versions are shown at most, the latest ones.
_MOST: Final = 50
_MAX_NAME_LENGTH: Final = 256


@dataclass(frozen=True, slots=True)
class ShownPolicy:
    """A version as the page shows it."""

    version: PolicyVersion
    status: PolicyStatus
    is_current: bool
    figures: PolicyFigures | None
    charts: tuple[PolicyChart, ...]
    watched: tuple[WatchedCertificate, ...]
    #: Of a candidate: how it differs from what was decided since it was proposed.
    differences: tuple[PolicyDifference, ...]

    @property
    def history(self) -> tuple[PolicyEntry, ...]:
        """What became of it, the last change first."""
        return self.version.entries[::-1]

    @property
    def latest(self) -> list[PolicyEntry]:
        """Why it is what it is: the last approval and what was withdrawn since, else the proposal."""
        return [each for each in self.version.entries if each.offset >= self.version.approved_at]


class PoliciesPage:
    """The page of policies, and the forms that approve and withdraw them.

    Args:
        pages: renders it.
        login: who looks.
        watch: has what the topic says, and what was audited.
        publishing: writes changes.
        audit_share: how much of what is sent is audited.
    """

    def __init__(
        self,
        pages: DeskPages,
        login: DeskLogin,
        watch: PolicyWatch,
        publishing: PolicyPublishing,
        audit_share: float,
    ) -> None:
        self._pages = pages
        self._login = login
        self._watch = watch
        self._publishing = publishing
        self._audit_share = audit_share

    def add_to(self, pages: web.Application) -> None:
        """Add the routes."""
        pages.router.add_get(_PATH, self._show)
        pages.router.add_post(f"{_PATH}/approve", self._approve)
        pages.router.add_post(f"{_PATH}/withdraw", self._withdraw)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        state = self._watch.state
        shown = list(self._shown())
        hidden = len(state.versions) - len(shown)
        return await self._pages.session_page(
            request,
            "policies.html",
            is_known=state.freshness.is_current,
            current=next((each for each in shown if each.is_current), None),
            policies=shown,
            hidden=hidden,
            settings_version=SETTINGS_VERSION,
            seen=state.next_offset,
            is_lead=request[SESSION].role is DeskRole.LEAD,
            is_watched=self._audit_share > 0,
            drifted=self._drifted(),
            shadows=self._watch.shadows,
            at=from_epoch_ms,
            size=(WIDTH, HEIGHT),
            notice=POLICY_NOTICES.get(request.query.get("notice", "")),
        )

    def _shown(self) -> Iterator[ShownPolicy]:
        """Yield the current version first, then the others, the one that changed last first."""
        state = self._watch.state
        current = state.current.version
        order = sorted(state.versions, key=lambda each: (each.version == current, each.entries[-1].offset))
        for version in reversed(order[-_MOST:]):
            change = version.proposal.change if version.proposal else None
            figures = change.content.figures if change and change.content else None
            yield ShownPolicy(
                version,
                state.status(version),
                version.version == current,
                figures,
                tuple(policy_charts(figures, version.fitted)) if figures and version.fitted else (),
                tuple(each for each in self._watch.latest if each.version.version == version.version),
                self._watch.candidates.get(version.version, ()),
            )

    def _drifted(self) -> list[str]:
        """Return what has drifted from the answers that the policy was fitted to, the farthest first."""
        far = sorted(self._watch.drift.items(), key=lambda each: -each[1])
        return [f"{name} {index:.2f}" for (name,), index in far if index > DRIFTED]

    async def _approve(self, request: web.Request) -> web.StreamResponse:
        return await self._change(request, Change.APPROVED)

    async def _withdraw(self, request: web.Request) -> web.StreamResponse:
        return await self._change(request, Change.WITHDRAWN)

    async def _change(self, request: web.Request, change: Change) -> web.StreamResponse:
        form = await self._login.form(request)
        group = _text(form, "group") if change is Change.WITHDRAWN else ""
        changed = PolicyChange(
            _text(form, "version")[:_MAX_NAME_LENGTH],
            change,
            group[:_MAX_NAME_LENGTH] or None,
            datetime.now(UTC),
            request[SESSION].reviewer,
            _text(form, "reason"),
        )
        outcome = await self._publishing.change(changed, _text(form, "seen"))
        return web.Response(status=303, headers={"Location": f"{_PATH}?notice={outcome}"})


def _text(form: Any, name: str) -> str:
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""
