"""What can go wrong. Every error shows what the server said."""

from __future__ import annotations

import json
from typing import Any


class SandboxError(Exception):
    """Base of all errors of this package."""


class BinaryNotFoundError(SandboxError):
    """There is no program to start."""


class ServerStartError(SandboxError):
    """The server ended before it could be used. The message has what it printed."""


class ConnectionCutError(SandboxError, ConnectionError):
    """The connection ended before the whole response had arrived, as a fault can demand."""


class SignatureError(SandboxError):
    """No signature of a webhook message is right."""


class UnusedFaultWarning(UserWarning):
    """A test has added a fault that never applied to a request."""


class ApiError(SandboxError):
    """A response that reports an error.

    ``status`` is its status, ``code`` its error code (``None`` for a request with invalid parts), ``body``
    its parsed body, and ``headers`` its headers, with lowercase names.
    """

    def __init__(self, method: str, url: str, status: int, headers: dict[str, str], body: Any) -> None:
        self.method = method
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
        error = body.get("error") if isinstance(body, dict) else None
        self.code: str | None = error.get("code") if isinstance(error, dict) else None
        super().__init__(f"{method} {url}: {status} {describe(body)}")


class ExpectationError(ApiError, AssertionError):
    """An expectation is not met. The message has the calls that come nearest."""


def describe(body: Any) -> str:
    """Returns the messages in the body of an error."""
    if isinstance(body, dict):
        error, detail = body.get("error"), body.get("detail")
        if isinstance(error, dict) and "message" in error:
            details = error.get("details")
            more = "" if details in (None, {}, []) else f" {json.dumps(details, indent=1)}"
            return f"{error.get('code')}: {error['message']}{more}"
        if isinstance(detail, list):
            return "; ".join(_describe_problem(problem) for problem in detail)
    return body if isinstance(body, str) else json.dumps(body)


def is_unmet_expectation(body: Any) -> bool:
    """Whether the body of an error says that an expectation is not met, and not that it is invalid."""
    problems = body.get("detail") if isinstance(body, dict) else None
    return isinstance(problems, list) and any(
        problem.get("type") == "expectation_failed" for problem in problems
    )


def _describe_problem(problem: Any) -> str:
    if not isinstance(problem, dict):
        return str(problem)
    location = ".".join(str(part) for part in problem.get("loc", []))
    return f"{location}: {problem.get('msg')}"
