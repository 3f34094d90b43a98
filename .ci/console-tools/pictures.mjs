// Makes the pictures of the guide of the web app from a new demo market, as `docs/images/console-NAME.png`. Arguments: the address
// of the market, and the folder. It needs pngquant, which reduces each picture to 256 colors.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { check, launch, openWindow, signIn } from "./browser.mjs";

const [base, folder] = process.argv.slice(2);
const MAX_BYTES = 120_000;
const WINDOW = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const browser = await launch();

/** Opens a window as a demo team or an operator, and returns what takes pictures in it. */
async function as(key) {
  const { context, page, faults } = await openWindow(browser, base, { viewport: WINDOW, timezoneId: "UTC" });
  await signIn(page, key);
  const open = async (address) => {
    const response = await page.goto(address);
    if (response?.status() !== 200) throw new Error(`${address}: ${response?.status()}`);
  };
  const take = async (name, address, { scheme = "light", size = WINDOW } = {}) => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme });
    await open(address);
    const path = `${folder}/console-${name}.png`;
    await page.screenshot({ path });
    execFileSync("pngquant", ["--force", "--strip", "--output", path, "256", path]);
    const { size: bytes } = statSync(path);
    if (bytes > MAX_BYTES) faults.push(`${path} has ${bytes} bytes`);
    console.log(`${path}: ${bytes} bytes`);
  };
  /** Returns the path of the record of a list whose row has a text. */
  const find = async (list, text) => {
    await open(list);
    const link = page.locator("main tbody tr, main .card").filter({ hasText: text }).locator("th a, h2 a").first();
    return new URL(await link.evaluate((found) => found.href)).pathname;
  };
  const close = async () => {
    check(key, faults);
    await context.close();
  };
  return { page, open, take, find, close };
}

/** Submits a listing again whose reviewer has asked for changes, so that its review shows what has changed. */
async function submitAgain({ page, open, find }) {
  const listing = await find("/console/selling/listings", "Changes requested");
  await open(`${listing}/edit`);
  const description = page.locator("[name=description]");
  await description.fill(`${await description.inputValue()} The names of wards have been replaced.`);
  await page.locator("[name=price]").fill("29500");
  await page.locator("main").getByRole("button", { name: /^Save/ }).click();
  await page.waitForURL((url) => url.pathname === listing);
  await open(`${listing}/submit`);
  await page.locator("main").getByRole("button", { name: /^Submit/ }).click();
  await page.waitForURL((url) => url.pathname === listing);
  return listing.split("/").at(-1);
}

/** Buys a listing, and returns the path of the receipt. */
async function buy({ page, open }, listing) {
  await open(`${listing}/buy`);
  await page.locator("#accept").check();
  await page.locator("main").getByRole("button", { name: /^Buy/ }).click();
  await page.waitForURL(/\/purchases\//);
  return new URL(page.url()).pathname;
}

const buyer = await as("mkt_demo_buyer");
await buyer.take("catalog", "/console/catalog?languages=java&max_price=200000");
const bought = await buyer.find("/console/catalog?query=schoolhouse", "Schoolhouse");
await buyer.take("listing", bought, { scheme: "dark" });
await buyer.take("buy", `${bought}/buy`);

const operator = await as("mkt_demo_operator");
await operator.take("operator-start", "/console/operator");
await operator.take("figures", "/console/operator/figures/sales");

const vendor = await as("mkt_demo_vendor");
await vendor.take("start", "/console/selling");
await vendor.take("inventory", "/console/inventory");
await vendor.take("own-listing", await vendor.find("/console/selling/listings", "In review"));
const submitted = await submitAgain(vendor);
await vendor.close();

await operator.take("review", `/console/operator/review/${submitted}`);
await operator.close();

// Last, since a sale changes the other pages.
await buyer.take("receipt", await buy(buyer, bought), { size: PHONE });
await buyer.close();
await browser.close();
