// A client of the operator API that hey-api generated from the OpenAPI document. Usage: node operating-hey.js BASE_URL

import { createClient } from "./hey-operator/client/index.js";
import { getListing, listAudit, listEvents, listListings, requestListingChanges, updateListing } from "./hey-operator/sdk.gen.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";
const client = createClient({ baseUrl, auth: "mkt_demo_operator" });

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const waiting = await listListings({ client, query: { review_status: "in_review", limit: 1 } });
const listing = waiting.data?.items[0];
demand(listing !== undefined, "no listing is in review");
const path = { listing_id: listing.id };
const body = { note: "Please name the instruments." };
const returned = await requestListingChanges({ client, path, body });
demand(returned.data?.review_feedback === body.note && returned.data.stage === "draft", "the listing was not returned");
const again = await requestListingChanges({ client, path, body });
demand(again.response?.status === 409, "the listing was returned twice");
demand(again.error !== undefined && "error" in again.error, "the error has no code");
demand(again.error.error.code === "invalid_transition", `the code is ${again.error.error.code}`);

const read = await getListing({ client, path });
const tag = read.response?.headers.get("ETag");
demand(typeof tag === "string", "the listing has no entity tag");
const changed = await updateListing({ client, path, headers: { "If-Match": tag }, body: { price: "1234.50" } });
demand(changed.data?.price === "1234.50", "the change was lost");
const stale = await updateListing({ client, path, headers: { "If-Match": tag }, body: { price: "1.00" } });
demand(stale.response?.status === 412, "a change that the caller had not seen was overwritten");

const audit = await listAudit({ client, query: { subject_id: listing.id } });
const operations = audit.data?.items.map((entry) => entry.operation).join(" ");
demand(operations === "update_listing request_listing_changes", `the audit has ${operations}`);
const events = await listEvents({ client, query: { types: ["listing.changes_requested"], limit: 100 } });
const found = events.data?.items.some(
  (event) => event.type === "listing.changes_requested" && event.data.listing_id === listing.id,
);
demand(found === true, "the decision has no event");
console.log("hey-api: returned a listing to its vendor");
