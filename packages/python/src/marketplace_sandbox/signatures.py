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

    ``secret`` is that of the webhook, which begins with ``whsec_``. The age of the message is not checked,
    since the time of a world is not that of the machine.
    """
    content = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    try:
        signed = b".".join([given["webhook-id"].encode(), given["webhook-timestamp"].encode(), content])
        signatures = given["webhook-signature"].split()
    except KeyError as missing:
        raise SignatureError(f"The message has no header {missing}.") from None
    key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise SignatureError(
            f"None of the {len(signatures)} signatures of the message was made with this secret."
        )
    return json.loads(content)
