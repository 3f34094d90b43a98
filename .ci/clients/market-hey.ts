// A client of the APIs for teams that hey-api generated from the OpenAPI documents. Usage: node market-hey.js BASE_URL

import { createClient as createBuyer } from "./hey-buyer/client/index.js";
import { browseListings, getListing, listOwnOpportunities, listPurchases } from "./hey-buyer/sdk.gen.js";
import { createClient as createVendor } from "./hey-vendor/client/index.js";
import { createCodebase, deleteCodebase, getListingQc, listOwnListings, updateCodebase } from "./hey-vendor/sdk.gen.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";
const buyer = createBuyer({ baseUrl, auth: "mkt_demo_buyer" });
const vendor = createVendor({ baseUrl, auth: "mkt_demo_vendor" });

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const page = await browseListings({ client: buyer, query: { query: "cobol", languages: ["cobol"] } });
const first = page.data?.items[0];
demand(first !== undefined, "no listing was found");
const detail = await getListing({ client: buyer, path: { listing_id: first.id } });
demand(detail.data?.title === first.title, "the detail belongs to another listing");
const purchases = await listPurchases({ client: buyer });
const scope: "all" | "sample" | "selection" | undefined = purchases.data?.purchases[0]?.purchase.asset_scope.mode;
demand(scope !== undefined, "no purchase has a scope");
const opportunities = await listOwnOpportunities({ client: buyer });
const budget: number | null | undefined = opportunities.data?.items[0]?.metadata.budget_min;
demand(budget !== undefined, "no opportunity has metadata");

const own = await listOwnListings({ client: vendor, query: { limit: 5 } });
const listing = own.data?.items[0];
demand(listing !== undefined, "the vendor has no listing");
const quality = await getListingQc({ client: vendor, path: { listing_id: listing.id } });
// Null if the listing was never checked.
const run: { triggered_by: string } | null | undefined = quality.data?.latest_run;
demand(run !== undefined, "the quality of a listing has no run");
const made = await createCodebase({ client: vendor, body: { title: "By hey-api", exclusivity: "available" } });
demand(made.data !== undefined && made.data.data === null, "the codebase was not created");
const changed = await updateCodebase({ client: vendor, path: { asset_id: made.data.id }, body: { commits: 12 } });
demand(changed.data?.commits === 12, "the change was lost");
const gone = await deleteCodebase({ client: vendor, path: { asset_id: made.data.id } });
demand(gone.response?.status === 204, "the codebase was not deleted");
console.log("hey-api: read and edited the demo");
