"""A market whose server is started, ended, and asked by the drill, and what it has acknowledged."""

import collections
import hashlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading
import time
import uuid

PATIENCE_SECONDS = 60
OPERATOR = "/operator/v1"

# Nobody is limited, so that faults are the only cause of refusals.
UNLIMITED = {
    f"MARKETPLACE_LIMITS_{name}": "0"
    for name in ("CATALOG", "HISTORY", "SALES", "PURCHASES", "QUALITY_CHECKS", "UPLOADS", "OTHER", "ADDRESS")
} | {"MARKETPLACE_SERVER_MAX_CONNECTIONS_PER_ADDRESS": "0", "MARKETPLACE_DATA_RESERVE_MB": "16"}
# What servers log, apart from each request.
UNLIMITED["MARKETPLACE_LOG_FILTER"] = "info,marketplace::web::request_id=warn"

# An archive without files, to which a comment gives other bytes each time.
EMPTY_ZIP = b"PK\x05\x06" + bytes(16)


class Wrong(Exception):
    """Something that was acknowledged is lost, or the program has said something that is not true."""


def require(condition: object, what: str) -> None:
    """Fails unless a condition holds."""
    if not condition:
        raise Wrong(what)


class Answer:
    """A response: its status, its headers, and its body."""

    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.headers, self.bytes = response.status, response.headers, response.read()

    def __repr__(self) -> str:
        return f"{self.status} {self.bytes[:300].decode(errors='replace')}"

    def json(self):
        return json.loads(self.bytes)

    def code(self) -> str:
        """Returns the code of an error with its reason, if it has one; empty if it is no error."""
        if self.status < 400:
            return ""
        try:
            error = self.json()["error"]
        except (ValueError, KeyError, TypeError):
            return "(no error)"
        reason = (error["details"] or {}).get("reason")
        return f"{error['code']}/{reason}" if reason else error["code"]

    def ok(self):
        """Returns the body of a successful response."""
        require(self.status < 300, f"a request failed: {self!r}")
        return self.json() if self.bytes else None


class Market:
    """A market in a directory, and its server while it runs."""

    def __init__(self, program: pathlib.Path, work: pathlib.Path, environment: dict[str, str] | None = None):
        self.program, self.work, self.data = program, work, work / "data"
        self.environment = os.environ | UNLIMITED | (environment or {})
        self.environment["MARKETPLACE_OPERATOR_KEY_FILE"] = str(work / "operator.key")
        self.log = work / "server.err"
        self.process: subprocess.Popen | None = None
        self.address = ""
        self.connections = threading.local()

    def create(self) -> "Market":
        """Creates the market and its operator key."""
        self.work.mkdir(parents=True, exist_ok=True)
        made = self.run("init", self.work / "market", "--data", self.data, "--key-file", self.work / "operator.key")
        require(made.returncode == 0, made.stderr)
        return self

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        """Runs a command of the program."""
        command = [str(part) for part in (self.program, *arguments)]
        return subprocess.run(command, text=True, capture_output=True, env=self.environment, timeout=600)

    def launch(self, files: int = 0, before: tuple[str, ...] = ()) -> None:
        """Starts the server, with so many file descriptors if it is not 0, without waiting for it."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        command = [*before, str(self.program), "serve", "--data", str(self.data), "--listen", "127.0.0.1:0"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env=self.environment, preexec_fn=limit
            )

    def start(self, files: int = 0, before: tuple[str, ...] = ()) -> float:
        """Starts the server. Returns the seconds until it accepted connections."""
        began = time.monotonic()
        self.launch(files, before)
        line = self.process.stdout.readline().decode()
        require(line.startswith("listening on "), f"the server does not start: {self.logged()[-2000:]}")
        self.address = line.split("http://")[1].strip()
        self.connections = threading.local()
        return time.monotonic() - began

    def kill(self) -> None:
        """Kills the server."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self) -> int:
        """Ends the server as a service manager does. Returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE_SECONDS)
        self.process.stdout.close()
        return status

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def logged(self, since: int = 0) -> str:
        """Returns the log from a byte on, without colors."""
        text = self.log.read_bytes()[since:].decode(errors="replace")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def log_size(self) -> int:
        return self.log.stat().st_size

    def send(self, method: str, path: str, body=None, key: str | None = None, headers=None) -> Answer:
        """Sends a request, with the operator's key unless another one is given. Fails with OSError or HTTPException."""
        head = {"Authorization": f"Bearer {key or self.operator_key()}"} | (headers or {})
        if body is not None and not isinstance(body, bytes):
            body, head["Content-Type"] = json.dumps(body).encode(), "application/json"
        connection = getattr(self.connections, "open", None)
        if connection is None:
            connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)
            self.connections.open = connection
        try:
            connection.request(method, path, body, head)
            return Answer(connection.getresponse())
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    def operator_key(self) -> str:
        if not hasattr(self, "read_key"):
            self.read_key = (self.work / "operator.key").read_text().strip()
        return self.read_key

    def get(self, path: str, key: str | None = None) -> Answer:
        return self.send("GET", path, key=key)

    def post(self, path: str, body=None, key: str | None = None) -> Answer:
        """Sends a POST request that nothing repeats."""
        return self.send("POST", path, body, key, {"Idempotency-Key": str(uuid.uuid4())})

    def failed(self) -> list[str]:
        """Returns the conditions of /readyz that are not met."""
        return self.get("/readyz").json()["failed"]

    def wait_for(self, what: str, condition, patience: float = PATIENCE_SECONDS) -> float:
        """Waits until a condition holds. Returns the seconds."""
        began = time.monotonic()
        while not condition():
            require(time.monotonic() - began < patience, f"waited for {what} in vain; log: {self.logged()[-1500:]}")
            time.sleep(0.05)
        return time.monotonic() - began

    def wait_until_ready(self) -> float:
        return self.wait_for("the server to be ready", lambda: self.failed() == [])

    def wait_for_jobs(self) -> float:
        """Waits until no job is queued but those that follow by themselves. After a fault, jobs are tried again within a minute."""
        return self.wait_for("jobs", self.has_only_regular_jobs, 3 * PATIENCE_SECONDS)

    def has_only_regular_jobs(self) -> bool:
        """Whether only the next cleanup and the next head of the log of attestations are queued."""
        lists = [self.get(f"{OPERATOR}/jobs?limit=3&state={state}").ok()["items"] for state in ("waiting", "running")]
        return all(job["kind"] in ("sweep", "seal_log") for jobs in lists for job in jobs)

    def require_no_lost_jobs(self) -> None:
        """Waits until jobs have ended, none of which may have been given up because of a fault."""
        self.wait_for_jobs()
        failed = self.get(f"{OPERATOR}/jobs?limit=5&state=failed").ok()
        require(failed["total"] == 0, f"{failed['total']} jobs were given up, such as {failed['items'][:1]}")

    def problems(self, *arguments: str) -> list[dict]:
        """Returns what `verify` finds."""
        done = self.run("verify", "--data", self.data, "--json", *arguments)
        require(done.returncode in (0, 1) and done.stdout.startswith("{"), f"verify fails: {done.stdout}{done.stderr}")
        found = json.loads(done.stdout)["problems"]
        require(bool(found) == bool(done.returncode), f"the exit status {done.returncode} of verify contradicts {found}")
        return found

    def require_intact(self, *arguments: str) -> None:
        found = self.problems(*arguments)
        require(found == [], f"verify finds {found}")


class Trade:
    """Writes as in a market, and what was acknowledged. Every request is repeated with its key until it is answered."""

    def __init__(self, market: Market):
        self.market = market
        self.records: dict[str, dict] = {}
        self.files: dict[str, str] = {}
        self.balances: dict[str, int] = {}
        self.lock = threading.Lock()
        self.is_halted = threading.Event()
        self.repeated = 0
        # How often requests were refused, by status and code.
        self.refused = collections.Counter()

    def do(self, path: str, body=None, key: str | None = None, method: str = "POST"):
        """Sends a request until it is answered, across restarts of the server. Returns the body."""
        name = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        while True:
            try:
                answer = self.market.send(method, path, body, key, name)
                if answer.status < 500:
                    return answer.ok()
                self.refused[f"{answer.status} {answer.code()}"] += 1
            except (OSError, http.client.HTTPException):
                self.repeated += 1
            if self.is_halted.is_set():
                raise InterruptedError
            time.sleep(0.01)

    def remember(self, path: str, expected: dict) -> dict:
        """Records what a GET request of a path has to return from now on."""
        with self.lock:
            self.records[path] = self.records.get(path, {}) | expected
        return expected

    def create_team(self, role: str) -> dict:
        team = self.do(f"{OPERATOR}/teams", {"name": f"Team {uuid.uuid4()}", "roles": [role], "nda_accepted": True})
        self.remember(f"{OPERATOR}/teams/{team['id']}", {"name": team["name"], "roles": [role]})
        return team

    def add_credits(self, team: str, cents: int) -> None:
        body = {"team_id": team, "amount": f"{cents / 100:.2f}", "description": "For the drill"}
        made = self.do(f"{OPERATOR}/adjustments", body)
        self.remember(f"{OPERATOR}/adjustments/{made['id']}", {"amount": made["amount"]})
        with self.lock:
            self.balances[team] = self.balances.get(team, 0) + cents

    def upload(self, team: str) -> str:
        """Uploads a zip. Returns its address."""
        comment = uuid.uuid4().hex.encode() * 64
        content = EMPTY_ZIP + len(comment).to_bytes(2, "little") + comment
        plan = self.do(f"{OPERATOR}/teams/{team}/uploads", {"file_name": "scans.zip", "size_bytes": len(content)})
        self.send_part(plan["parts"][0]["url"], content)
        done = self.do(f"{OPERATOR}/uploads/{plan['id']}/complete")
        with self.lock:
            self.files[plan["id"]] = hashlib.sha256(content).hexdigest()
        return done["url"]

    def send_part(self, url: str, content: bytes) -> None:
        path = "/" + url.split("://", 1)[1].split("/", 1)[1]
        self.do(path, content, method="PUT")

    def sell(self, vendor: str, key: str, buyer: str) -> None:
        """Uploads data, publishes it as a listing, and buys it."""
        zipped = {"channel": "zip", "url": self.upload(vendor)}
        common = {"title": f"Scans {uuid.uuid4()}", "description": "Scans of harbors.", "domain_tags": ["logistics"]}
        data = common | {"price_usd": 10, "data": zipped}
        asset = self.do("/v2/raw-data", data, key)
        self.remember(f"{OPERATOR}/assets/{asset['id']}", {"title": data["title"]})
        offered = {"team_id": vendor, "price": "10.00", "currency": "USD", "asset_ids": [asset["id"]]}
        listing = self.do(f"{OPERATOR}/listings", common | offered)
        path = f"{OPERATOR}/listings/{listing['id']}"
        self.remember(path, {"title": data["title"]})
        for step in ("submit", "approve", "publish"):
            changed = self.do(f"{path}/{step}")
        self.remember(path, {"stage": changed["stage"]})
        bought = self.do(
            f"{OPERATOR}/purchases", {"team_id": buyer, "listing_id": listing["id"], "kind": "full", "pay_with": "credits"}
        )
        self.remember(f"{OPERATOR}/purchases/{bought['id']}", {"status": bought["status"], "listing_id": listing["id"]})
        with self.lock:
            self.balances[buyer] -= round(float(bought["total"]) * 100)

    def run(self, stopped: threading.Event) -> None:
        """Trades until it is stopped."""
        try:
            vendor, buyer = self.create_team("vendor")["id"], self.create_team("buyer")["id"]
            key = self.do(f"{OPERATOR}/keys", {"team_id": vendor, "name": "drill"})
            while not stopped.is_set():
                self.create_team("buyer")
                self.add_credits(buyer, 1500)
                self.sell(vendor, key["secret"], buyer)
        except InterruptedError:
            pass

    def check(self, paths: list[str]) -> None:
        """Compares records with what was acknowledged."""
        for path in paths:
            # Read first, since clients may go on meanwhile.
            expected = self.records[path]
            found = self.market.get(path)
            require(found.status == 200, f"{path} was acknowledged, and is now {found!r}")
            got = {name: found.json().get(name) for name in expected}
            require(got == expected, f"{path} was {expected}, and is now {got}")

    def check_balances(self) -> None:
        """Compares the credits of all teams with what was acknowledged. No write may be in progress."""
        for team, cents in self.balances.items():
            found = self.market.get(f"{OPERATOR}/wallets/{team}").ok()
            got = round(float(found["credits"]) * 100)
            require(got == cents, f"the credits of {team} are {got} cents, and {cents} were acknowledged")

    def check_files(self) -> None:
        """Compares uploaded files with what was sent."""
        for upload, digest in self.files.items():
            path = self.market.data / "blobs/uploads" / f"{upload}.zip"
            require(path.exists(), f"the file of the upload {upload} is lost")
            require(hashlib.sha256(path.read_bytes()).hexdigest() == digest, f"the file of the upload {upload} differs")

    def check_all(self) -> None:
        self.check(list(self.records))
        self.check_balances()
        self.check_files()
