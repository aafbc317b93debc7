"""Nothing is read while nobody looks, and what fails while reading touches nobody else."""

from streams.settings import KafkaSettings, RatesSettings, Settings
from streams.web.live_data import LiveData
from tests.support.clock import Clock
from tests.support.pages import BEGIN, rate_window
from tests.support.ports import NOBODY
from tests.support.records import eventually

NOWHERE = Settings(kafka=KafkaSettings(bootstrap_servers=NOBODY, connect_timeout_seconds=0.2))


async def test_reading_begins_with_the_first_visit_and_ends_some_time_after_the_last():
    clock = Clock()
    data = LiveData(NOWHERE, clock, BEGIN.timestamp, idle=300)
    assert not data.running
    data.visit()
    data._take_in([rate_window(0)])
    await eventually(lambda: data.source.state == "failed", "the failure is told")
    clock.now += 299
    data.visit()
    clock.now += 299
    assert data.running
    assert data.rates.end(60) is not None
    clock.now += 2
    await eventually(lambda: not data.running, "reading ended")
    assert data.rates.end(60) is None
    assert data.source.state == "starting"


async def test_it_can_be_stopped_at_any_time_and_visited_again():
    data = LiveData(NOWHERE)
    await data.stop()
    data.visit()
    await data.stop()
    await data.stop()
    assert not data.running
    data.visit()
    await eventually(lambda: data.source.state == "failed", "the failure is told")
    await data.stop()


async def test_where_rates_are_off_the_page_is_told_so():
    data = LiveData(NOWHERE.model_copy(update={"rates": RatesSettings(enabled=False)}))
    assert data.source.state == "off"
