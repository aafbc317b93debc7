"""The page on which a reviewer chooses which answers come, and in which order."""

from pathlib import Path

from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.served_desk import serving_desk


async def test_a_reviewer_chooses_the_order_and_anything_else_is_that_of_the_desk(tmp_path: Path) -> None:
    verdicts = [held(1, score=4.9), held(2, score=1.0)]
    async with serving_desk(tmp_path, *verdicts) as served, served.client(DeskRole.LEAD) as kim:
        assert "Answer 1." in (await kim.get("/")).text
        for order, first in (("expected_error", "Answer 2."), ("by colour", "Answer 1."), ("", "Answer 1.")):
            token = (
                (await kim.get("/filter")).text.partition('name="form_token" value="')[2].partition('"')[0]
            )
            await kim.post("/filter", data={"form_token": token, "order": order})
            assert first in (await kim.get("/")).text
            chosen = f'<option value="{order}" selected>' in (await kim.get("/filter")).text
            assert chosen == (order == "expected_error")
