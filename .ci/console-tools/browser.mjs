// Opens the browser, and fails if a page does something forbidden: print an error, ask another host, or fail with a fault of the server.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.TOOLS}/`);
const { chromium } = require("playwright-core");
const { readFileSync } = await import("node:fs");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const OPTIONS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** Starts the browser. */
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: OPTIONS });
}

/** Opens a window whose faults are collected in `faults`. */
export async function openWindow(browser, base, options = {}) {
  const context = await browser.newContext({ baseURL: base, acceptDownloads: true, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const faults = [];
  const host = new URL(base).host;
  page.on("console", (message) => {
    // A form that is refused on purpose is answered with such a status.
    const isRefusal = /status of 4(09|22)/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isRefusal) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["data:", "blob:", "about:"].includes(url.protocol) && url.host !== host) faults.push(`asks ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 500) faults.push(`${response.status()} ${response.url()}`);
  });
  page.setDefaultTimeout(60_000);
  return { context, page, faults };
}

/** Returns the violations of WCAG 2.2 A and AA on a page. */
export async function findings(page, rules) {
  await page.evaluate(axe);
  const options = rules
    ? { runOnly: { type: "rule", values: rules } }
    : { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] } };
  const result = await page.evaluate((chosen) => window.axe.run(document, chosen), options);
  return result.violations.flatMap((rule) =>
    rule.nodes.slice(0, 3).map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary?.split("\n")[1]?.trim()}`));
}

// What templates of ours decide: attributes of the scripts, and elements without content where the standard allows them.
const MARKUP_RULES = {
  extends: ["html-validate:standard"],
  rules: { "no-inline-style": "error", "void-style": "off", "attribute-boolean-style": "off", "attribute-empty-style": "off" },
};

/** Returns what an HTML checker finds in a page, as the server sent it. */
export async function markupProblems(html) {
  const { HtmlValidate } = await import(require.resolve("html-validate"));
  const report = await new HtmlValidate(MARKUP_RULES).validateString(html);
  return report.results.flatMap((result) => result.messages.map((found) => `${found.ruleId}: ${found.message}`));
}

/** Fails if there are faults. */
export function check(name, faults) {
  if (faults.length > 0) {
    console.error(`${name}:\n  ${faults.join("\n  ")}`);
    process.exitCode = 1;
  }
}

/** Signs in with a key. */
export async function signIn(page, key) {
  await page.goto("/console/sign-in");
  await page.getByLabel("Console key").fill(key);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
}
