// The story of a sale, in a world of its own with browsers of a vendor, a buyer, and an operator: the vendor adds a zip and a
// repository that this machine serves, completes them, and writes a listing; the operator asks for changes, and then approves; the
// buyer finds the listing, bids, and downloads; the vendor sees the sale, its hold and its release, and withdraws; the operator pays.
// `operator.mjs` has what else the operator does. The second argument says whether the browsers run scripts. With `all`, the story
// is told at three sizes in both color schemes; else at one size.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, launch, openWindow, signIn } from "./browser.mjs";
import * as operators from "./operator.mjs";
import { assert, follow, save, step, submit } from "./steps.mjs";

const [base, mode, extent] = process.argv.slice(2);
const hasScript = mode === "script";
const TITLE = "Quayside ledger with a berth planner";
const NOTE = "Say which years the ledger covers.";
const REPOSITORY = "quayside/planner";
// What may be missing, by the ID of the field.
const FIELDS = {
  description: "Books berths and dues.", price_usd: "600", lines_of_code: "1200", commits: "40", contributors: "3", merged_prs: "7",
  history_start: "2019-05-01", history_end: "2025-11-30",
};
// What is tried during maintenance.
const REFUSED = /status of 503|^503 .*\/groups\/new$/;
const browser = await launch();

/** Sends a request of the operator, and returns the answer. */
async function operate(path, body, method = "POST") {
  const isText = !(body instanceof Uint8Array);
  const response = await fetch(path, {
    method,
    headers: { authorization: "Bearer mkt_demo_operator", "content-type": isText ? "application/json" : "application/octet-stream" },
    body: isText ? JSON.stringify(body ?? {}) : body,
  });
  assert(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return response.json();
}

/** Makes the files of the vendor in a folder: a zip, and the bundle of a repository with two commits. */
function makeFiles(folder) {
  const files = { "README.md": "# Quayside ledger\n\nBooks dues.\n", LICENSE: "MIT\n", "src/ledger.py": "def dues(days):\n    return days * 12\n" };
  const source = join(folder, "ledger");
  mkdirSync(join(source, "src"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
  const zip = join(folder, "ledger.zip");
  execFileSync("python3", ["-m", "zipfile", "-c", zip, "README.md", "LICENSE", "src"], { cwd: source });
  const repository = join(folder, "planner");
  mkdirSync(repository);
  const git = (...words) => execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], {
    cwd: repository, stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_DATE: "2024-03-01T12:00:00Z", GIT_COMMITTER_DATE: "2024-03-01T12:00:00Z" },
  });
  git("init", "--quiet", "--initial-branch=main");
  for (const [name, text] of [["README.md", "# Berth planner\n"], ["planner.rb", "def berth(ship)\n  ship.length\nend\n"]]) {
    writeFileSync(join(repository, name), text);
    git("add", name);
    git("commit", "--quiet", "--message", `Add ${name}`);
  }
  git("bundle", "create", join(folder, "planner.bundle"), "--all");
  return { zip, bundle: readFileSync(join(folder, "planner.bundle")) };
}

/** Waits until the page shows something that the market does in the background. With a script, the page follows it. */
async function follows(page, locator) {
  for (let attempt = 0; !hasScript && (await locator.count()) === 0 && attempt < 60; attempt += 1) {
    await page.waitForTimeout(100);
    await page.reload();
  }
  await locator.first().waitFor();
}

/** Fills in what an asset lacks, and waits until it is complete. */
async function complete(page) {
  const main = page.locator("main");
  await follows(page, main.getByText("Analyzed", { exact: true }).and(main.locator(".badge")));
  if ((await main.getByRole("link", { name: "Fill it in" }).count()) > 0) {
    await follow(page, "Fill it in");
    for (const [name, value] of Object.entries(FIELDS)) {
      const field = page.locator(`main :is(input, textarea)#${name}`);
      if ((await field.count()) > 0 && (await field.inputValue()) === "") await field.fill(value);
    }
    const ci = page.locator("main select#ci_on_prs");
    if ((await ci.count()) > 0 && (await ci.inputValue()) === "") await ci.selectOption("yes");
    const domain = page.getByRole("checkbox", { name: "Logistics", exact: true });
    if ((await domain.count()) > 0) await domain.check();
    await submit(page, "Save");
  }
  await main.locator(".badge").getByText("Complete", { exact: true }).waitFor();
}

async function add(page, files) {
  await step("uploads a zip", async () => {
    await page.goto("/console/inventory");
    await follow(page, "Add assets");
    await follow(page, "A zip file");
    await page.locator("#title").fill("Quayside ledger");
    await page.locator("#file").setInputFiles(files.zip);
    await submit(page, "Upload");
    await page.getByText("The file has arrived").first().waitFor();
    const digest = createHash("sha256").update(readFileSync(files.zip)).digest("hex");
    if ((await page.getByText(digest).count()) === 0) throw new Error("the digest is not shown");
    await follow(page, "Open the asset");
  });
  await step("completes what is missing", () => complete(page));
  await step("links a repository, and completes it", async () => {
    await page.goto("/console/inventory/add");
    await follow(page, "A repository");
    await page.locator("#repository").fill("not an address");
    await submit(page, "Add the codebase");
    await page.locator("#repository-p").waitFor();
    await page.locator("#repository").fill(`https://github.com/${REPOSITORY}`);
    await page.locator("#title").fill("Berth planner");
    await submit(page, "Add the codebase");
    await page.waitForURL(/\/inventory\/[0-9a-f-]{36}/);
    await complete(page);
  });
}

/** Writes the listing, and returns its address. */
async function compose(page) {
  await step("writes a listing, and looks at its text", async () => {
    await page.goto("/console/selling/listings");
    await follow(page, "New listing");
    await page.locator("#title").fill(TITLE);
    await page.locator("#description").fill("Dues and **berths** of one harbor.");
    await page.getByRole("checkbox", { name: "Logistics", exact: true }).check();
    await page.locator("#price").fill("lots");
    await submit(page, "Save");
    await page.locator("#price-p").waitFor();
    assert((await page.locator("#title").inputValue()) === TITLE, "a refused form keeps what was typed");
    await page.locator("#price").fill("900");
    await page.locator("#terms").fill("Non-exclusive, for training and evaluation.");
    await page.getByRole("checkbox", { name: "Accept bids" }).check();
    await submit(page, "Preview the text");
    await page.locator("main strong").getByText("berths").waitFor();
    await submit(page, "Save");
    await page.waitForURL(/\/selling\/listings\/(?!new)/);
  });
  await step("attaches the assets", async () => {
    if ((await page.getByRole("heading", { name: "Attach from your inventory" }).count()) === 0) await follow(page, /^Attach/);
    for (const name of ["Quayside ledger", "Berth planner"]) {
      await page.locator("#query").fill(name);
      await submit(page, "Search");
      await page.getByRole("checkbox", { name: `Choose ${name}` }).check();
      await submit(page, "Attach the chosen ones");
      await page.getByRole("region", { name: /^Attached/ }).getByText(name).first().waitFor();
    }
    await follow(page, "Go to the listing");
    await page.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
  });
  return new URL(page.url()).pathname;
}

/** Follows a step of the listing, and confirms it. */
async function take(page, listing, link, button) {
  await page.goto(listing);
  await follow(page, link);
  await submit(page, button);
}

async function review(page, listing, operator) {
  await step("submits, and is asked for changes", async () => {
    await take(page, listing, "Submit for review", "Submit for review");
    await page.getByText("In review", { exact: true }).first().waitFor();
    await operators.sendBack(operator, TITLE, NOTE, hasScript);
    await page.goto("/console/selling");
    await page.locator(".todo").getByRole("link", { name: TITLE }).click();
    await page.getByText(NOTE).first().waitFor();
  });
  await step("changes it, and submits again", async () => {
    await follow(page, "Edit the listing");
    await page.locator("#description").fill("Dues and **berths** of one harbor, from 2019 to 2025.");
    await submit(page, "Save");
    await take(page, listing, "Submit for review", "Submit for review");
    await page.getByText("In review", { exact: true }).first().waitFor();
  });
  await step("is approved", async () => {
    await operators.approve(operator, TITLE, "from 2019 to 2025", NOTE, hasScript);
    await page.goto(`${listing}/reviews`);
    await page.getByText("Approved", { exact: true }).first().waitFor();
    await page.getByText(NOTE).first().waitFor();
  });
}

async function publish(page, listing, buyer) {
  await step("publishes, and a buyer finds it within the second", async () => {
    await page.goto(listing);
    await follow(page, "Publish");
    await buyer.goto("/console/catalog");
    const search = buyer.getByRole("searchbox", { name: "Search the catalog" });
    await search.fill("quayside");
    await submit(page, "Publish in the catalog");
    await page.getByText("Live", { exact: true }).first().waitFor();
    const started = Date.now();
    await search.press("Enter");
    await buyer.getByRole("link", { name: TITLE }).first().waitFor();
    const took = Date.now() - started;
    assert(took < 1000, `it took ${took} ms`);
  });
}

async function trade(page, buyer, buyerName) {
  await step("bids", async () => {
    await buyer.getByRole("link", { name: TITLE }).first().click();
    await buyer.getByRole("heading", { name: TITLE, level: 1 }).waitFor();
    await buyer.getByRole("link", { name: "Make a bid" }).first().click();
    await buyer.locator("#amount").fill("800");
    await submit(buyer, /^Show amounts/);
    await buyer.waitForURL(/amount=800/);
    await buyer.locator("#accept").check();
    await submit(buyer, /^Bid \$/);
    await buyer.waitForURL(/\/bids\//);
  });
  await step("accepts the bid, without learning who bids", async () => {
    await page.goto("/console/selling/bids");
    await page.getByRole("link", { name: TITLE }).first().click();
    await page.getByRole("heading", { name: "Bid of $800.00" }).waitFor();
    assert(!(await page.content()).includes(buyerName), "the bid names the buyer");
    await follow(page, /^Accept/);
    await submit(page, "Accept the bid of $800.00");
    await page.getByText("Accepted", { exact: true }).first().waitFor();
  });
  await step("downloads, and checks the digests", async () => {
    await buyer.goto("/console/purchases");
    await buyer.getByRole("link", { name: TITLE }).first().click();
    const receipt = buyer.url();
    const link = buyer.getByRole("link", { name: /^Download ([0-9]|the descriptions)/ });
    for (let attempt = 0; (await link.count()) === 0 && attempt < 60; attempt += 1) {
      const prepare = buyer.getByRole("button", { name: "Prepare the download" });
      if ((await prepare.count()) > 0) await prepare.click();
      await buyer.waitForTimeout(100);
      await buyer.goto(receipt);
    }
    const folder = mkdtempSync(join(tmpdir(), "sale-"));
    try {
      const archive = await save(buyer, link, folder);
      const digests = await save(buyer, buyer.getByRole("link", { name: /^Download .*\.sha256$/ }), folder);
      execFileSync("python3", ["-m", "zipfile", "-e", archive, "."], { cwd: folder });
      const checked = execFileSync("sha256sum", ["--check", digests], { cwd: folder, encoding: "utf8" });
      assert(checked.split("\n").filter((line) => line.endsWith(": OK")).length >= 2, `all files are checked: ${checked}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

async function earn(page, world, buyerName) {
  await step("sees the sale, which is on hold", async () => {
    await page.goto("/console/selling/sales");
    await page.getByRole("link", { name: TITLE }).first().click();
    await page.getByText("$720.00").first().waitFor();
    await page.getByText(/is on hold until/).first().waitFor();
    assert(!(await page.content()).includes(buyerName), "the statement names the buyer");
  });
  await step("says how it is paid, and waits", async () => {
    await page.goto("/console/selling/earnings");
    await page.locator("main td:visible").getByText("$720.00").first().waitFor();
    await page.goto("/console/settings/payout");
    await page.locator("#payout_setup").fill("Quayside, DE00 1234, Harbor Bank");
    await submit(page, /^Review the payout details$/);
    await page.getByText("DE00 1234").first().waitFor();
    await submit(page, /^Save the payout details$/);
    await page.getByText(/withdrawals can be requested again/).waitFor();
    assert(!(await page.content()).includes("DE00"), "the details are never shown");
  });
  await step("withdraws after the clock has moved", async () => {
    const clock = `${base}/sandbox/v1/worlds/${world}/clock`;
    await operate(clock, { advance: "7d" });
    await page.goto("/console/selling/sales");
    await page.getByRole("link", { name: TITLE }).first().click();
    await page.getByText("$720.00").first().waitFor();
    assert((await page.getByText(/is on hold until/).count()) === 0, "the hold has ended");
    await page.goto("/console/selling/earnings");
    await follow(page, "Withdraw");
    await page.locator("#amount").fill("720");
    await submit(page, "Review the withdrawal");
    await submit(page, "Withdraw $720.00");
    await page.getByRole("row", { name: /\$720\.00/ }).getByText("Requested").waitFor();
  });
}

/** Tells the story once, in windows with these options. */
async function tell(name, options) {
  const world = `sale-${name}`;
  const { port_url: market } = await operate(`${base}/sandbox/v1/worlds`, { name: world, port: true });
  const folder = mkdtempSync(join(tmpdir(), "sale-"));
  const windows = [];
  const open = async (key, address = market) => {
    const opened = await openWindow(browser, address, { javaScriptEnabled: hasScript, ...options });
    windows.push([key, opened]);
    await signIn(opened.page, key);
    return opened.page;
  };
  try {
    const files = makeFiles(folder);
    await operate(`${base}/sandbox/v1/worlds/${world}/repositories/${REPOSITORY}`, files.bundle, "PUT");
    const [vendor, buyer] = [await open("mkt_demo_vendor"), await open("mkt_demo_buyer")];
    const [operator, host] = [await open("mkt_demo_operator"), await open("mkt_demo_operator", base)];
    await buyer.goto("/console/settings");
    const buyerName = "Aurora Frontier";
    assert((await buyer.content()).includes(buyerName), "the buyer is the one whose name is looked for");
    await operators.announce(operator, vendor);
    await add(vendor, files);
    const listing = await compose(vendor);
    await review(vendor, listing, operator);
    await publish(vendor, listing, buyer);
    await trade(vendor, buyer, buyerName);
    await earn(vendor, world, buyerName);
    await operators.pay(operator, vendor, /\$720\.00/, "DE00 1234");
    await operators.refund(operator, buyer);
    await operators.redeliver(operator, host, world);
    await operators.replaceKey(operator, buyerName, buyer, open);
    await operators.retire(operator, vendor, "Codebase", "Quayside ledger");
  } finally {
    for (const [key, { context, faults }] of windows) {
      check(`${name} ${key}`, faults.filter((fault) => !REFUSED.test(fault)));
      await context.close();
    }
    rmSync(folder, { recursive: true });
  }
}

try {
  const sizes = extent === "all" ? [360, 1280, 2560] : [1280];
  for (const width of sizes) {
    for (const colorScheme of extent === "all" ? ["light", "dark"] : ["light"]) {
      await tell(`${mode}-${width}-${colorScheme}`, { viewport: { width, height: width === 360 ? 740 : 900 }, colorScheme });
    }
  }
} finally {
  await browser.close();
}
