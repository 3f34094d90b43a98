"""Worlds, as tests use them."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from marketplace_sandbox import ApiError, Sandbox, SandboxError, SignatureError, World, verify_webhook

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)

# The listing of the demo market that waits for a review, and the buyer.
LISTING = "ec363ec8-bc2c-5fba-adf4-afed3dea02b0"
BUYER_TEAM = "57d9aaca-90f7-528c-aff6-0b974cabd171"

NewWorld = Callable[..., World]


def add_codebase(world: World, title: str = "Harbour ledger") -> Any:
    return world.vendor.post("/v2/codebases", {"title": title, "exclusivity": "available"})


def sell_listing(world: World) -> None:
    """Brings the listing from the review to the buyer."""
    world.operator.post(f"/operator/v1/listings/{LISTING}/approve")
    world.operator.post(f"/operator/v1/listings/{LISTING}/publish")
    purchase = {"team_id": BUYER_TEAM, "listing_id": LISTING, "kind": "full", "pay_with": "credits"}
    world.operator.post("/operator/v1/purchases", purchase)


def test_worlds_do_not_see_each_other(world: World, new_world: NewWorld) -> None:
    other = new_world()
    made = add_codebase(world)
    assert world.vendor.get(f"/v2/codebases/{made['id']}")["title"] == "Harbour ledger"
    with pytest.raises(ApiError) as refused:
        other.vendor.get(f"/v2/codebases/{made['id']}")
    assert refused.value.status == 404
    # The same requests get the same answers.
    assert add_codebase(other) == made


def test_clock_is_frozen_and_is_advanced(world: World) -> None:
    assert world.started_at == START and world.now == START
    change = world.advance("1d12h")
    assert change.now == START + timedelta(hours=36)
    assert change.done_total == len(change.done) > 0
    assert [work.due_at for work in change.done] == sorted(work.due_at for work in change.done)
    assert world.advance(timedelta(minutes=90, milliseconds=1)).now == change.now + timedelta(
        hours=1.5, milliseconds=1
    )
    assert world.clock.set(datetime(2026, 4, 1)).now == datetime(2026, 4, 1, tzinfo=timezone.utc)
    modes = []
    for change_mode in (world.clock.run, world.clock.freeze):
        change_mode()
        modes.append(world.clock.mode)
    assert modes == ["running", "frozen"]


def test_errors_show_what_the_server_said(world: World) -> None:
    with pytest.raises(
        ApiError, match=r"422 body\.set: The clock is at 2026-03-01T09:00:00\.000Z, and never goes back"
    ):
        world.clock.set(datetime(2026, 2, 1))
    with pytest.raises(ApiError, match="404 not_found: No route matches this path") as unknown:
        world.buyer.get("/v2/walet")
    assert unknown.value.code == "not_found" and unknown.value.headers["x-request-id"]
    assert world.buyer.send("GET", "/v2/walet").status == 404


@pytest.mark.world(
    "of-a-marker", from_="empty", now="2026-05-01T00:00:00Z", seed=7, settings={"fees.buyer_percent": 4.0}
)
def test_marker_states_how_the_world_is_created(world: World) -> None:
    assert world.name == "of-a-marker" and world.started_at == datetime(2026, 5, 1, tzinfo=timezone.utc)
    assert world.details["settings"] == {"fees.buyer_percent": 4.0}
    assert world.operator.get("/operator/v1/teams")["items"] == []
    with pytest.raises(SandboxError, match="has no buyer of the demo market"):
        _ = world.buyer


def test_reset_snapshot_and_file_keep_states(world: World, new_world: NewWorld, marketplace: Sandbox) -> None:
    made = add_codebase(world)
    path = f"/v2/codebases/{made['id']}"
    snapshot, archive = world.snapshot(f"{world.name}-with-codebase"), world.export()
    assert snapshot in marketplace.snapshots()
    world.reset()
    assert world.vendor.send("GET", path).status == 404 and world.now == START
    assert new_world(from_=snapshot.name).vendor.get(path) == made
    world.import_state(archive)
    assert world.vendor.get(path) == made
    marketplace.delete_snapshot(snapshot.name)
    assert snapshot not in marketplace.snapshots()


def test_clients_use_the_keys_of_the_state(world: World, new_world: NewWorld) -> None:
    other = new_world(from_="empty")
    key = other.operator.key
    other.import_state(world.export())
    assert other.vendor.get("/v2/wallet") == world.vendor.get("/v2/wallet")
    assert (
        other.operator.get("/operator/v1/teams")["items"] and other.details["keys"] == world.details["keys"]
    )
    other.reset()
    assert other.operator.key == key and other.operator.get("/operator/v1/teams")["items"] == []
    with pytest.raises(SandboxError, match="has no buyer of the demo market"):
        _ = other.buyer


def test_requests_that_carry_out_what_is_due_may_take_an_hour(
    world: World, new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts = []

    class Recorder(HTTPConnection):
        def request(self, method: str, url: str, *arguments: Any, **options: Any) -> None:
            timeouts.append((method, url.split("/")[-1], self.timeout))
            super().request(method, url, *arguments, **options)

    monkeypatch.setattr("http.client.HTTPConnection", Recorder)
    new_world(now="2026-03-02T09:00:00Z")
    world.advance("1h")
    _ = world.now
    world.reset()
    hour = 3600.0
    assert timeouts == [
        ("POST", "worlds", hour),
        ("POST", "clock", hour),
        ("GET", "clock", 60.0),
        ("POST", "reset", hour),
    ]


def test_addresses_are_encoded(world: World) -> None:
    for query in ("café", "a b", "a%20b", "100%25"):
        assert world.vendor.send("GET", f"/v2/listings/browse?query={query}").status == 200
    assert world.vendor.send("GET", "/v2/café").status == 404
    sent = [call["query"] for call in world.journal(method="GET")]
    assert sent == ["query=caf%C3%A9", "query=a%20b", "query=a%20b", "query=100%25", None]


def test_unknown_fields_are_ignored() -> None:
    world = {
        "id": "1",
        "name": "w",
        "base_url": "http://127.0.0.1:9/w/w",
        "port_url": None,
        "keys": [{"key": "mkt_1", "description": "an operator of the marketplace", "new": 1}],
        "now": "2026-03-01T09:00:00Z",
    }
    message = {
        "number": 1,
        "delivery_id": "2",
        "url": "http://127.0.0.1:9/",
        "event_type": "team.created",
        "attempt": 1,
        "sent_at": "2026-03-01T09:00:00Z",
        "headers": {},
        "body": "{}",
        "new": 1,
    }

    class Later(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = (
                {"items": [message], "last": 1}
                if self.path.endswith("/webhooks?after=0&limit=100")
                else world
            )
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Later) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        later = Sandbox.connect(f"http://127.0.0.1:{server.server_port}", "mkt_1").world("w")
        assert later.operator.key == "mkt_1"
        assert [message.sent_at for message in later.inbox.list()] == [START]
        server.shutdown()


def test_inbox_has_signed_messages(world: World) -> None:
    webhook = world.operator.post("/operator/v1/webhooks", {"url": "http://127.0.0.1:9/all"})
    assert world.inbox.list() == []
    sell_listing(world)
    message = world.inbox.wait("purchase.completed")
    assert message.url == "http://127.0.0.1:9/all" and message.attempt == 1
    event = message.verify(webhook["secret"])
    assert event == message.json() and event["type"] == "purchase.completed"
    assert message in world.inbox.list(after=message.number - 1, event_type="purchase.completed")
    with pytest.raises(SignatureError, match="None of the 1 signatures"):
        message.verify("whsec_" + "A" * 32)
    with pytest.raises(SignatureError):
        verify_webhook(webhook["secret"], message.headers, message.body + " ")
    with pytest.raises(SignatureError, match="webhook-id"):
        verify_webhook(webhook["secret"], {}, message.body)
    with pytest.raises(
        TimeoutError, match=r"No team\.created arrived within 0\.05 seconds.*'purchase\.completed'"
    ):
        world.inbox.wait("team.created", timeout=0.05)


SECRET = "whsec_" + "A" * 32


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
@pytest.mark.parametrize("value", ["", "é", "v1,é v1,\u20ac", "\udcff", "v1,"])
def test_header_that_cannot_be_right_is_a_signature_error(name: str, value: str) -> None:
    headers = {"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA", name: value}
    with pytest.raises(SignatureError, match="None of the"):
        verify_webhook(SECRET, headers, "{}")
    with pytest.raises(SignatureError, match="None of the"):
        verify_webhook(SECRET, headers, f'"{value}"')


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAA", "whsec_A", "whsec_*AAA", "whsec_é", "\udcff"])
def test_text_that_cannot_be_a_secret_is_a_value_error(secret: str) -> None:
    with pytest.raises(ValueError, match="The secret must be whsec_ and text in Base64"):
        verify_webhook(secret, {}, "{}")


def test_repository_is_added(world: World, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for arguments in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "First"],
        ["bundle", "create", "-q", "b", "--all"],
    ):
        subprocess.run([*git, *arguments], check=True)
    added = world.add_repository("acme/billing", (tmp_path / "b").read_bytes())
    assert added["repo_full_name"] == "acme/billing"


def test_port_is_an_address_without_a_path(new_world: NewWorld) -> None:
    world = new_world(port=True)
    assert world.port_url is not None and world.port_url.count("/") == 2
    assert world.client("mkt_demo_buyer").get("/v2/wallet") == world.buyer.get("/v2/wallet")


def test_deleted_world_is_gone(marketplace: Sandbox) -> None:
    with marketplace.create_world() as world:
        assert marketplace.world(world.name).id == world.id
        assert world.id in [other.id for other in marketplace.worlds()]
    world.delete()
    with pytest.raises(ApiError) as gone:
        world.buyer.get("/v2/wallet")
    assert gone.value.code == "world_not_found"


def test_worlds_of_a_shared_server_end_by_themselves(
    marketplace: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKETPLACE_OPERATOR_URL", marketplace.url + "/")
    monkeypatch.delenv("MARKETPLACE_OPERATOR_KEY", raising=False)
    with pytest.raises(SandboxError, match="Set MARKETPLACE_OPERATOR_KEY"):
        Sandbox.from_environment()
    monkeypatch.setenv("MARKETPLACE_OPERATOR_KEY", marketplace.key)
    with Sandbox.from_environment() as shared, shared.create_world() as world:
        assert shared.server is None and world.details["expires_at"] is not None
    # What it has not started is not stopped.
    assert marketplace.worlds() == []
