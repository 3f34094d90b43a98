"""Signatures of webhook messages, as Standard Webhooks prescribes them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from .errors import SignatureError

_SECRET_PREFIX = "whsec_"


def verify_webhook(secret: str, headers: Mapping[str, str], body: str | bytes) -> Any:
    """Returns the parsed body of a message, or raises a ``SignatureError`` if no signature is right.

    ``secret`` is that of the webhook, which begins with ``whsec_``; a text that cannot be one is a
    ``ValueError``. The age of the message is not checked, since the time of a world is not that of the
    machine.
    """
    key = _read_secret(secret)
    content = _encode(body) if isinstance(body, str) else body
    given = {name.lower(): _encode(value) for name, value in headers.items()}
    try:
        signed = b".".join([given["webhook-id"], given["webhook-timestamp"], content])
        signatures = given["webhook-signature"].split()
    except KeyError as missing:
        raise SignatureError(f"The message has no header {missing}.") from None
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise SignatureError(
            f"None of the {len(signatures)} signatures of the message was made with this secret."
        )
    return json.loads(content)


def _read_secret(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError(f"The secret must be {_SECRET_PREFIX} and text in Base64, as the webhook has it.")
    return key


def _encode(text: str) -> bytes:
    """Encodes any text, also one that is no valid Unicode."""
    return text.encode(errors="surrogatepass")
