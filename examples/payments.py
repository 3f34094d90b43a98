"""Connects a payment provider: receives the webhooks of a market's operators, and reports what became of payments.
Takes a port; MARKETPLACE_URL, MARKETPLACE_OPERATOR_KEY (scope `payments`), and WEBHOOK_SECRET are variables."""
import base64, hashlib, hmac, json, os, sys, time, urllib.error, urllib.request
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL, KEY = os.environ["MARKETPLACE_URL"], os.environ["MARKETPLACE_OPERATOR_KEY"]
HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
REPORTS = {
    "purchase.created": ("purchases", "complete", "cancel"),
    "credit_purchase.requested": ("credit-purchases", "complete", "reject"),
    "withdrawal.requested": ("withdrawals", "paid", "failed"),
}


def is_genuine(headers, body):
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(SECRET, signed, hashlib.sha256))
    return any(hmac.compare_digest(expected, found.encode()) for found in headers.get("webhook-signature", "").split())


def transfer(kind, payment, team, amount):
    """Asks your provider to collect the amount, or to pay a withdrawal. A payment can come twice: pay it once."""
    return True


def handle(event):
    kind, data = event["type"], event["data"]
    identifier, invoice = data["subject"]["id"], data.get("payment", {})
    amount = data.get("amount") or str(Decimal(invoice["price"]) + Decimal(invoice["buyer_fee"]))
    collection, success, failure = REPORTS[kind]
    if Decimal(amount) == 0 or invoice.get("pay_with") == "credits":
        return  # The purchase is completed already.
    verb = success if transfer(kind, identifier, data["team_id"], amount) else failure
    url, body = f"{URL}/operator/v1/{collection}/{identifier}/{verb}", json.dumps({"amount": amount}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, HEADERS), timeout=10) as response:
        print(kind, identifier, json.load(response)["status"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        status = 204 if is_genuine(self.headers, body) else 401
        try:
            if status == 204 and json.loads(body)["type"] in REPORTS:
                handle(json.loads(body))
        except urllib.error.HTTPError as error:  # 409: it has ended otherwise. The market sends again what fails here.
            print(error.read().decode(), file=sys.stderr)
            status = 204 if error.code == 409 else 500
        self.send_response(status)
        self.end_headers()


with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver) as server:
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
