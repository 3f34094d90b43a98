"""Times and durations, as Python and as the server write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


def parse_time(text: str) -> datetime:
    """Parses a time of a response."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def format_time(time: datetime | str) -> str:
    """Returns a time for a request. A ``datetime`` without a time zone is UTC."""
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return time.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def format_duration(duration: timedelta | str) -> str:
    """Returns a duration for a request. A ``timedelta`` is rounded down to milliseconds."""
    return duration if isinstance(duration, str) else f"{duration // timedelta(milliseconds=1)}ms"
