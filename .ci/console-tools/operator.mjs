// What the operator does in the story of a sale: announces something, switches maintenance on and off, reviews a listing, undoes a
// purchase, pays a withdrawal, replaces a key, sends the message to a webhook again that it has not taken, and retires a kind of
// assets. Each step also looks at what the teams see of it.
import { assert, follow, step, submit } from "./steps.mjs";

const ADDRESS = "https://hooks.example/market";

/** Opens the record of a list whose row has a text. */
async function openRecord(page, list, text) {
  await page.goto(list);
  await page.locator("main tbody tr").filter({ hasText: text }).first().locator("th a").click();
  await page.locator(".crumbs").waitFor();
}

/** Takes a step of the record that is open: a link, and the button of the page to which it leads. */
async function take(page, name) {
  await follow(page, name);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await submit(page, name);
}

const done = (page) => page.getByText("The change was made").waitFor();

/** Says something above each page, and lets nobody but the operator change anything for a while. */
export async function announce(operator, vendor) {
  await step("announces something, which teams see", async () => {
    await operator.goto("/console/operator/announcements");
    await follow(operator, "Announce something");
    await operator.locator("#text").fill("On Sunday we [move](https://example.com/move) to another disk.");
    // As in a browser without a field for times.
    await operator.locator("#starts_at").evaluate((field) => { field.type = "text"; });
    await operator.locator("#starts_at").fill("soon");
    await submit(operator, "Announce it");
    await operator.locator("#starts_at-p").waitFor();
    await operator.locator("#starts_at").fill("");
    await submit(operator, "Announce it");
    await operator.getByText("Shown now").waitFor();
    await vendor.goto("/console/settings");
    await vendor.locator("main .flash").getByRole("link", { name: "move" }).waitFor();
  });
  await step("switches maintenance on, so that nothing changes, and off again", async () => {
    await vendor.goto("/console/inventory/groups/new");
    await vendor.locator("#name").fill("Quays");
    await operator.goto("/console/operator/announcements");
    await follow(operator, /^Switch it on/);
    await operator.locator("#text").fill("We move the data until 9 o'clock.");
    await submit(operator, "Switch maintenance on");
    await operator.locator("main .flash").getByText("until 9 o'clock").first().waitFor();
    await submit(vendor, /^Create/);
    await vendor.locator("main").getByText("until 9 o'clock").first().waitFor();
    await submit(operator, "Switch it off");
    await operator.getByText("It is off").waitFor();
    await submit(operator, "Delete the announcement");
    await operator.getByText("Nothing is announced now").waitFor();
    await vendor.goto("/console/inventory");
    assert((await vendor.locator("main .flash").count()) === 0, "nothing is announced any more");
    assert((await vendor.getByText("Quays", { exact: true }).count()) === 0, "nothing was changed during maintenance");
  });
}

/** Opens a listing from the queue of the review. */
async function openCase(page, title) {
  await page.goto("/console/operator");
  await page.getByRole("link", { name: "Listings in review" }).click();
  await page.locator("main").getByRole("link", { name: title }).click();
  await page.getByRole("heading", { name: title, level: 1 }).waitFor();
}

/** Asks for changes: without a note it is refused. With a script, by keys. */
export async function sendBack(page, title, note, hasScript) {
  await openCase(page, title);
  const field = page.locator("#note");
  if (hasScript) {
    // At first, the keys do nothing.
    await page.waitForTimeout(1_100);
    await page.keyboard.press("r");
    assert(await field.evaluate((element) => element === document.activeElement), "the key leads to the note");
    await page.keyboard.type(note);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
  } else {
    await submit(page, "Request changes");
    await page.locator("#note-p").waitFor();
    await page.locator("#note").fill(note);
    await submit(page, "Request changes");
  }
  await page.getByText(/sent back/i).first().waitFor();
}

/** Approves what has changed. With a script, by a key. */
export async function approve(page, title, added, note, hasScript) {
  await openCase(page, title);
  const changed = page.getByRole("region", { name: "What has changed" });
  await changed.locator("ins").filter({ hasText: added }).first().waitFor();
  await page.getByRole("region", { name: "Rounds of the review" }).getByText(note).waitFor();
  if (hasScript) {
    await page.waitForTimeout(1_100);
    await page.keyboard.press("a");
  } else {
    await submit(page, /^Approve/);
  }
  const notice = page.getByText(/You approved/i).first();
  const question = page.getByRole("button", { name: "Approve anyway" });
  await notice.or(question).first().waitFor();
  if (await question.isVisible()) await submit(page, "Approve anyway");
  await notice.waitFor();
}

/** Undoes a purchase that the buyer did not want, and finds it by the ID of its receipt. */
export async function refund(operator, buyer) {
  const credits = async () => {
    await buyer.goto("/console/wallet");
    return (await buyer.locator("main dd").first().textContent()).trim();
  };
  let receipt;
  const before = await credits();
  await step("buys something by mistake", async () => {
    await buyer.goto("/console/catalog?asset_types=codebase&sort=price_low");
    const listing = await buyer.locator(".card h2 a, tbody th a").first().evaluate((link) => link.href);
    await buyer.goto(`${listing}/buy`);
    await buyer.locator("#accept").check();
    await submit(buyer, /^Buy/);
    await buyer.waitForURL(/\/purchases\//);
    receipt = buyer.url();
    assert((await credits()) !== before, "credits were spent");
  });
  await step("finds the purchase, and refunds it as shown before", async () => {
    await operator.goto("/console/operator");
    await operator.locator("#search").fill(new URL(receipt).pathname.split("/").at(-1));
    await operator.locator("#search").press("Enter");
    await operator.waitForURL(/\/operator\/purchases\//);
    await follow(operator, "Refund");
    await operator.getByRole("region", { name: "What will be posted" }).getByText("Change, USD").first().waitFor();
    await submit(operator, "Refund");
    await operator.locator("main dd .badge").getByText("Refunded").waitFor();
    await buyer.goto(receipt);
    await buyer.getByText(/refunded/i).first().waitFor();
    assert((await credits()) === before, "the credits are back");
  });
}

/** Pays a withdrawal as its vendor has stated. */
export async function pay(operator, vendor, amount, payout) {
  await step("pays the withdrawal", async () => {
    await operator.goto("/console/operator");
    await operator.getByRole("link", { name: "Withdrawals to pay" }).click();
    await openRecord(operator, operator.url(), amount);
    await operator.getByRole("region", { name: "Where to pay" }).getByText(payout).waitFor();
    await take(operator, "Mark as paid");
    await operator.locator("main dd .badge").getByText("Paid").waitFor();
    await vendor.goto("/console/selling/withdrawals");
    await vendor.getByRole("row", { name: amount }).locator(".badge").getByText("Paid").waitFor();
  });
}

/** Replaces the key of a team. The new one opens the team's pages, and people who have signed in with the old one stay signed in. */
export async function replaceKey(operator, team, signedIn, open) {
  await step("replaces a key of the buyer", async () => {
    await operator.goto("/console/operator");
    await operator.locator("#search").fill(team);
    await operator.locator("#search").press("Enter");
    await operator.waitForURL(/\/operator\/(teams\/|search)/);
    if (operator.url().includes("/search")) await operator.locator("#found-team ~ * th a, main th a").first().click();
    await operator.getByRole("heading", { name: team, level: 1 }).waitFor();
    await operator.getByRole("region", { name: "Newest keys" }).locator("th a").last().click();
    await take(operator, "Replace");
    const secret = await operator.locator("main input[readonly]").inputValue();
    assert(secret.startsWith("mkt_"), "the new key is shown once");
    await follow(operator, "I have copied it");
    const other = await open(secret);
    await other.getByRole("heading", { name: "Catalog" }).waitFor();
    await signedIn.goto("/console/catalog");
    await signedIn.getByRole("heading", { name: "Catalog" }).waitFor();
  });
}

/** Sends a message again that a webhook has not taken. `host` shows the pages of all worlds. */
export async function redeliver(operator, host, world) {
  await step("adds a webhook, and lets its receiver fail once", async () => {
    await operator.goto("/console/operator/webhooks");
    await follow(operator, "Add a webhook");
    await operator.locator("#url").fill(ADDRESS);
    await submit(operator, "Add the webhook");
    await follow(operator, "I have copied it");
    await host.goto(`/console/operator/worlds/${world}/faults/new?kind=webhooks`);
    await host.locator("#url").fill(ADDRESS);
    await host.locator("#status").fill("503");
    await host.locator("#next").fill("1");
    await submit(host, "Add the fault");
    await host.getByText("The receiver answers 503").first().waitFor();
  });
  await step("sees that a message has failed, and sends it again", async () => {
    await take(operator, "Send a test message");
    await done(operator);
    const deliveries = operator.url().replace(/\/webhooks\/([^/?]*).*/, "/webhook-deliveries?webhook_id=$1");
    await openRecord(operator, deliveries, "tested");
    await shows(operator, operator.getByRole("region", { name: "Attempts" }).getByText("503"));
    await take(operator, "Send again");
    await shows(operator, operator.locator("main dd .badge").getByText("Succeeded"));
    await host.goto(`/console/operator/worlds/${world}/inbox`);
    await host.getByRole("row").filter({ hasText: ADDRESS }).nth(1).waitFor();
  });
}

/** Opens the page again until it shows something that the market does in the background. */
async function shows(page, locator) {
  for (let attempt = 0; (await locator.count()) === 0 && attempt < 60; attempt += 1) {
    await page.waitForTimeout(100);
    await page.goto(page.url());
  }
  await locator.first().waitFor();
}

/** Retires a kind of assets, after a look at the affected assets. `asset` is the title of such an asset of the vendor. */
export async function retire(operator, vendor, kind, asset) {
  await step("announces that a kind retires, and retires it", async () => {
    const effects = operator.getByText(/[1-9]\d* listings? ha(s|ve) such assets, [1-9]\d* of them in the catalog/);
    await openRecord(operator, "/console/operator/asset-types", kind);
    await follow(operator, "Announce the retirement");
    await effects.waitFor();
    await operator.locator("#retires_at").fill("2031-01-31");
    await operator.locator("#message").fill("Sell such files as other data.");
    await submit(operator, "Announce the retirement");
    await operator.getByText("Sell such files as other data.").waitFor();
    await openRecord(vendor, "/console/inventory", asset);
    await vendor.getByText(/stop trading this kind of asset on .*31.* 2031.*Sell such files as other data\./).waitFor();
    await follow(operator, "Retire now");
    await effects.waitFor();
    await submit(operator, "Retire now");
    await operator.locator("main dd .badge").getByText("Retired").waitFor();
  });
}
