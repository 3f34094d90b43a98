"""Fixtures for pytest.

Every test run loads this file, so it is outside of the package, which is imported when a test uses a fixture.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from marketplace_sandbox import Fault, Sandbox, World


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "world(**options): how the fixture `world` creates its world, such as `from_`, `now`, or `settings`.",
    )


@pytest.fixture(scope="session")
def marketplace() -> Iterator[Sandbox]:
    """The server of this test process. With pytest-xdist, each worker has one."""
    from marketplace_sandbox import Sandbox

    with Sandbox.from_environment() as sandbox:
        yield sandbox


@pytest.fixture
def new_world(marketplace: Sandbox) -> Iterator[Callable[..., World]]:
    """A function that creates worlds with the options of ``Sandbox.create_world``. They end with the test."""
    unused: list[Fault] = []
    # All callbacks are called at the end, the last one first, also if one of them fails.
    with ExitStack() as end:

        def create(*arguments: Any, **options: Any) -> World:
            world = marketplace.create_world(*arguments, **options)
            end.callback(world.delete)
            end.callback(lambda: unused.extend(_list_unused_faults(world)))
            return world

        yield create
    _warn_of_unused_faults(unused)


@pytest.fixture
def world(request: pytest.FixtureRequest, new_world: Callable[..., World]) -> World:
    """A new world, which ends with the test. ``@pytest.mark.world(…)`` states its options."""
    marker = request.node.get_closest_marker("world")
    return new_world(*marker.args, **marker.kwargs) if marker else new_world()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows the world of a failed test."""
    report = yield
    world: Any = getattr(item, "funcargs", {}).get("world")
    if report.failed and call.when == "call" and hasattr(world, "sandbox_request"):
        report.sections.append(("marketplace world", _describe(world)))
    return report


def _describe(world: World) -> str:
    lines = [f"{world.name} from {world.details['from']}, seed {world.details['seed']}"]
    try:
        lines.append(f"time: {world.now.isoformat()}")
        lines += _describe_last_calls(world)
    except Exception as error:
        lines.append(f"it does not respond: {error}")
    log = world.sandbox.server.log() if world.sandbox.server else ""
    if log:
        lines.append(f"log of the server:\n{log[-4000:]}")
    return "\n".join(lines)


def _describe_last_calls(world: World) -> list[str]:
    """Returns the last ten requests to the world, and how they were answered."""
    last = world.sandbox_request("GET", "/journal", query={"limit": 1}).json()["last"]
    calls = [call for call in world.journal(after=max(0, last - 50)) if call["origin"] == "world"]
    return [
        f"{call['method']} {call['path']}: {call['status']} {call['code'] or ''}".rstrip()
        for call in calls[-10:]
    ]


def _list_unused_faults(world: World) -> list[Fault]:
    """Returns the faults that a test has added and that matched nothing: it has not tested what it states."""
    from marketplace_sandbox import ApiError

    try:
        return world.faults.list(unmatched=True) if world.faults.is_used else []
    except ApiError as error:
        # The test has deleted its world.
        if error.code != "world_not_found":
            raise
        return []


def _warn_of_unused_faults(unused: list[Fault]) -> None:
    from marketplace_sandbox import UnusedFaultWarning

    for fault in unused:
        message = f"The fault {json.dumps(fault.match)} of this test matched nothing."
        warnings.warn(message, UnusedFaultWarning, stacklevel=2)
