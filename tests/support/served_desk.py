"""The pages of a desk in the test's own event loop, without Kafka."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from aiohttp import web
from prometheus_client import CollectorRegistry

from schemas import Codec, Verdict
from scoring.policy import Policy
from streams.desk.decisions import DecisionStore
from streams.desk.desk import Desk
from streams.desk.desk_login import DeskLogin
from streams.desk.desk_pages import DeskPages
from streams.desk.desk_state import DeskRecord, DeskState
from streams.desk.known_answer_publishing import KnownAnswerPublishing
from streams.desk.known_answers_page import KnownAnswersPage
from streams.desk.lead_page import LeadPage
from streams.desk.page_templates import PageTemplates
from streams.desk.policies_page import PoliciesPage
from streams.desk.policy_publishing import PolicyPublishing
from streams.desk.sessions import COOKIE, Sessions
from streams.observability.health import Health
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_watch import PolicyWatch
from streams.reviews.rating_store import RatingStore
from streams.settings import DeskRole, Settings
from streams.web import create_web_app, serve
from tests.support.ports import hold_port, port_of
from tests.support.workers import changed

KEY = b"k" * 32
P = TypeVar("P")


@dataclass
class ServedDesk:
    """A desk with its pages, and how to come there."""

    desk: Desk
    pages: web.Application
    sessions: Sessions
    address: str
    state: DeskState
    publishing: KnownAnswerPublishing
    watch: PolicyWatch
    policies: PolicyPublishing

    def publish_with(self, publisher: P) -> P:
        """Publish known answers with this publisher."""
        self.publishing.publisher = publisher  # type: ignore[assignment]
        return publisher

    def client(self, role: DeskRole | None = None, **headers: str) -> httpx2.AsyncClient:
        """Open a browser without a script; with a role, somebody of it has logged in."""
        cookies = {COOKIE: self.sessions.start(f"a {role}", role)[1]} if role else {}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        # Without certificates, whose reading takes as long as twenty requests.
        return httpx2.AsyncClient(
            base_url=self.address, cookies=cookies, headers=sent, trust_env=False, verify=False
        )


@asynccontextmanager
async def serving_desk(
    folder: Path, *held: Verdict, known_answers: bool = False, **settings: Any
) -> AsyncIterator[ServedDesk]:
    """Serve a desk on which these answers wait; ``{address}`` in ``public_url`` is where it is served."""
    with hold_port() as port, ExitStack() as stack:
        address = f"http://127.0.0.1:{port_of(port)}"
        if "public_url" in settings:
            settings["public_url"] = settings["public_url"].format(address=address)
        values = {"host": "127.0.0.1", "port": port_of(port), "store": folder, **settings}
        own = changed(Settings(policy=Policy(known_answers=known_answers)), desk=values)
        sample = AuditSample(KEY, own.desk.audit_share)
        state = DeskState(folder, own.desk, sample, known_answers=known_answers)
        decisions = DecisionStore(folder)
        state.apply([DeskRecord(0, number, verdict) for number, verdict in enumerate(held)], {})
        try:
            desk = Desk(state, decisions, own)
            desk.caught_up = True
            pages = create_web_app(Health(10, 10), CollectorRegistry())
            sessions, templates = Sessions(KEY, own.desk), PageTemplates()
            login = DeskLogin(desk, sessions, own.desk, templates)
            desk_pages = DeskPages(desk, login, templates)
            desk_pages.add_to(pages)
            LeadPage(desk_pages, state).add_to(pages)
            stack.callback((ratings := RatingStore(folder, Codec())).close)
            watch = PolicyWatch(own.kafka, ratings, sample, 60.0)
            policies = PolicyPublishing(watch.state, "policies")
            PoliciesPage(desk_pages, login, watch, policies, sample.share).add_to(pages)
            publishing = KnownAnswerPublishing(desk, state, "known-answers")
            if known_answers:
                KnownAnswersPage(desk_pages, login, state, publishing).add_to(pages)
            async with serve(pages, own.desk, "desk"):
                yield ServedDesk(desk, pages, sessions, address, state, publishing, watch, policies)
        finally:
            decisions.close()
            state.close()
