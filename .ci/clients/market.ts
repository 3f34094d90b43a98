// A client of the APIs for teams that uses the types generated from the OpenAPI documents. It must compile under
// `strict`, and read and edit the demo market. Usage: node market.js BASE_URL

import createClient from "openapi-fetch";
import type { components, paths as BuyerPaths } from "./buyer.js";
import type { paths as VendorPaths } from "./vendor.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";

const headers = (key: string) => ({ Authorization: `Bearer ${key}` });
const buyer = createClient<BuyerPaths>({ baseUrl, headers: headers("mkt_demo_buyer") });
const vendor = createClient<VendorPaths>({ baseUrl, headers: headers("mkt_demo_vendor") });

type Listing = components["schemas"]["ListingSummary"];

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Returns every listing of the catalog. */
async function catalog(): Promise<Listing[]> {
  const listings: Listing[] = [];
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? { limit: 40 } : { limit: 40, cursor };
    const { data, error } = await buyer.GET("/v2/listings/browse", { params: { query } });
    demand(data !== undefined, JSON.stringify(error));
    listings.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return listings;
}

async function main(): Promise<void> {
  const listings = await catalog();
  const first = listings[0];
  demand(first !== undefined && new Set(listings.map((one) => one.id)).size === listings.length, "pages overlap");

  const path = { listing_id: first.id };
  const detail = await buyer.GET("/v2/listings/browse/{listing_id}", { params: { path } });
  demand(detail.data?.title === first.title, "the detail belongs to another listing");

  const made = await vendor.POST("/v2/codebases", {
    body: { title: "From a generated client", exclusivity: "available", lines_of_code: 1200, description: null },
  });
  demand(made.data !== undefined, JSON.stringify(made.error));
  const asset = { asset_id: made.data.id };
  const changed = await vendor.PATCH("/v2/codebases/{asset_id}", { params: { path: asset }, body: { price_usd: 19.99 } });
  demand(changed.data?.price_usd === 19.99 && changed.data.locked_fields["price_usd"] !== undefined, "the change was lost");
  const gone = await vendor.DELETE("/v2/codebases/{asset_id}", { params: { path: asset } });
  demand(gone.response.status === 204, "the codebase was not deleted");

  const refused = await vendor.GET("/v2/codebases", { params: { query: { filter: ["stage:is:done"] } } });
  demand(refused.error !== undefined && "detail" in refused.error, "an invalid filter was accepted");
  const where = refused.error.detail[0]?.loc.join(".");
  demand(where === "query.filter.0", `the problem is located at ${where}`);
  console.log(`read ${listings.length} listings`);
}

await main();
