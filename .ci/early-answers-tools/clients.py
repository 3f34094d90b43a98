"""Sends requests that are answered before their bodies have arrived, with http.client, requests, and httpx.

Arguments: the address of a demo server, and the number of requests for each client.
"""

import http.client
import itertools
import sys
import urllib.parse

import httpx
import requests

VENDOR = {"Authorization": "Bearer mkt_demo_vendor"}
BUYER = {"Authorization": "Bearer mkt_demo_buyer"}
JSON = {"Content-Type": "application/json"}

# Method, path, headers, and the status of the answer. A request without a body follows every third one.
EARLY = [
    ("POST", "/v2/codebases", JSON, 401),
    ("POST", "/v2/codebases", BUYER | JSON, 403),
    ("POST", "/v2/no/such/path", VENDOR | JSON, 404),
    ("PUT", "/v2/codebases", VENDOR | JSON, 405),
    ("POST", "/v2/codebases?limt=1", VENDOR | JSON, 422),
]
LATE = ("GET", "/v2/domains", VENDOR, 200)
SIZES = [0, 1, 1_000, 65_536, 65_537, 200_000, 1_000_000, 5_000_000]


def cases(count):
    """Yields requests with bodies of all sizes, and requests without early answers between them."""
    early = itertools.cycle(itertools.product(EARLY, SIZES))
    for number in range(count):
        if number % 3 == 2:
            yield *LATE, None
        else:
            case, size = next(early)
            yield *case, b"x" * size


def check(name, count, send):
    """Sends all requests, and exits if an answer is missing or belongs to another request."""
    right = 0
    for method, path, headers, expected, body in cases(count):
        try:
            status = send(method, path, headers, body)
        except Exception as error:  # noqa: BLE001 (any failure of a client is one of the server)
            status = repr(error)
        right += status == expected
        if status != expected:
            print(f"{name}: {method} {path} with {len(body or b'')} bytes: {status}, not {expected}")
    print(f"{name}: {right} of {count}")
    return right == count


def main():
    url, count = sys.argv[1], int(sys.argv[2])
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)

    def with_http_client(method, path, headers, body):
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        return response.status

    # No client retries: a retry would hide a broken connection.
    session = requests.Session()
    client = httpx.Client(timeout=30)
    results = [
        check("http.client", count, with_http_client),
        check("requests", count, lambda method, path, headers, body: session.request(
            method, url + path, headers=headers, data=body, timeout=30).status_code),
        check("httpx", count, lambda method, path, headers, body: client.request(
            method, url + path, headers=headers, content=body).status_code),
    ]
    sys.exit(not all(results))


main()
