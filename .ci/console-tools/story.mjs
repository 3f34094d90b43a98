// The story of a buyer: find, compare, buy, receive, bid, ask for more, accept the NDA, and use a key. The second argument says
// whether the browser runs scripts. Each step waits for what a person would look for. What was downloaded is checked as the page of the
// receipt says: unpacked, and given to `sha256sum`.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, launch, openWindow, signIn } from "./browser.mjs";
import { assert, save, step, submit } from "./steps.mjs";

const [base, mode] = process.argv.slice(2);
const hasScript = mode === "script";
const browser = await launch();
const open = () => openWindow(browser, base, { javaScriptEnabled: hasScript });

/** Follows a link of the page that goes to a form with this button, among the listings of a search. */
async function findForm(page, search, form, button) {
  await page.goto(`/console/catalog?${search}`);
  const listings = await page.$$eval(".card h2 a, tbody th a", (links) => links.map((link) => link.href));
  for (const listing of listings) {
    await page.goto(`${listing}${form}`);
    if ((await page.locator("main").getByRole("button", { name: button }).count()) > 0) return;
  }
  throw new Error(`none of ${listings.length} listings has the button ${button}`);
}

/** Buys the content of the page, and returns the address of the receipt. */
async function buy(page) {
  await page.locator("#accept").check();
  await submit(page, /^(Buy|Get)/);
  await page.waitForURL(/\/purchases\//);
  await page.getByText("You bought this").waitFor();
  return page.url();
}

const credits = async (page) => (await page.locator(".wallet").textContent())?.trim();

async function find(page) {
  await step("searches and filters", async () => {
    // All scripts run, although the address names an element in a way that cannot be decoded.
    await page.goto("/console#%");
    const search = page.getByRole("searchbox", { name: "Search the catalog" });
    if (hasScript) {
      await page.keyboard.press("/");
      await page.keyboard.type("cobol", { delay: 30 });
    } else {
      await search.fill("cobol");
      await search.press("Enter");
    }
    await page.waitForURL(/query=cobol/);
    await page.getByRole("link", { name: /cobol.*remove/i }).waitFor();
    const all = await matches(page);
    const kind = page.getByRole("checkbox", { name: /^Codebases/ });
    await kind.check();
    if (!hasScript) await page.getByRole("button", { name: "Apply the filters" }).click();
    await page.waitForURL(/asset_types=codebase/);
    await page.getByRole("link", { name: /codebases.*remove/i }).waitFor();
    assert((await matches(page)) <= all, "a filter leaves at most what was found");
    await page.goBack();
    await page.getByRole("link", { name: /codebases.*remove/i }).waitFor({ state: "detached" });
    assert((await matches(page)) === all, "the button back brings the search back");
    assert((await search.inputValue()) === "cobol", "the button back keeps the text");
  });

  await step("compares two listings", async () => {
    const boxes = page.locator("input[type=checkbox][name=id]");
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    if (hasScript) {
      const kept = new URL(page.url()).searchParams.getAll("compare");
      assert(kept.length === 2, "the address keeps what is chosen");
      await page.getByText("2 of 4 chosen").waitFor();
    }
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.waitForURL(/\/compare\?/);
    await page.getByRole("heading", { name: "Compare 2 listings" }).waitFor();
    assert((await page.locator("thead th").count()) === 2, "two listings stand side by side");
  });
}

/** Returns the number of listings that match. */
async function matches(page) {
  return Number.parseInt((await page.locator("#match-count").textContent()).replace(",", ""), 10);
}

async function receive(page) {
  await step("buys a sample", async () => {
    await findForm(page, "sample_available=true&sort=price_low", "/buy?scope=sample", /^(Buy|Get)/);
    await buy(page);
  });

  let receipt;
  await step("buys with credits", async () => {
    await findForm(page, "asset_types=codebase&sort=price_low", "/buy", /^Buy/);
    const before = await credits(page);
    receipt = await buy(page);
    assert((await credits(page)) !== before, "credits were spent");
  });

  await step("downloads, and checks the digests", async () => {
    const link = page.getByRole("link", { name: /^Download ([0-9]|the descriptions)/ });
    const until = Date.now() + 120_000;
    while ((await link.count()) === 0) {
      assert(Date.now() < until, "the download is prepared");
      const prepare = page.getByRole("button", { name: "Prepare the download" });
      if ((await prepare.count()) > 0) await prepare.click();
      await page.waitForTimeout(250);
      await page.goto(receipt);
    }
    const folder = mkdtempSync(join(tmpdir(), "receipt-"));
    try {
      const archive = await save(page, link, folder);
      const digests = await save(page, page.getByRole("link", { name: /^Download .*\.sha256$/ }), folder);
      execFileSync("python3", ["-m", "zipfile", "-e", archive, "."], { cwd: folder });
      const checked = execFileSync("sha256sum", ["--check", digests], { cwd: folder, encoding: "utf8" });
      assert(checked.split("\n").filter((line) => line.endsWith(": OK")).length >= 2, `all files are checked: ${checked}`);
      const shown = await page.locator("#manifest ~ .scroll tbody tr td:last-child").allTextContents();
      const listed = readFileSync(join(folder, digests), "utf8");
      assert(shown.length > 0 && shown.every((digest) => listed.includes(digest.trim())), "the page shows the same digests");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

async function bid(page) {
  await step("bids, and withdraws the bid", async () => {
    await findForm(page, "sort=price_high", "/bid", /^Show amounts and terms$/);
    await page.locator("#amount").fill("1234.50");
    await submit(page, /^Show amounts/);
    await page.waitForURL(/amount=1234.50/);
    await page.locator("#accept").check();
    await submit(page, /^(Bid|Change the bid)/);
    await page.waitForURL(/\/bids\//);
    await page.getByRole("heading", { name: "Your bid of $1,234.50" }).waitFor();
    await page.getByRole("link", { name: /^Withdraw/ }).click();
    await submit(page, /^Withdraw/);
    await page.getByText("Your bid was withdrawn").waitFor();
  });
}

async function ask(page) {
  await step("writes and publishes an opportunity", async () => {
    await page.goto("/console/opportunities");
    await page.getByRole("link", { name: "Write an opportunity" }).click();
    await submit(page, "Continue");
    await page.locator("#description").fill("Ten years of ledgers, with the records that explain each correction.");
    await page.locator("#budget_min").fill("lots");
    await page.locator("#title").fill("Ledgers with reconciliation records");
    await submit(page, /^Save/);
    await page.locator("#budget_min-p").waitFor();
    assert((await page.locator("#title").inputValue()).startsWith("Ledgers"), "a refused form keeps what was typed");
    await page.locator("#budget_min").fill("5000");
    await submit(page, /^Save/);
    await page.waitForURL(/\/opportunities\/(?!new)/);
    await page.getByRole("link", { name: /^Publish/ }).click();
    await submit(page, /^Publish/);
    await page.getByText("Vendors can see it now").waitFor();
  });
}

async function createKey(page) {
  await step("creates a key, and uses it", async () => {
    await page.goto("/console/settings/keys/new");
    await page.locator("#name").fill("Story");
    await page.getByRole("radio", { name: /^Both/ }).check();
    await submit(page, /^Create/);
    const secret = await page.locator("main input[readonly]").inputValue();
    assert(secret.startsWith("mkt_"), "the key is shown once");
    const response = await fetch(`${base}/v2/wallet`, { headers: { authorization: `Bearer ${secret}` } });
    assert(response.status === 200, `the key works in the API: ${response.status}`);
    const other = await open();
    await signIn(other.page, secret);
    await other.page.getByRole("heading", { name: "Catalog" }).waitFor();
    check("session of the new key", other.faults);
    await page.goto("/console/settings/keys");
    await page.getByRole("row", { name: /Story/ }).getByRole("link", { name: /^Revoke/ }).click();
    await submit(page, /^Revoke/);
    await page.getByText("The key was revoked").waitFor();
    await other.page.goto("/console/catalog");
    assert(other.page.url().includes("/sign-in"), "the session ends with its key");
    await other.context.close();
  });
}

/** Opens and closes what the keyboard and small windows have: sheets, the menu of keys. */
async function useSheets(page) {
  await step("opens sheets, and closes them", async () => {
    await page.goto("/console/catalog");
    const size = page.viewportSize();
    await page.setViewportSize({ width: 360, height: 740 });
    for (const [button, content] of [["Menu", page.getByRole("link", { name: "Purchases" })], ["Filters", page.getByText("Price, USD")]]) {
      await page.getByRole("button", { name: button, exact: true }).click();
      await content.first().waitFor();
      await page.keyboard.press("Escape");
      await content.first().waitFor({ state: "hidden" });
      const focused = page.getByRole("button", { name: button, exact: true });
      assert(await focused.evaluate((element) => element === document.activeElement), `the focus returns to ${button}`);
    }
    await page.setViewportSize(size);
    if (!hasScript) return;
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "hidden" });
  });
}

async function signOut(page) {
  await step("signs out", async () => {
    await page.goto("/console/catalog");
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: /menu of/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out").waitFor();
    await page.context().addCookies(cookies);
    await page.goto("/console/wallet");
    assert(page.url().includes("/sign-in"), "a kept cookie opens nothing");
  });
}

async function buyer() {
  const { page, faults, context } = await open();
  await step("signs in by one click", async () => {
    await page.goto("/console");
    await page.getByRole("button", { name: "A buyer", exact: true }).click();
    await page.waitForURL("**/console/catalog");
  });
  try {
    for (const part of [find, receive, bid, ask, createKey, useSheets, signOut]) await part(page);
  } finally {
    check("buyer", faults);
  }
  await context.close();
}

async function newTeam() {
  const { page, faults } = await open();
  await step("accepts the NDA", async () => {
    await signIn(page, "mkt_demo_no_nda");
    await page.waitForURL(/\/settings\/nda/);
    await page.locator("#accept").check();
    await submit(page, /^Accept/);
    await page.getByText("accepted the mutual NDA").first().waitFor();
    await page.goto("/console/catalog");
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
  });
  check("new team", faults);
}

try {
  await buyer();
  await newTeam();
} finally {
  await browser.close();
}
