"""A small client for the APIs of a world."""

from __future__ import annotations

from typing import Any

from .transport import Response, query_of, send


class Client:
    """Sends requests to a world with one API key. Results are parsed JSON; errors are ``ApiError``."""

    def __init__(self, base_url: str, key: str | None) -> None:
        self.base_url = base_url
        self.key = key

    def get(self, path: str, **query: Any) -> Any:
        """Sends a GET request. Keywords are query parameters; a list is one parameter for each element.

        The keyword ``from_`` is the parameter ``from``.
        """
        return self.request("GET", path, query=query_of(query)).json()

    def post(self, path: str, json: Any = None, **options: Any) -> Any:
        """Sends a POST request with a JSON body."""
        return self.request("POST", path, json_body=json, **options).json()

    def put(self, path: str, json: Any = None, **options: Any) -> Any:
        """Sends a PUT request with a JSON body."""
        return self.request("PUT", path, json_body=json, **options).json()

    def patch(self, path: str, json: Any = None, **options: Any) -> Any:
        """Sends a PATCH request with a JSON body."""
        return self.request("PATCH", path, json_body=json, **options).json()

    def delete(self, path: str, **options: Any) -> Any:
        """Sends a DELETE request."""
        return self.request("DELETE", path, **options).json()

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Sends a request, and returns the response. Raises an ``ApiError`` if it reports an error."""
        return self.send(method, path, **options).require_success()

    def send(self, method: str, path: str, **options: Any) -> Response:
        """Sends a request, and returns the response, whatever its status.

        Options are ``query``, ``json_body``, ``body`` (bytes), ``headers``, and ``timeout`` (seconds).
        """
        return send(method, self.base_url + path, key=self.key, **options)
