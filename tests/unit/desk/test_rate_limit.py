"""How often an address may log in and a reviewer decide."""

from pathlib import Path

from streams.desk.rate_limit import RateLimit
from streams.settings import DeskRole
from tests.support.clock import Clock
from tests.support.served_desk import serving_desk

TOKEN = "t-reviewer-123456"


def test_so_many_are_allowed_at_once_and_then_as_many_a_minute() -> None:
    clock = Clock(0)
    limit = RateLimit(3, clock)
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 20]
    assert limit.take("b") == 0
    clock.now = 19
    assert limit.take("a") == 1
    clock.now = 20
    assert [limit.take("a"), limit.take("a")] == [0, 20]
    clock.now = 1_000
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 20]


def test_what_is_remembered_is_bounded() -> None:
    limit = RateLimit(1, Clock(0))
    for number in range(20_000):
        limit.take(str(number))
    assert len(limit._free_at) == 10_000
    assert limit.take("19999") > 0


async def test_logins_are_limited_for_each_address_that_the_proxy_saw(tmp_path: Path) -> None:
    settings = {"token": TOKEN, "address_header": "X-Forwarded-For", "login_attempts_per_minute": 2}
    async with serving_desk(tmp_path, **settings) as served, served.client() as browser:

        async def login(address: str, token: str = "a guess") -> tuple[int, bool]:
            data = {"name": "Kim", "token": token}
            answer = await browser.post("/login", data=data, headers={"X-Forwarded-For": address})
            return answer.status_code, "retry-after" in answer.headers

        assert [await login("192.0.2.1") for _ in range(3)] == [(403, False), (403, False), (429, True)]
        assert await login("192.0.2.1", TOKEN) == (429, True)
        # What a client adds stands before what the proxy adds.
        assert await login("198.51.100.7, 192.0.2.1") == (429, True)
        assert await login("192.0.2.1, 198.51.100.7") == (403, False)
        # Colleagues behind one address log in as often as they like.
        assert [await login("203.0.113.5", TOKEN) for _ in range(5)] == [(303, False)] * 5


async def test_decisions_are_limited_for_each_reviewer(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, token=TOKEN, decisions_per_minute=2) as served:
        session, cookie = served.sessions.start("Kim", DeskRole.REVIEWER)
        data = {"form_token": served.sessions.form_token(session), "verdict_id": "v-1", "action": "send"}
        async with served.client() as kim, served.client(DeskRole.REVIEWER) as alex:
            kim.cookies.set("truthgate_desk", cookie)
            assert [(await kim.post("/decide", data=data)).status_code for _ in range(2)] == [303, 303]
            refused = await kim.post("/pass", data=data)
            assert refused.status_code == 429
            assert (await kim.post("/undo", data=data)).status_code == 303  # a wrong decision must not go out
            assert 0 < int(refused.headers["retry-after"]) <= 30
            assert (await kim.get("/")).status_code == 200
            assert (await alex.post("/decide", data=data)).status_code == 403  # Kim's form
