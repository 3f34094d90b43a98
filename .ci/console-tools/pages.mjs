// Opens pages of the web app as teams of the demo, and checks each: the rules of accessibility, the markup, and that nothing is wider
// than the window. `some` opens one page of each kind; `all` follows each link below /console once per form of its path, at three
// sizes in both color schemes. Screenshots go to a folder.
import { mkdirSync } from "node:fs";
import { check, findings, launch, markupProblems, openWindow, signIn } from "./browser.mjs";

const [base, extent, folder] = process.argv.slice(2);
const SIZES = extent === "all" ? [360, 1280, 2560] : [360, 1280];
const SCHEMES = ["light", "dark"];
const TEAMS = extent === "all"
  ? ["mkt_demo_vendor", "mkt_demo_buyer", "mkt_demo_both", "mkt_demo_locked", "mkt_demo_no_nda", "mkt_demo_no_role", "mkt_demo_operator"]
  : ["mkt_demo_buyer", "mkt_demo_vendor"];
mkdirSync(folder, { recursive: true });

/** Returns the form of a path: IDs, and everything in the query but its names, do not matter. */
function formOf(address) {
  const url = new URL(address, base);
  const path = url.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
  const names = [...new Set(url.searchParams.keys())].filter((name) => ["scope", "kind", "view", "query"].includes(name));
  return [path, ...names.map((name) => `${name}=`)].join(" ");
}

/** Returns one address of each form that links lead to, by following them from the start. */
async function crawl(page) {
  const found = new Map([["/console", "/console"]]);
  for (const [, address] of found) {
    const response = await page.goto(address);
    if (!response?.headers()["content-type"]?.startsWith("text/html")) continue;
    const links = await page.$$eval("a[href]:not([download])", (anchors) => anchors.map((anchor) => anchor.href));
    for (const link of links) {
      const url = new URL(link);
      const isFile = /\/assets\/|\/sha256$|format=csv/.test(link);
      if (url.origin !== new URL(base).origin || !url.pathname.startsWith("/console") || isFile) continue;
      const form = formOf(link);
      if (!found.has(form)) found.set(form, url.pathname + url.search);
    }
  }
  return [...found.values()];
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
    const wide = [...document.body.querySelectorAll("*")].filter(isWide);
    return wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 120));
  });
}

/** Checks that a page fits where 1280 pixels are enlarged four times, and with text of twice the size. */
async function enlarge(page, name) {
  await page.setViewportSize({ width: 320, height: 640 });
  const narrow = await overflow(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate(() => { document.documentElement.style.fontSize = "200%"; });
  const large = await overflow(page);
  await page.evaluate(() => { document.documentElement.style.fontSize = ""; });
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

const browser = await launch();
let count = 0;
for (const team of TEAMS) {
  const { context, page, faults } = await openWindow(browser, base);
  await signIn(page, team);
  const addresses = extent === "all" ? await crawl(page) : await examples(page);
  if (team === TEAMS[0]) addresses.unshift("/console/sign-in");
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
  for (const address of addresses) {
    await page.goto(address);
    await lookAt(formOf(address));
  }
  if (team === TEAMS[0]) {
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
