"""Connects a payment provider: receives webhooks of a market's operators, and reports what became of them.

Takes a port. Variables: MARKETPLACE_URL, MARKETPLACE_OPERATOR_KEY (scope `payments`), and WEBHOOK_SECRET.
"""

import base64
import hmac
import json
import os
import sys
import time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import error, request

URL, KEY = os.environ["MARKETPLACE_URL"], os.environ["MARKETPLACE_OPERATOR_KEY"]
SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
REPORTS = {
    "purchase.created": ("purchases", "complete", "cancel"),
    "credit_purchase.requested": ("credit-purchases", "complete", "reject"),
    "withdrawal.requested": ("withdrawals", "paid", "failed"),
}


def is_genuine(headers, body):
    timestamp = headers.get("webhook-timestamp", "")
    is_recent = timestamp.isdecimal() and abs(time.time() - int(timestamp)) <= 300
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(SECRET, signed, "sha256"))
    signatures = headers.get("webhook-signature", "").encode().split()
    return is_recent and any(hmac.compare_digest(expected, signature) for signature in signatures)


def transfer(kind, payment, team, amount):
    """Collects the amount, or pays a withdrawal to its `payout_setup`. It can be called twice: pay once."""
    return True


def handle(event):
    kind, data = event["type"], event["data"]
    identifier, invoice = data["subject"]["id"], data.get("payment", {})
    amount = data.get("amount") or str(Decimal(invoice["price"]) + Decimal(invoice["buyer_fee"]))
    if Decimal(amount) == 0 or invoice.get("pay_with") == "credits":
        return  # The purchase is completed already.
    collection, *verbs = REPORTS[kind]
    verb = verbs[0] if transfer(kind, identifier, data["team_id"], amount) else verbs[1]
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    url, body = f"{URL}/operator/v1/{collection}/{identifier}/{verb}", json.dumps({"amount": amount}).encode()
    with request.urlopen(request.Request(url, body, headers), timeout=10) as response:
        print(kind, identifier, json.load(response)["status"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        status = 204 if is_genuine(self.headers, body) else 401
        try:
            if status == 204 and json.loads(body)["type"] in REPORTS:
                handle(json.loads(body))
        except error.HTTPError as refusal:  # 409: it has ended otherwise. The market repeats what fails here.
            print(refusal.read().decode(), file=sys.stderr)
            status = 204 if refusal.code == 409 else 500
        self.send_response(status)
        self.end_headers()


with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver) as server:
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
