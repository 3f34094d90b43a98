"""Reads and edits the demo market with the generated clients. Usage: python market.py BASE_URL"""

import sys

import data_marketplace_buyer_api_client as buyer_client
import data_marketplace_vendor_api_client as vendor_client
from data_marketplace_buyer_api_client.api.account import get_wallet
from data_marketplace_buyer_api_client.api.catalog import browse_listings, get_listing, get_listing_quality
from data_marketplace_buyer_api_client.api.deals import list_purchases
from data_marketplace_buyer_api_client.api.opportunities import list_own_opportunities
from data_marketplace_buyer_api_client.models import BrowsePage, ListingDetail, ValidationBody
from data_marketplace_vendor_api_client.api.codebases import create_codebase, delete_codebase, update_codebase
from data_marketplace_vendor_api_client.api.inventory import get_asset_window, list_assets
from data_marketplace_vendor_api_client.api.listings import get_listing_qc, list_own_listings
from data_marketplace_vendor_api_client.models import CodebaseIn, CodebasePatch, Exclusivity

base_url = sys.argv[1]
buyer = buyer_client.AuthenticatedClient(base_url=base_url, token="mkt_demo_buyer")
vendor = vendor_client.AuthenticatedClient(base_url=base_url, token="mkt_demo_vendor")


def catalog():
    """Yields every listing of the catalog, page by page."""
    page = browse_listings.sync(client=buyer, limit=30)
    total = page.counts.all_
    while True:
        assert isinstance(page, BrowsePage), page
        yield from page.items
        if page.next_cursor is None:
            break
        page = browse_listings.sync(client=buyer, limit=30, cursor=page.next_cursor)
    assert total > 100, total


listings = list(catalog())
assert len({listing.id for listing in listings}) == len(listings), "pages overlap"
for listing in listings:
    detail = get_listing.sync(listing.id, client=buyer)
    assert isinstance(detail, ListingDetail), detail
    assert detail.title == listing.title and detail.catalog_scale == listing.catalog_scale
    assert get_listing_quality.sync(listing.id, client=buyer).certified == detail.platform_quality_certified

found = browse_listings.sync(client=buyer, query="cobol", max_price=50_000.0)
assert 0 < len(found.items) < len(listings)
refused = browse_listings.sync_detailed(client=buyer, limit=500)
assert refused.status_code == 422 and isinstance(refused.parsed, ValidationBody), refused
assert refused.parsed.detail[0].loc == ["query", "limit"], refused.parsed

wallet = get_wallet.sync(client=buyer)
assert wallet.currency == "USD"
purchases = list_purchases.sync(client=buyer).purchases
assert purchases and all(one.listing.id == one.purchase.listing_id for one in purchases)
assert all(one.purchase.asset_scope.mode == "all" or one.purchase.asset_scope.asset_ids for one in purchases
           if one.purchase.asset_scope.mode != "sample")
assert list_own_opportunities.sync(client=buyer).total > 0

opportunities = list_own_opportunities.sync(client=buyer).items
assert all(one.metadata.currency == "USD" and isinstance(one.metadata.tags, list) for one in opportunities)

own = list_own_listings.sync(client=vendor, limit=5)
assert own.items and own.summary.active > 0
assert list_assets.sync(client=vendor, filter_=["stage:is:complete"]).total > 0
# A reference that may be null is one or the other.
every_own = list_own_listings.sync(client=vendor, limit=100).items
runs = [get_listing_qc.sync(one.id, client=vendor).latest_run for one in every_own]
assert any(run is None for run in runs) and any(run is not None and run.checks for run in runs)
assert get_asset_window.sync(client=vendor, leaf_budget=5).window
body = CodebaseIn(title="From a generated client", exclusivity=Exclusivity.AVAILABLE, domain_tags=["finance"])
made = create_codebase.sync(client=vendor, body=body)
assert made.domain_tags == ["finance"], made
changed = update_codebase.sync(made.id, client=vendor, body=CodebasePatch(commits=12))
assert changed.commits == 12 and "commits" in changed.locked_fields.additional_properties, changed
assert delete_codebase.sync_detailed(made.id, client=vendor).status_code == 204
print(f"read {len(listings)} listings")
