// Uses what only scripts and styles do, as people do who have no mouse, dictate, print, or whose session ends: keys that can be
// switched off, choices by arrow keys, a choice of assets on several pages, what was typed before a session ended, buttons that
// copy, the place of the focus, all columns of the inventory, and printed pages.
import { check, launch, openWindow, signIn } from "./browser.mjs";
import { assert, step } from "./steps.mjs";

const [base] = process.argv.slice(2);
const browser = await launch();

/** Opens a window as a team, does something in it, and fails if a page does something forbidden. */
async function as(key, name, work, options = {}) {
  const { context, page, faults } = await openWindow(browser, base, options);
  await signIn(page, key);
  await step(name, () => work(page, context));
  check(name, faults);
  await context.close();
}

const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Returns the address of the first link of a page in its content. */
async function first(page, address, links = "main tbody th a") {
  await page.goto(address);
  return page.locator(links).first().getAttribute("href");
}

/** Keys of one character can be switched off, and the browser keeps that. */
async function switchKeysOff(page) {
  await page.clock.install();
  await page.goto(await first(page, "/console/operator/review"));
  const address = page.url();
  const dialog = page.locator("#keys");
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await dialog.getByRole("checkbox").uncheck();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.reload();
  assert((await page.locator("main [data-keys]:visible, [aria-keyshortcuts]").count()) === 0, "hints of keys are shown");
  // Keys that decide do nothing for a second anyway.
  await page.clock.runFor(1_500);
  await page.evaluate(() => {
    globalThis.clicks = 0;
    addEventListener("click", () => { globalThis.clicks += 1; }, true);
  });
  for (const key of ["a", "r", "n", "/", "?"]) await page.keyboard.press(key);
  assert((await page.evaluate(() => globalThis.clicks)) === 0 && page.url() === address, "a key presses a button");
  assert(!(await dialog.isVisible()) && !(await isFocused(page.locator("#search"))), "a key still does something");
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await dialog.getByRole("checkbox").check();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert(await isFocused(page.locator("#search")), "the key does nothing after it was switched on");
}

/** Arrow keys choose one after another, although the page is loaded again each time. */
async function chooseByArrows(page) {
  await page.goto("/console/catalog?has_sample=true");
  for (const listing of await page.$$eval(".card h2 a", (links) => links.map((link) => link.pathname))) {
    await page.goto(`${listing}/buy`);
    if ((await page.locator("input[name=scope]").count()) > 1) break;
  }
  const scopes = page.locator("input[name=scope]");
  const count = await scopes.count();
  assert(count > 1, "no listing with a choice");
  await page.locator("input[name=scope]:checked").focus();
  for (let number = 1; number < count; number += 1) {
    const next = await scopes.nth(number).getAttribute("value");
    await page.keyboard.press("ArrowDown");
    await page.waitForURL((url) => url.searchParams.get("scope") === next);
    assert(await isFocused(page.locator(`input[name=scope][value=${next}]`)), `the focus is not on ${next}`);
  }
}

/** Chooses two assets, and another one on the next page. All stay chosen on the way back and forth. */
async function chooseThree(page, boxes, next) {
  for (const number of [0, 1]) await boxes.nth(number).check();
  await page.getByText("2 selected", { exact: true }).waitFor();
  await next.click();
  await page.getByText("2 selected, 2 of them on other pages").waitFor();
  await boxes.nth(0).check();
  await page.getByText("3 selected, 2 of them on other pages").waitFor();
  await page.goBack();
  await page.getByText("2 selected", { exact: true }).waitFor();
  await page.goForward();
  await page.getByText("3 selected, 2 of them on other pages").waitFor();
}

/** Assets that are chosen stay chosen on the next page, and on the way back. */
async function chooseOnPages(page) {
  await page.goto("/console/inventory?sort=name");
  const boxes = page.locator("main tbody input[name=asset]");
  await chooseThree(page, boxes, page.getByRole("button", { name: "Next", exact: true }));
  await page.getByRole("button", { name: "Set price…" }).click();
  await page.getByRole("heading", { name: "Set the price of 3 assets" }).waitFor();
  await page.getByRole("link", { name: "Leave them as they are" }).click();
  await page.getByText("3 selected, 1 of them on other pages").waitFor();
  await boxes.nth(0).uncheck();
  await page.getByRole("link", { name: "Price, USD" }).click();
  await page.waitForURL(/sort=price/);
  await page.getByText(/^2 selected/).waitFor();
}

/** Assets that are chosen for a listing stay chosen on the next page, and on the way back. */
async function attachFromPages(page) {
  await page.goto(await first(page, "/console/selling/listings?workspace_view=drafts"));
  await page.goto(`${new URL(page.url()).pathname}/assets?sort=name`);
  const boxes = page.locator("main tbody input[type=checkbox][name=asset]");
  const pages = page.getByRole("navigation", { name: "Pages of your inventory" });
  await chooseThree(page, boxes, pages.getByRole("button", { name: "Next", exact: true }));
  assert(!page.url().includes("form_key"), `the address has the key of the form: ${page.url()}`);
  // A search keeps them, also those that were chosen on the page since it was loaded.
  await boxes.nth(0).uncheck();
  await boxes.nth(1).check();
  await page.locator("form[aria-label='Search your inventory'] button").click();
  await page.waitForURL((url) => !url.searchParams.has("sort"));
  await page.getByText(/^3 selected/).waitFor();
  await page.getByRole("button", { name: "Attach the chosen ones" }).click();
  await page.getByText("3 assets were attached").waitFor();
}

/** The text of a row can be selected, although the row can be dragged by its name. */
async function selectText(page) {
  await page.goto("/console/inventory");
  const box = await page.locator("main tbody tr").nth(3).locator("td").nth(1).boundingBox();
  await page.mouse.move(box.x + 14, box.y + 16);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 10, box.y + 16, { steps: 8 });
  await page.mouse.up();
  assert((await page.evaluate(() => getSelection().toString())) !== "", "no text is selected");
  assert((await page.locator("main tbody input:checked").count()) === 0, "an asset is chosen");
}

/** What was typed is there again after signing in, but not for another team. */
async function loseSession(page, context) {
  const title = "Ledgers of harbors, as they are kept by hand";
  const type = async () => {
    await page.goto("/console/opportunities/new?kind=listing_request");
    await page.getByLabel(/^Title/).fill(title);
    await page.getByLabel(/^Description/).fill("Two lines,\nof which this is the second.");
    await context.clearCookies();
    await page.locator("main form[method=post] button:not([type=button])").last().click();
    await page.getByText("so nothing was saved").waitFor();
  };
  const enter = async (key) => {
    await page.getByLabel("Console key").fill(key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(/opportunities\/new/);
  };
  await type();
  await page.getByLabel("Console key").fill("mkt_wrong");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("This key is not valid here").first().waitFor();
  await enter("mkt_demo_buyer");
  await page.getByText("What you had typed is here again").waitFor();
  assert((await page.getByLabel(/^Title/).inputValue()) === title, "the title is lost");
  assert((await page.getByLabel(/^Description/).inputValue()).endsWith("second."), "the description is lost");
  await page.reload();
  assert((await page.getByLabel(/^Title/).inputValue()) === "", "it is kept for longer than a page");
  await type();
  await enter("mkt_demo_both");
  assert((await page.getByLabel(/^Title/).inputValue()) === "", "another team sees it");
}

/** A search that was typed with pauses is one page on the way back. */
async function searchWhileTyping(page) {
  await page.goto("/console/catalog");
  const all = await page.locator("#match-count").textContent();
  await page.locator("#search").focus();
  // Nothing is searched for before the third letter.
  await page.keyboard.type("le");
  for (const typed of ["led", "ledg", "ledge", "ledger", "ledgers"]) {
    await page.keyboard.type(typed.at(-1));
    await page.waitForURL((url) => url.searchParams.get("query") === typed);
  }
  await page.goBack();
  await page.waitForURL(/catalog$/);
  await page.getByText(all, { exact: true }).waitFor();
}

/** What a reader has opened stays open while the page is loaded again and again. */
async function readWhileChecked(page) {
  await page.goto(await first(page, "/console/quality?result=in_progress"));
  assert((await page.locator("[hx-trigger^=every]").count()) > 0, "the page is not loaded again");
  // A check that ends meanwhile adds other parts, which are closed.
  const parts = page.locator("main details[id]");
  const opened = await parts.evaluateAll((all) => all.map((part) => {
    part.open = true;
    return part.id;
  }));
  assert(opened.length > 0, "there is nothing to open");
  // When the second response arrives, the page shows the first one.
  for (let number = 0; number < 2; number += 1) {
    await page.waitForResponse((response) => "hx-request" in response.request().headers());
  }
  const closed = await parts.evaluateAll((all, ids) =>
    all.filter((part) => ids.includes(part.id) && !part.open).map((part) => part.id), opened);
  assert(closed.length === 0, `closed again: ${closed}`);
}

/** A button that is pressed twice has its label again afterwards. */
async function copyTwice(page) {
  await page.goto(await first(page, "/console/catalog", ".card h2 a"));
  await page.getByText("Copy link for approval").click();
  await page.getByRole("button", { name: "Make the link" }).click();
  const button = page.locator("button[data-copy]");
  await button.click();
  await button.click();
  assert((await button.textContent()) === "Copied", "does not say that it copied");
  await button.and(page.getByText("Copy link", { exact: true })).waitFor();
}

/** Returns whatever has the focus if nothing of it can be seen. */
function hiddenFocus(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    const box = element.getBoundingClientRect();
    if (element === document.body || box.width < 2) return "";
    const isShown = ([x, y]) => {
      const top = document.elementFromPoint(x, y);
      return top && (element.contains(top) || (top.contains(element) && top !== document.documentElement));
    };
    const corners = [[box.left + 2, box.top + 2], [box.right - 2, box.bottom - 2], [(box.left + box.right) / 2, (box.top + box.bottom) / 2]];
    return corners.some(isShown) ? "" : element.outerHTML.slice(0, 120);
  });
}

/** What has the focus can be seen in a low window, on the way down and up. */
async function followFocus(page, addresses) {
  for (const address of addresses) {
    await page.goto(address);
    for (const key of ["Tab", "Shift+Tab"]) {
      for (let number = 0; number < 70; number += 1) {
        await page.keyboard.press(key);
        const hidden = await hiddenFocus(page);
        assert(hidden === "", `${address}: ${key} leads to what cannot be seen: ${hidden}`);
      }
    }
  }
}

/** Returns the words in cells of tables that begin on one line and end on another one. */
function wordsOnTwoLines(page) {
  return page.locator("main td").evaluateAll((cells) => cells.flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const words = [];
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/\p{L}{2,}/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) words.push(word[0]);
      }
    }
    return words;
  }));
}

/** A page is printed with its heading, but without what is only used on a screen. */
async function printAnyPage(page) {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 658, height: 900 });
  await page.goto("/console/purchases");
  // A table that is wider than paper is printed smaller.
  const broken = await wordsOnTwoLines(page);
  assert(broken.length === 0, `the words ${broken.slice(0, 3)} are broken on paper`);
  for (const address of ["/console/opportunities", "/console/wallet", await first(page, "/console/catalog", ".card h2 a")]) {
    await page.goto(address);
    assert(await page.locator("h1").isVisible(), `the heading of ${address} is not printed`);
    const printed = await page.locator(".top, .side, .head > .row, .foot").evaluateAll((parts) =>
      parts.filter((part) => part.checkVisibility()).map((part) => part.className));
    assert(printed.length === 0, `${printed} of ${address} is printed`);
  }
}

/** All columns of the inventory can be reached, without the page being wider than the window. */
async function chooseColumns(page) {
  await page.goto("/console/inventory");
  await page.getByText("Columns", { exact: true }).click();
  for (const box of await page.locator("input[name=columns]").all()) await box.check();
  await page.getByRole("button", { name: "Show these columns" }).click();
  await page.locator("main thead th:nth-child(20)").waitFor();
  for (const width of [1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert(wider <= 0, `the page is wider than ${width} pixels, by ${wider}`);
  }
  await page.getByText("Columns", { exact: true }).click();
  await page.getByRole("button", { name: "Show the usual ones" }).click();
  await page.locator("main thead th:nth-child(20)").waitFor({ state: "detached" });
  // The spacing of text that WCAG 1.4.12 names.
  await page.setViewportSize({ width: 1280, height: 900 });
  const spaced = await page.evaluate(() => {
    for (const element of document.querySelectorAll("*")) {
      if (element.style) Object.assign(element.style, { lineHeight: "1.5", letterSpacing: "0.12em", wordSpacing: "0.16em" });
    }
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  });
  assert(spaced <= 0, `the page is wider than the window with spaced text, by ${spaced}`);
}

/** All rows of a receipt are on paper. */
async function print(page) {
  await page.goto(await first(page, "/console/purchases?status=completed"));
  await page.setViewportSize({ width: 658, height: 300 });
  await page.emulateMedia({ media: "print" });
  // As many files as a large purchase has.
  await page.locator(".paper .scroll tbody").evaluateAll((bodies) => {
    for (const body of bodies) for (let number = 0; number < 50; number += 1) body.append(body.rows[0].cloneNode(true));
  });
  assert(!(await page.locator(".head").isVisible()), "the heading of the page is printed besides that of the receipt");
  const cut = await page.locator(".paper .scroll").evaluateAll((tables) =>
    tables.filter((table) => table.scrollHeight > table.clientHeight + 1).map((table) => table.getAttribute("aria-label")));
  assert(cut.length === 0, `not all rows of ${cut} are printed`);
}

await as("mkt_demo_operator", "switches keys off", switchKeysOff);
await as("mkt_demo_buyer", "chooses by arrow keys", chooseByArrows);
await as("mkt_demo_vendor", "chooses assets on two pages", chooseOnPages);
await as("mkt_demo_vendor", "attaches assets of two pages", attachFromPages);
await as("mkt_demo_vendor", "selects text", selectText);
await as("mkt_demo_buyer", "signs in again, and goes on typing", loseSession);
await as("mkt_demo_buyer", "searches while typing", searchWhileTyping);
await as("mkt_demo_vendor", "reads a run while it goes on", readWhileChecked);
await as("mkt_demo_buyer", "copies twice", copyTwice, { permissions: ["clipboard-read", "clipboard-write"] });
const low = { viewport: { width: 1280, height: 600 } };
await as("mkt_demo_operator", "sees the focus as an operator", async (page) =>
  followFocus(page, ["/console/operator", await first(page, "/console/operator/review")]), low);
await as("mkt_demo_buyer", "sees the focus as a buyer", async (page) => {
  const one = await first(page, "/console/catalog", ".card h2 a");
  await followFocus(page, [`/console/catalog?compare=${one.split("/").at(-1)}`]);
}, low);
await as("mkt_demo_operator", "sees the focus in a narrow window", (page) => followFocus(page, ["/console/operator/events"]),
  { viewport: { width: 800, height: 500 } });
await as("mkt_demo_vendor", "chooses columns", chooseColumns);
await as("mkt_demo_buyer", "prints a receipt", print);
await as("mkt_demo_buyer", "prints other pages", printAnyPage);
await browser.close();
