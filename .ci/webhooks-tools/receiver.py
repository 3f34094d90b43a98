"""Receives webhooks, and verifies them with the library `standardwebhooks`.

With the path of a file, checks that the library signs the vectors in it alike. Otherwise prints its URL, and then, for each
secret in a line of the input, `ready` and what it found in the next request.
"""

import datetime
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    for vector in vectors:
        at = datetime.datetime.fromtimestamp(vector["timestamp"], datetime.timezone.utc)
        signed = [Webhook(secret).sign(vector["id"], at, vector["body"]) for secret in vector["secrets"]]
        assert " ".join(signed) == vector["signature"], vector["id"]
    print(f"{len(vectors)} vectors are signed alike")


def is_refused(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


def examine(secret, body, headers):
    """Verifies a request, and that forgeries are refused. Those with another time are signed for it."""
    found = Webhook(secret).verify(body, headers)
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    headers = {name: headers[name] for name in names}

    def at(seconds):
        time = int(headers["webhook-timestamp"]) + seconds
        moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
        signature = Webhook(secret).sign(headers["webhook-id"], moment, body.decode())
        return headers | {"webhook-timestamp": str(time), "webhook-signature": signature}

    assert not is_refused(secret, body, at(0))
    forgeries = {
        "wrong ID": (body, headers | {"webhook-id": "msg_0"}),
        "other body": (body + b" ", headers),
        "old time": (body, at(-400)),
        "future time": (body, at(400)),
    }
    return {
        "type": found["type"],
        "subject": found["data"]["subject"]["id"],
        "signatures": len(headers["webhook-signature"].split(" ")),
        "refused": [name for name, (forged, sent) in forgeries.items() if is_refused(secret, forged, sent)],
    }


class Receiver(BaseHTTPRequestHandler):
    secret = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            found = examine(Receiver.secret, body, headers)
        except Exception as error:  # noqa: BLE001
            found = {"error": repr(error)}
        self.send_response(204)
        self.end_headers()
        print(json.dumps(found), flush=True)

    def log_message(self, *_):
        pass


def receive():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    print(f"http://127.0.0.1:{server.server_port}/hook", flush=True)
    for line in sys.stdin:
        Receiver.secret = line.strip()
        print("ready", flush=True)
        server.handle_request()


if len(sys.argv) > 1:
    check_vectors(sys.argv[1])
else:
    receive()
