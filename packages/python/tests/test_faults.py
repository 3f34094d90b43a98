"""Failures on demand, and what was called."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from marketplace_sandbox import ApiError, ConnectionCutError, ExpectationError, World

pytest_plugins = ["pytester"]

CODEBASE = {"title": "Harbour ledger", "exclusivity": "available"}


def test_fault_applies_to_the_next_request(world: World) -> None:
    fault = world.faults.add(operation="get_wallet", next=1, status=503, code="at_capacity")
    with pytest.raises(ApiError) as failed:
        world.vendor.get("/v2/wallet")
    assert failed.value.status == 503 and failed.value.headers["x-sandbox-fault"] == fault.id
    assert world.vendor.get("/v2/wallet")["currency"] == "USD"
    assert [(one.id, one.matched) for one in world.faults] == [(fault.id, 1)]


@pytest.mark.parametrize("place", ["before", "headers", "body"])
def test_connection_is_cut(world: World, place: str) -> None:
    world.faults.add(operation="get_wallet", next=1, cut=place)  # type: ignore[arg-type]
    with pytest.raises(ConnectionCutError, match="/v2/wallet: the connection ended early"):
        world.vendor.get("/v2/wallet")
    assert world.vendor.get("/v2/wallet")["currency"] == "USD"


def test_connection_is_cut_after_the_write(world: World) -> None:
    before = world.vendor.get("/v2/codebases")["total"]
    world.faults.add(operation="create_codebase", next=1, cut="after_write")
    with pytest.raises(ConnectionError):
        world.vendor.post("/v2/codebases", CODEBASE)
    assert world.vendor.get("/v2/codebases")["total"] == before + 1


def test_response_is_delayed(world: World) -> None:
    world.faults.add(
        path="/v2/wallet", delay_ms=(50, 60), from_=world.started_at, until="2026-03-02T00:00:00Z"
    )
    started = time.monotonic()
    world.vendor.get("/v2/wallet")
    assert time.monotonic() - started >= 0.05


def test_faults_are_removed(world: World) -> None:
    first, second = (
        world.faults.add(operation="get_wallet", status=503, code="at_capacity") for _ in range(2)
    )
    world.faults.remove(first)
    assert [fault.id for fault in world.faults.list()] == [second.id]
    world.faults.clear()
    assert world.faults.list() == []
    assert world.vendor.get("/v2/wallet")["currency"] == "USD"


def test_undocumented_fault_is_refused_unless_forced(world: World) -> None:
    with pytest.raises(
        ApiError, match="422 body.then.status: The document of `get_wallet` does not name the status 418"
    ):
        world.faults.add(operation="get_wallet", status=418)
    world.faults.add(operation="get_wallet", status=418, code="teapot", force=True)
    assert world.vendor.send("GET", "/v2/wallet").status == 418


def test_expectation_is_met_or_names_the_nearest_calls(world: World) -> None:
    world.vendor.get("/v2/wallet")
    world.vendor.post("/v2/codebases", CODEBASE)
    assert world.expect(operation="get_wallet") == 1
    world.expect(operation="get_wallet", times=1)
    world.expect(method="POST", path="/v2/code*", status=201, body={"title": "Harbour ledger"}, at_least=1)
    world.expect(operation="create_codebase", body={"title": "Another"}, times=0)
    with pytest.raises(AssertionError, match="Expected 2 matching calls, found 1") as unmet:
        world.expect(operation="get_wallet", times=2)
    assert isinstance(unmet.value, ExpectationError)
    with pytest.raises(ApiError) as invalid:
        world.expect(operation="get_wallet", times=2, at_least=1)
    assert not isinstance(invalid.value, AssertionError)


def test_journal_has_every_request(world: World) -> None:
    world.vendor.get("/v2/wallet")
    world.vendor.send("GET", "/v2/walet")
    shown = [(call["operation"], call["path"], call["status"]) for call in world.journal(method="GET")]
    assert shown[:2] == [("get_wallet", "/v2/wallet", 200), (None, "/v2/walet", 404)]
    assert len(world.journal(operation="get_wallet")) == 1


def test_journal_returns_all_pages_unless_there_is_a_limit(world: World) -> None:
    for _ in range(101):
        world.vendor.get("/v2/wallet")
    assert [call["number"] for call in world.journal()] == list(range(1, 102))
    assert [call["number"] for call in world.journal(after=100, status=200)] == [101]
    assert len(world.journal(limit=2)) == 2


def test_times_and_keywords_of_python_are_parameters(world: World) -> None:
    world.vendor.get("/v2/wallet", unknown=None)
    world.advance("1h")
    world.vendor.get("/v2/listings/browse", verified_only=True, languages=["python", None])
    later = world.started_at + timedelta(hours=1)
    for time_ in (later, later.replace(tzinfo=None), "2026-03-01T10:00:00Z"):
        after = world.journal(from_=time_, method="GET")
        before = world.journal(until=time_, method="GET")
        assert [call["operation"] for call in before + after] == ["get_wallet", "browse_listings"]


def test_expectation_of_a_false_body_counts_such_bodies(world: World) -> None:
    world.vendor.post("/v2/codebases", CODEBASE)
    world.vendor.send("POST", "/v2/codebases", json_body=False)
    world.expect(body=False, times=1)


def test_unused_fault_is_warned_of(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_that_calls_nothing(world):
            world.faults.add(operation="get_wallet", status=503, code="at_capacity")

        def test_that_deletes_its_world(world):
            world.faults.add(operation="get_wallet", status=503, code="at_capacity")
            world.delete()
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(
        ['*UnusedFaultWarning: The fault {"operation": "get_wallet"} of this test matched nothing.']
    )


@pytest.mark.parametrize("broken", ["", "first.faults.list = None"])
def test_all_worlds_end_although_there_is_a_warning_or_an_error(
    pytester: pytest.Pytester, broken: str
) -> None:
    pytester.makepyfile(
        f"""
        def test_that_calls_nothing(new_world):
            first, second, third = (new_world() for _ in range(3))
            for world in (first, third):
                world.faults.add(operation="get_wallet", status=503, code="at_capacity")
            {broken}

        def test_no_world_is_left(marketplace):
            assert marketplace.worlds() == []
        """
    )
    result = pytester.runpytest("-W", "error::marketplace_sandbox.UnusedFaultWarning")
    result.assert_outcomes(passed=2, errors=1)
    expected = (
        "*TypeError: 'NoneType' object is not callable"
        if broken
        else "*UnusedFaultWarning: The fault*matched nothing."
    )
    result.stdout.fnmatch_lines([expected])
