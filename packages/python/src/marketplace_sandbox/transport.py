"""Requests. Each has a connection of its own, so a fault that cuts a connection concerns one request."""

from __future__ import annotations

import http.client
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import ApiError, ConnectionCutError
from .times import format_time

# Seconds without a byte from the server after which a request fails.
DEFAULT_TIMEOUT = 60.0

#: The same for requests that carry out all due work, or that copy the state of a world.
LONG_TIMEOUT = 3600.0

# Characters with a meaning in a URL, and those that encode other characters.
_RESERVED = "!#$%&'()*+,/:;=?@[]"


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
    """Leaves out the fields that are ``None``."""
    return {name: value for name, value in fields.items() if value is not None}


def query_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Returns keywords as query parameters. ``from_`` is ``from``, which Python reserves."""
    return {name.removesuffix("_"): value for name, value in keywords.items()}


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
    path = parts.path or "/"
    search = "&".join(part for part in (parts.query, urlencode(list(_parameters(query or {})))) if part)
    target = quote(f"{path}?{search}" if search else path, safe=_RESERVED)
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


def _parameters(query: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Returns the query parameters that have a value, with one parameter for each element of a list."""
    for name, value in query.items():
        is_list = isinstance(value, Collection) and not isinstance(value, (str, bytes))
        for one in value if is_list else [value]:
            if one is not None:
                yield name, format_time(one) if isinstance(one, datetime) else one
