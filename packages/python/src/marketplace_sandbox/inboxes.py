"""What the webhooks of a world got."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .clients_by_key import Client
from .signatures import verify_webhook
from .times import parse_time

# Seconds that one request may wait.
_MAX_WAIT = 30.0


@dataclass(frozen=True)
class Message:
    """A message to a webhook."""

    #: Number of the message in the world, counted from 1.
    number: int
    delivery_id: str
    #: URL of the webhook.
    url: str
    event_type: str
    #: Number of the attempt, counted from 1.
    attempt: int
    #: Time of the world at which it was sent.
    sent_at: datetime
    headers: dict[str, str]
    #: The body, as it is signed.
    body: str

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Message:
        """Creates a message from the JSON of a response."""
        return cls(
            body["number"],
            body["delivery_id"],
            body["url"],
            body["event_type"],
            body["attempt"],
            parse_time(body["sent_at"]),
            body["headers"],
            body["body"],
        )

    def json(self) -> Any:
        """Returns the parsed body."""
        return json.loads(self.body)

    def verify(self, secret: str) -> Any:
        """Returns the parsed body, or raises a ``SignatureError`` if it was not signed with this secret."""
        return verify_webhook(secret, self.headers, self.body)


# The class has a method with the name of the type.
_Messages = list[Message]


class Inbox:
    """The messages to the webhooks of a world."""

    def __init__(self, api: Client) -> None:
        self._api = api

    def list(self, *, after: int = 0, limit: int = 100, event_type: str | None = None) -> _Messages:
        """Returns the oldest messages with a number greater than ``after``, at most 100."""
        return self._list(after=after, limit=limit, event_type=event_type)

    def wait(self, event_type: str | None = None, *, after: int = 0, timeout: float = 5.0) -> Message:
        """Returns the first message with a number greater than ``after``, and waits for it.

        After ``timeout`` seconds, raises a ``TimeoutError`` with what the inbox has instead.
        """
        deadline = time.monotonic() + timeout
        while True:
            remaining = min(max(0.0, deadline - time.monotonic()), _MAX_WAIT)
            wait = f"{int(remaining * 1000)}ms"
            found = self._list(after=after, limit=1, event_type=event_type, wait=wait)
            if found:
                return found[0]
            if time.monotonic() >= deadline:
                others = [message.event_type for message in self.list(after=after)]
                asked = event_type or "message"
                raise TimeoutError(
                    f"No {asked} arrived within {timeout:g} seconds. The inbox has: {others or 'nothing'}"
                )

    def _list(self, **query: Any) -> _Messages:
        body = self._api.request("GET", "/webhooks", query=query).json()
        return [Message.from_json(message) for message in body["items"]]
