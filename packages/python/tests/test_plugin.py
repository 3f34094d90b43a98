"""The pytest plugin."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def test_failed_test_shows_its_world(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_that_fails(world):
            world.advance("1d")
            world.vendor.get("/v2/wallet")
            world.vendor.send("GET", "/v2/walet")
            assert False
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*marketplace world*",
            "world-1 from demo, seed 1",
            "time: 2026-03-02T09:00:00+00:00",
            "GET /v2/wallet: 200",
            "GET /v2/walet: 404 not_found",
        ]
    )


def test_plugin_loads_nothing_for_other_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_without_a_world():
            assert "marketplace_sandbox" not in sys.modules
        """
    )
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1)


def test_error_of_the_server_is_reported(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKETPLACE_BIN", "/nowhere/marketplace")
    pytester.makepyfile("def test_with_a_world(world): pass")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*BinaryNotFoundError: MARKETPLACE_BIN is /nowhere/marketplace*"])
