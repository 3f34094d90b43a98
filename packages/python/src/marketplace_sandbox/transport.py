"""Requests. Each has a connection of its own, so a fault that cuts a connection concerns one request."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import ApiError, ConnectionCutError

# Seconds without a byte from the server after which a request fails.
DEFAULT_TIMEOUT = 60.0


@dataclass(frozen=True)
class Response:
    """A response to a request, whatever its status."""

    method: str
    url: str
    status: int
    #: Headers, with lowercase names.
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Returns the parsed body; ``None`` if there is none."""
        return json.loads(self.body) if self.body else None

    def parsed(self) -> Any:
        """Returns the parsed body if it is JSON, or else the text."""
        try:
            return self.json()
        except ValueError:
            return self.body.decode(errors="replace")

    def require_success(self) -> Response:
        """Returns this response, or raises an ``ApiError`` if it reports an error."""
        if self.status >= 400:
            raise ApiError(self.method, self.url, self.status, self.headers, self.parsed())
        return self


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Leaves out the fields that state nothing: those that are ``None`` or ``False``."""
    return {name: value for name, value in fields.items() if value is not None and value is not False}


def segment(name: str) -> str:
    """Returns a name as one segment of a path."""
    return quote(name, safe="")


def send(
    method: str,
    url: str,
    *,
    key: str | None = None,
    query: Mapping[str, Any] | None = None,
    json_body: Any = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Response:
    """Sends a request, and returns the response.

    Raises a ``ConnectionCutError`` if the response does not arrive completely.
    """
    parts = urlsplit(url)
    parameters = [(name, value) for name, value in (query or {}).items() if value is not None]
    path = parts.path or "/"
    search = "&".join(part for part in (parts.query, urlencode(parameters, doseq=True)) if part)
    target = f"{path}?{search}" if search else path
    sent = {"Connection": "close", "Accept": "application/json"}
    if key is not None:
        sent["Authorization"] = f"Bearer {key}"
    if json_body is not None:
        body = json.dumps(json_body).encode()
        sent["Content-Type"] = "application/json"
    sent.update(headers or {})
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request(method, target, body=body, headers=sent)
        received = connection.getresponse()
        if received.length is None and not received.chunked:
            # The library takes the end of the connection for that of the headers. The server states the
            # length of every body.
            raise http.client.IncompleteRead(b"")
        content = received.read()
    except (http.client.HTTPException, ConnectionResetError, BrokenPipeError) as cause:
        raise ConnectionCutError(f"{method} {url}: the connection ended early ({cause!r})") from cause
    finally:
        connection.close()
    names = {name.lower(): value for name, value in received.getheaders()}
    return Response(method, url, received.status, names, content)
