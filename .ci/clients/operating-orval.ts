// A client of the operator API that orval generated from the OpenAPI document. Usage: node operating-orval.js BASE_URL

import { createKey, getMarket, listAudit, listListings, listTeams, rejectListing, revokeKey } from "./orval-operator.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";
const requestFrom = fetch;
// The generated functions have the paths of the documents.
globalThis.fetch = (path, init) => requestFrom(new URL(String(path), baseUrl), init);
const operator = { headers: { Authorization: "Bearer mkt_demo_operator" } };

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const market = await getMarket(operator);
demand(market.status === 200, JSON.stringify(market.data));
const waiting = await listListings({ review_status: "in_review", limit: 1 }, operator);
demand(waiting.status === 200, JSON.stringify(waiting.data));
const listing = waiting.data.items[0];
demand(listing !== undefined, "no listing is in review");
const rejected = await rejectListing(listing.id, { note: "The data contains personal details." }, operator);
demand(rejected.status === 200 && rejected.data.review_status === "rejected", "the listing was not rejected");
const again = await rejectListing(listing.id, { note: "Twice." }, operator);
demand(again.status === 409 && again.data.error.code === "invalid_transition", "the listing was rejected twice");
const silent = await rejectListing(listing.id, { note: "" }, operator);
demand(silent.status === 422, "a listing was rejected without a note");
demand(silent.data.detail[0]?.loc.join(".") === "body.note", "the problem is located elsewhere");

const teams = await listTeams({ role: "vendor", limit: 1 }, operator);
demand(teams.status === 200, JSON.stringify(teams.data));
const team = teams.data.items[0];
demand(team !== undefined, "no team sells");
const key = await createKey({ team_id: team.id, name: "By orval" }, operator);
demand(key.status === 201, JSON.stringify(key.data));
const revoked = await revokeKey(key.data.key.id, operator);
demand(revoked.status === 200, "the key was not revoked");
const audit = await listAudit({ team_id: team.id, limit: 2 }, operator);
demand(audit.status === 200, JSON.stringify(audit.data));
const operations = audit.data.items.map((entry) => entry.operation).join(" ");
demand(operations === "revoke_key create_key", `the audit has ${operations}`);
console.log("orval: rejected a listing, and created a key");
