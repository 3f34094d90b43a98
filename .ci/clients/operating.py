"""Operates the demo market with the generated client. Usage: python operating.py BASE_URL"""

import sys
import uuid

import data_marketplace_operator_api_client as operator_client
from data_marketplace_operator_api_client.api.events import list_audit, list_events
from data_marketplace_operator_api_client.api.listings import approve_listing, list_listings, publish_listing
from data_marketplace_operator_api_client.api.money import get_wallet
from data_marketplace_operator_api_client.api.sales import complete_purchase, create_purchase, refund_purchase
from data_marketplace_operator_api_client.api.teams import create_team
from data_marketplace_operator_api_client.models import (
    ErrorBody,
    EventType,
    LifecycleStage,
    PayWith,
    PurchaseEvent,
    PurchaseIn,
    PurchaseKind,
    PurchaseStatus,
    ReviewStatus,
    Role,
    TeamIn,
    ValidationBody,
)

base_url = sys.argv[1]
operator = operator_client.AuthenticatedClient(base_url=base_url, token="mkt_demo_operator")
reader = operator_client.AuthenticatedClient(base_url=base_url, token="mkt_demo_operator_read")


def listings():
    """Yields every listing, page by page."""
    page = list_listings.sync(client=operator, limit=30)
    total = page.total
    count = 0
    while True:
        count += len(page.items)
        yield from page.items
        if page.next_cursor is None:
            break
        page = list_listings.sync(client=operator, limit=30, cursor=page.next_cursor)
        assert page.total is None, page.total
    assert count == total > 100, (count, total)


every = list(listings())
assert len({listing.id for listing in every}) == len(every), "pages overlap"
listing = next(one for one in every if one.review_status == ReviewStatus.IN_REVIEW)
refused = approve_listing.sync_detailed(listing.id, client=reader)
assert refused.status_code == 403 and isinstance(refused.parsed, ErrorBody), refused
early = publish_listing.sync_detailed(listing.id, client=operator)
assert early.status_code == 409 and isinstance(early.parsed, ErrorBody), early
assert early.parsed.error.code == "invalid_transition", early.parsed
assert early.parsed.error.details["from"] == "review", early.parsed
assert "request_changes" in early.parsed.error.details["allowed"], early.parsed
assert approve_listing.sync(listing.id, client=operator).stage == LifecycleStage.READY
assert publish_listing.sync(listing.id, client=operator).stage == LifecycleStage.ACTIVE

buyer = create_team.sync(client=operator, body=TeamIn(name="Buyer in Python", roles=[Role.BUYER], nda_accepted=True))
body = PurchaseIn(team_id=buyer.id, listing_id=listing.id, kind=PurchaseKind.FULL, pay_with=PayWith.CREDITS)
poor = create_purchase.sync_detailed(client=operator, body=body)
assert poor.status_code == 409 and poor.parsed.error.code == "insufficient_credits", poor
body.pay_with = PayWith.INVOICE
purchase = create_purchase.sync(client=operator, body=body, idempotency_key="invoice-in-python")
assert purchase.status == PurchaseStatus.PENDING and purchase.paid_at is None, purchase
assert create_purchase.sync(client=operator, body=body, idempotency_key="invoice-in-python").id == purchase.id
assert complete_purchase.sync(purchase.id, client=operator).status == PurchaseStatus.COMPLETED
refunded = refund_purchase.sync(purchase.id, client=operator)
assert refunded.status == PurchaseStatus.REFUNDED and refunded.total == purchase.total, refunded
assert get_wallet.sync(buyer.id, client=operator).currency == "USD"

entries = list_audit.sync(client=operator, subject_id=str(purchase.id)).items
assert [entry.operation for entry in entries] == ["refund_purchase", "complete_purchase", "create_purchase"], entries
assert all(entry.request_id and entry.operator_key_id == entries[0].operator_key_id for entry in entries), entries
types = [EventType.PURCHASE_CREATED, EventType.PURCHASE_COMPLETED, EventType.PURCHASE_REFUNDED]
events = list_events.sync(client=operator, types=types, team=buyer.id).items
assert all(isinstance(event, PurchaseEvent) and event.data.purchase_id == purchase.id for event in events), events
assert [event.type_ for event in events] == ["purchase.created", "purchase.completed", "purchase.refunded"], events
unknown = PurchaseIn(team_id=buyer.id, listing_id=uuid.UUID(int=0), kind=PurchaseKind.FULL, pay_with=PayWith.INVOICE)
invalid = create_purchase.sync_detailed(client=operator, body=unknown)
assert invalid.status_code == 422 and isinstance(invalid.parsed, ValidationBody), invalid
assert invalid.parsed.detail[0].loc == ["body", "listing_id"], invalid.parsed
print(f"operated a market with {len(every)} listings")
