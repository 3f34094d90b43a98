"""Reports what a vendor sells and earns. It stands for the client that you want to test."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from decimal import Decimal
from typing import Any


class SalesReport:
    """Reads the market with the key of a vendor. Requests are repeated while the market is unavailable."""

    def __init__(
        self, base_url: str, key: str, attempts: int = 3, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.base_url = base_url
        self.key = key
        self.attempts = attempts
        self.pause = pause

    def available_earnings(self) -> Decimal:
        """Returns what the vendor can withdraw."""
        return Decimal(self._get("/v2/wallet")["earnings"]["available"])

    def sold_titles(self) -> list[str]:
        """Returns the titles of the listings that were sold, the latest first."""
        return [sale["listing_title"] for sale in self._get("/v2/listings/sales")["sales"]]

    def _get(self, path: str) -> Any:
        request = urllib.request.Request(
            self.base_url + path, headers={"Authorization": f"Bearer {self.key}"}
        )
        for attempt in range(1, self.attempts + 1):
            try:
                with urllib.request.urlopen(request) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code != 503 or attempt == self.attempts:
                    raise
                self.pause(float(error.headers.get("Retry-After", 1)))
        raise AssertionError("the last attempt returns or raises")
