// A client of the operator API that uses the types generated from the OpenAPI document. It must compile under `strict`,
// and run a sale of the demo market. Usage: node operating.js BASE_URL

import createClient from "openapi-fetch";
import type { components, paths } from "./operator.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";

const headers = (key: string) => ({ Authorization: `Bearer ${key}` });
const operator = createClient<paths, "application/json">({ baseUrl, headers: headers("mkt_demo_operator") });
const reader = createClient<paths, "application/json">({ baseUrl, headers: headers("mkt_demo_operator_read") });

type Schemas = components["schemas"];

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Returns the code of an error that is not about the values of a request. */
function codeOf(error: Schemas["ErrorBody"] | Schemas["ValidationBody"] | undefined): Schemas["Code"] | undefined {
  return error !== undefined && "error" in error ? error.error.code : undefined;
}

/** Approves and publishes a listing that is in review, and returns it. */
async function publishOne(): Promise<Schemas["Listing"]> {
  const waiting = await operator.GET("/operator/v1/listings", { params: { query: { review_status: "in_review" } } });
  const listing = waiting.data?.items[0];
  demand(listing !== undefined && listing.stage === "review", "no listing is in review");
  const params = { path: { listing_id: listing.id } };
  const refused = await reader.POST("/operator/v1/listings/{listing_id}/approve", { params });
  demand(refused.response.status === 403 && codeOf(refused.error) === "forbidden", "a key that may only read approved");
  const early = await operator.POST("/operator/v1/listings/{listing_id}/publish", { params });
  demand(early.response.status === 409 && codeOf(early.error) === "invalid_transition", "a listing in review was published");
  const allowed = early.error !== undefined && "error" in early.error ? early.error.error.details?.["allowed"] : undefined;
  demand(Array.isArray(allowed) && allowed.includes("request_changes"), `allowed: ${JSON.stringify(allowed)}`);

  const approved = await operator.POST("/operator/v1/listings/{listing_id}/approve", { params });
  demand(approved.data?.review_status === "approved", JSON.stringify(approved.error));
  const published = await operator.POST("/operator/v1/listings/{listing_id}/publish", { params });
  demand(published.data !== undefined && published.data.stage === "active", JSON.stringify(published.error));
  return published.data;
}

/** Creates a buyer with credits, and returns its ID. */
async function createBuyer(amount: string): Promise<string> {
  const team = await operator.POST("/operator/v1/teams", {
    body: { name: "Buyer of a generated client", roles: ["buyer"], nda_accepted: true, tier: null },
  });
  demand(team.data !== undefined, JSON.stringify(team.error));
  const team_id = team.data.id;
  const params = { header: { "Idempotency-Key": "credits-of-a-generated-client" } };
  const bought = await operator.POST("/operator/v1/credit-purchases", { params, body: { team_id, amount } });
  const repeated = await operator.POST("/operator/v1/credit-purchases", { params, body: { team_id, amount } });
  demand(bought.data?.amount === amount && repeated.data?.id === bought.data.id, "the credits were bought twice");
  return team_id;
}

async function main(): Promise<void> {
  const listing = await publishOne();
  const team_id = await createBuyer("100000.00");
  const body = { team_id, listing_id: listing.id, kind: "full", pay_with: "credits" } as const;
  const bought = await operator.POST("/operator/v1/purchases", { body });
  demand(bought.data?.status === "completed" && bought.data.price === listing.price, JSON.stringify(bought.error));
  const again = await operator.POST("/operator/v1/purchases", { body });
  demand(again.response.status === 409 && codeOf(again.error) === "conflict", "the listing was bought twice");
  const wallet = await operator.GET("/operator/v1/wallets/{team_id}", { params: { path: { team_id } } });
  const left = Number(wallet.data?.credits);
  demand(left === 100_000 - Number(bought.data.total), `${left} credits are left`);

  const request = bought.response.headers.get("X-Request-Id");
  const audit = await operator.GET("/operator/v1/audit", { params: { query: { operation: "create_purchase", limit: 1 } } });
  const entry: Schemas["AuditEntry"] | undefined = audit.data?.items[0];
  demand(entry?.subject.id === bought.data.id && entry.request_id === request, "the audit lacks the purchase");
  const events = await operator.GET("/operator/v1/events", {
    params: { query: { types: ["purchase.completed"], team: team_id } },
  });
  const event = events.data?.items[0];
  // The type of the event says what its data is.
  demand(event?.type === "purchase.completed" && event.data.purchase_id === bought.data.id, "the purchase has no event");

  const unknown = "00000000-0000-0000-0000-000000000000";
  const invalid = await operator.POST("/operator/v1/purchases", { body: { ...body, listing_id: unknown } });
  demand(invalid.error !== undefined && "detail" in invalid.error, "an unknown listing was bought");
  const where = invalid.error.detail[0]?.loc.join(".");
  demand(where === "body.listing_id", `the problem is located at ${where}`);
  console.log(`sold ${listing.title} to a new buyer`);
}

await main();
