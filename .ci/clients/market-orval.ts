// A client of the APIs for teams that orval generated from the OpenAPI documents. Usage: node market-orval.js BASE_URL

import { browseListings, getListing, listOwnOpportunities, listPurchases } from "./orval-buyer.js";
import { createCodebase, deleteCodebase, getListingQc, listOwnListings, updateCodebase } from "./orval-vendor.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";
const requestFrom = fetch;
// The generated functions have the paths of the documents.
globalThis.fetch = (path, init) => requestFrom(new URL(String(path), baseUrl), init);
const buyer = { headers: { Authorization: "Bearer mkt_demo_buyer" } };
const vendor = { headers: { Authorization: "Bearer mkt_demo_vendor" } };

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const page = await browseListings({ query: "cobol", languages: ["cobol"] }, buyer);
demand(page.status === 200, JSON.stringify(page.data));
const first = page.data.items[0];
demand(first !== undefined, "no listing was found");
const detail = await getListing(first.id, buyer);
demand(detail.status === 200 && detail.data.title === first.title, "the detail belongs to another listing");
const purchases = await listPurchases(buyer);
demand(purchases.status === 200, JSON.stringify(purchases.data));
const scope: "all" | "sample" | "selection" | undefined = purchases.data.purchases[0]?.purchase.asset_scope.mode;
demand(scope !== undefined, "no purchase has a scope");
const opportunities = await listOwnOpportunities({}, buyer);
demand(opportunities.status === 200, JSON.stringify(opportunities.data));
const budget: number | null | undefined = opportunities.data.items[0]?.metadata.budget_min;
demand(budget !== undefined, "no opportunity has metadata");

const own = await listOwnListings({ limit: 5 }, vendor);
demand(own.status === 200, JSON.stringify(own.data));
const listing = own.data.items[0];
demand(listing !== undefined, "the vendor has no listing");
const quality = await getListingQc(listing.id, {}, vendor);
demand(quality.status === 200, JSON.stringify(quality.data));
// Null if the listing was never checked.
const run: { triggered_by: string } | null = quality.data.latest_run;
demand(run === null || run.triggered_by.length > 0, "a run has no trigger");
const made = await createCodebase({ title: "By orval", exclusivity: "available" }, vendor);
demand(made.status === 201 && made.data.data === null, "the codebase was not created");
const changed = await updateCodebase(made.data.id, { commits: 12 }, vendor);
demand(changed.status === 200 && changed.data.commits === 12, "the change was lost");
const gone = await deleteCodebase(made.data.id, vendor);
demand(gone.status === 204, "the codebase was not deleted");
console.log("orval: read and edited the demo");
