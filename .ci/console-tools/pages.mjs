// Opens pages of the web app as teams of the demo, and checks each: the rules of accessibility, the markup, and that nothing is wider
// than the window. `some` opens one page of each kind; `all` follows links below /console, and opens one page of each form of a path
// and of each state that such a page can show, at three sizes in both color schemes. Screenshots go to a folder.
import { mkdirSync } from "node:fs";
import { check, findings, launch, markupProblems, openWindow, signIn } from "./browser.mjs";
import { make, makeWorld } from "./made.mjs";

const [base, extent, folder] = process.argv.slice(2);
const SIZES = extent === "all" ? [360, 1280, 2560] : [360, 1280];
const SCHEMES = ["light", "dark"];
const TEAMS = extent === "all"
  ? ["mkt_demo_vendor", "mkt_demo_buyer", "mkt_demo_both", "mkt_demo_locked", "mkt_demo_no_nda", "mkt_demo_no_role", "mkt_demo_operator"]
  : ["mkt_demo_buyer", "mkt_demo_vendor", "mkt_demo_operator"];
mkdirSync(folder, { recursive: true });

/** Maximum number of pages of a form whose links are followed, since records in other states have other links. */
const MAX_FOLLOWED = 12;

// What stands for records in paths, besides UUIDs.
const NAMES = /(?<=\/(jobs|domains|content-tags|inventory-tags|asset-types|worlds)\/)(?!new\b)[^/]+|evt_\d+/;

/** Returns the form of a path: IDs, and everything in the query but its names, do not matter. */
function formOf(address) {
  const url = new URL(address, base);
  const path = url.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replace(NAMES, "ID");
  const known = ["scope", "kind", "view", "query", "action", "all", "check", "group", "workspace_view"];
  const names = [...new Set(url.searchParams.keys())].filter((name) => known.includes(name));
  return [path, ...names.map((name) => `${name}=`)].join(" ");
}

/** Returns one address of each form that links lead to, and of each state of a record, by following links from some addresses. */
async function crawl(page, starts) {
  const found = new Map();
  const asked = new Map();
  const queue = [];
  const ask = (link) => {
    const url = new URL(link, base);
    const isFile = /\/assets\/|\/sha256$|format=csv/.test(link);
    if (url.origin !== new URL(base).origin || !url.pathname.startsWith("/console") || isFile) return;
    const form = formOf(link);
    const known = asked.get(form) ?? new Set();
    const address = url.pathname + url.search;
    const isOfRecord = form.includes("ID") || url.searchParams.has("group");
    if (known.has(address) || known.size >= (isOfRecord ? MAX_FOLLOWED : 1)) return;
    asked.set(form, known.add(address));
    queue.push(address);
  };
  for (const start of ["/console", ...starts]) ask(start);
  for (const address of queue) {
    const response = await page.goto(address);
    if (!response?.headers()["content-type"]?.startsWith("text/html")) continue;
    const form = formOf(address);
    const badge = page.locator("main .badge").first();
    const hasState = form.includes("ID") && (await badge.count()) > 0;
    const state = hasState ? (await badge.textContent()).trim().replace(/ [A-Z][a-z]+ \d+, \d{4}$/, "").replace(/\d+/, "N") : "";
    const name = `${form} ${state}`.trim();
    if (!found.has(name)) found.set(name, address);
    for (const link of await page.$$eval("a[href]:not([download])", (anchors) => anchors.map((anchor) => anchor.href))) ask(link);
  }
  return [...found];
}

/** Returns the addresses of one page of each kind. */
async function examples(page) {
  const links = async (address) => {
    await page.goto(address);
    return page.$$eval(".card h2 a, tbody th a", (anchors) => anchors.map((anchor) => new URL(anchor.href).pathname));
  };
  const listings = await links("/console/catalog");
  const [purchase] = await links("/console/purchases?status=completed");
  const [opportunity] = await links("/console/opportunities");
  const compared = listings.slice(0, 3).map((listing) => `id=${listing.split("/").at(-1)}`).join("&");
  return [
    "/console/catalog", "/console/catalog?query=zzzzzz&languages=cobol", listings[0], `${listings[0]}/buy?scope=sample`,
    `/console/compare?${compared}`, "/console/purchases", purchase, opportunity, "/console/wallet", "/console/settings/keys/new",
    "/console/nowhere",
  ];
}

/** Returns the addresses of one page of a vendor for each component that buyers' pages do not have. */
async function vendorExamples(page, made) {
  const first = async (address, links = "main tbody th a") => {
    await page.goto(address);
    return new URL(await page.locator(links).first().evaluate((link) => link.href)).pathname;
  };
  const asset = await first("/console/inventory");
  const listing = await first("/console/selling/listings");
  return [
    "/console/selling", "/console/inventory", "/console/inventory/add/file", asset, `${asset}/edit`, made.form, made.change, made.upload,
    listing, `${listing}/edit`, `${listing}/assets`, made.compared[0], await first("/console/selling/bids"),
    await first("/console/selling/sales"), "/console/selling/earnings", await first("/console/quality"), await first("/console/requests"),
    await first("/console/requests/bids"), await first("/console/estimations"),
  ];
}

/** Returns the addresses of one page of an operator for each component that teams' pages do not have. */
async function operatorExamples(page) {
  const first = async (address) => {
    await page.goto(address);
    return new URL(await page.locator("main tbody th a").first().evaluate((link) => link.href)).pathname;
  };
  const purchase = await first("/console/operator/purchases?status=completed&kind=full");
  return [
    "/console/operator", await first("/console/operator/review"), "/console/operator/bids", `${purchase}/refund`,
    "/console/operator/search?query=lumen", "/console/operator/figures/sales", "/console/operator/announcements/maintenance",
  ];
}

/** Returns the page as the server sends it. */
async function sent(page) {
  const response = await page.context().request.get(page.url());
  return response.text();
}

/** Returns the elements that make the page wider than the window. */
function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const isInside = (element) => element.closest(".scroll, pre, [popover], .out");
    const isWide = (element) => {
      const box = element.getBoundingClientRect();
      return box.width > 0 && box.right > width + 1 && !isInside(element.parentElement);
    };
    if (document.documentElement.scrollWidth <= width + 1) return [];
    const wide = [...document.body.querySelectorAll("*")].filter(isWide).slice(0, 3).map((element) => element.outerHTML.slice(0, 120));
    return wide.length > 0 ? wide : [`something, by ${document.documentElement.scrollWidth - width} pixels`];
  });
}

/** Checks that a page fits where 1280 pixels are enlarged four times, and with text of twice the size. */
async function enlarge(page, name) {
  await page.setViewportSize({ width: 320, height: 640 });
  const narrow = await overflow(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  // As the browser's own setting does, which also counts for the widths at which the layout changes.
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
  const large = await overflow(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: 16, fixed: 13 } });
  await session.detach();
  check(`${name} enlarged`, [
    ...narrow.map((element) => `wider than 320: ${element}`),
    ...large.map((element) => `wider than the window with large text: ${element}`),
  ]);
}

/** Checks a page as it is shown now. */
async function look(page, name, width, scheme) {
  const faults = [];
  const isMain = width === 1280;
  if (isMain && scheme === "light") {
    faults.push(...(await findings(page)), ...(await markupProblems(await sent(page))));
    const headings = await page.locator("h1").count();
    if (headings !== 1) faults.push(`has ${headings} headings of the first level`);
    if (!(await page.title()).includes(" · ")) faults.push("has no title");
  }
  if (isMain && scheme === "dark") faults.push(...(await findings(page, ["color-contrast"])));
  faults.push(...(await overflow(page)).map((element) => `wider than ${width}: ${element}`));
  const file = name.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "");
  await page.screenshot({ path: `${folder}/${file}-${width}-${scheme}.png`, fullPage: extent === "all" });
  check(`${name} at ${width}, ${scheme}`, faults);
}

/** Returns the names and addresses of the pages of a team to look at. */
async function chosenPages(page, team) {
  const isOperator = team === "mkt_demo_operator";
  const made = team === "mkt_demo_vendor" ? await make(page, base) : undefined;
  if (extent !== "all") {
    const others = isOperator ? operatorExamples : examples;
    const addresses = made ? await vendorExamples(page, made) : await others(page);
    return addresses.map((address) => [formOf(address), address]);
  }
  const archived = "/console/selling/listings?workspace_view=archived";
  const ofVendor = made ? [archived, made.form, made.change, made.upload, ...made.compared] : [];
  const pages = await crawl(page, isOperator ? await makeWorld(page) : ofVendor);
  if (team !== "mkt_demo_both") return pages;
  // Each side of the team has a navigation of its own, so the pages of the other side follow.
  await page.goto("/console");
  await page.locator(".sides button:not([aria-current])").click();
  await page.locator(".sides button[aria-current]").waitFor();
  const known = new Set(pages.map(([name]) => name));
  return [...pages, ...(await crawl(page, [])).filter(([name]) => !known.has(name))];
}

const browser = await launch();
let count = 0;
for (const team of TEAMS) {
  const { context, page, faults } = await openWindow(browser, base);
  await signIn(page, team);
  const pages = await chosenPages(page, team);
  if (team === TEAMS[0]) pages.unshift(["/console/sign-in", "/console/sign-in"]);
  const lookAt = async (name) => {
    for (const width of SIZES) {
      for (const scheme of SCHEMES) {
        await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
        await page.emulateMedia({ colorScheme: scheme });
        await look(page, `${team.replace("mkt_demo_", "")} ${name}`, width, scheme);
      }
    }
    await enlarge(page, `${team} ${name}`);
    count += 1;
  };
  for (const [name, address] of pages) {
    await page.goto(address);
    await lookAt(name);
  }
  if (team === "mkt_demo_buyer") {
    // The session keeps the choice between cards and a table, so no address has it.
    await page.goto("/console/catalog");
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.locator("main table").waitFor();
    await lookAt("/console/catalog as a table");
  }
  check(team, faults.filter((fault) => !/status of 40[34]/.test(fault)));
  await context.close();
}
await browser.close();
console.log(`${count} pages`);
