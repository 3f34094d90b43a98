// Uploads a large zip by its page, as a vendor whose afternoon goes wrong: paused, interrupted by a reload, and by the end of the
// server. Fails unless what has arrived is not sent again, the digest is that of the file, and the server takes little memory.
// Arguments: the program, a folder for its data and the file, and a folder for screenshots. UPLOAD_MB is the size of the file.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { check, findings, launch, markupProblems, openWindow, signIn } from "./browser.mjs";

const [program, work, folder] = process.argv.slice(2);
const MEGABYTES = Number(process.env.UPLOAD_MB || 1_000);
// Bytes per second, so that there is time to interrupt it.
const RATE = Math.max(20, MEGABYTES / 20) * 1e6;
// Memory that an upload may take in addition to the idle server.
const MAX_MEGABYTES = 64;
const PAGE = "/console/inventory/add/file";

// Writes a zip of files that cannot be compressed: its path, and its size in megabytes.
const WRITE_ZIP = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for number in range(int(sys.argv[2]) // 10):
        archive.writestr(f"noise/{number}.bin", os.urandom(10_000_000))
`;

/** Returns the digest of a file. */
async function digest(path) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

let server = null;
// Whatever fails, nothing is left running.
process.on("exit", () => server?.kill("SIGKILL"));

/** Starts the server. Returns its address. */
async function start(listen) {
  server = spawn(program, ["serve", "--demo", "--listen", listen, "--data", `${work}/market`], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: server.stdout })) return line.replace("listening on ", "");
  throw new Error("the server has not started");
}

function end(signal) {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill(signal);
  return ended;
}

/** Returns the megabytes of memory that the server has for itself. */
function memory() {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

mkdirSync(folder, { recursive: true });
const [file, other] = [`${work}/noise.zip`, `${work}/other/noise.zip`];
execFileSync("python3", ["-c", WRITE_ZIP, file, String(MEGABYTES)]);
const sha256 = await digest(file);
mkdirSync(`${work}/other`, { recursive: true });
writeFileSync(other, "another file");
const base = await start("127.0.0.1:0");
const browser = await launch();
const { context, page, faults } = await openWindow(browser, base);
const sent = [];
page.on("request", (request) => {
  const part = /\/parts\/(\d+)$/.exec(request.url());
  if (part) sent.push(Number(part[1]));
});
page.on("dialog", (dialog) => dialog.accept());
const problems = [];
const bar = page.locator("progress");
const state = page.locator("[data-upload-state]");

/** Notes a fault unless something holds. */
function expect(holds, fault) {
  if (!holds) problems.push(fault);
}

const transferred = () => bar.evaluate((element) => element.value / element.max);

async function until(holds, what, seconds = 120) {
  for (let tries = seconds * 20; tries > 0; tries--) {
    if (await holds()) return;
    await pause(50);
  }
  throw new Error(`${what}: ${await state.textContent()}`);
}

/** Saves the page at two sizes, and checks it. */
async function look(name) {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1);
    expect(!isWide, `${name} is wider than ${width}`);
    await page.screenshot({ path: `${folder}/upload-${name}-${width}.png`, fullPage: true });
  }
  problems.push(...(await findings(page)).map((fault) => `${name}: ${fault}`));
}

await signIn(page, "mkt_demo_vendor");
await page.goto(PAGE);
const idle = memory();
let most = 0;
const watch = setInterval(() => { most = Math.max(most, memory()); }, 50);
await look("form");
problems.push(...(await markupProblems(await (await context.request.get(PAGE)).text())));

const devtools = await context.newCDPSession(page);
await devtools.send("Network.enable");
await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: RATE });
await page.getByRole("radio", { name: "Raw data" }).check();
await page.getByLabel(/^Title/).fill("Noise of a year");
await page.getByLabel("Zip file").setInputFiles(file);
// A link to a place on the page loads nothing, so what was typed and chosen stays.
await page.getByRole("link", { name: "Skip to content" }).press("Enter");
await pause(1_000);
expect((await page.getByLabel(/^Title/).inputValue()) !== "", "a link to a place on the page loses what was typed");
await page.getByRole("button", { name: "Upload", exact: true }).click();
const begun = Date.now();
await bar.waitFor();
const address = page.url();
expect(/\/uploads\/[0-9a-f-]{36}$/.test(address), `the address is ${address}`);
const count = Number(await page.locator("[data-upload]").getAttribute("data-part-count"));

// What screen readers read aloud of the transfer.
await state.evaluate((element) => {
  window.readAloud = [];
  const note = () => { if (element.getAttribute("aria-live") !== "off") window.readAloud.push(element.textContent); };
  new MutationObserver(note).observe(element, { childList: true, characterData: true, subtree: true });
});
await until(async () => (await transferred()) > 0.15, "the transfer does not begin");
expect(/^\d+%: .* of .* MB/.test(await state.textContent()), `says ${await state.textContent()}`);
const readAloud = await page.evaluate(() => window.readAloud.length);
expect(readAloud <= 2, `${readAloud} messages are read aloud before a quarter has arrived`);
await page.getByRole("button", { name: "Pause", exact: true }).click();
await page.getByRole("button", { name: "Go on", exact: true }).waitFor();
const [paused, before] = [await transferred(), sent.length];
await look("paused");
await pause(1_000);
expect((await transferred()) === paused && sent.length === before, "it goes on while it is paused");
await page.getByRole("button", { name: "Go on", exact: true }).click();
await until(async () => (await transferred()) > paused + 0.15, "it does not go on after a pause");

// Something writes to the file while it is sent, and then it is again as it was.
const beforeChange = faults.length;
execFileSync("touch", ["-r", file, `${work}/time`]);
appendFileSync(file, "x");
const again = page.getByLabel("Choose the same file again to go on");
await again.waitFor();
expect((await state.textContent()).includes("changed or deleted"), `after a change of the file: ${await state.textContent()}`);
expect(!(await page.locator("[data-upload-pause]").isVisible()), "offers to go on with a file that cannot be read");
// The browser reports that it could not send it.
faults.splice(beforeChange, faults.length, ...faults.slice(beforeChange).filter((fault) => !/net::ERR_/.test(fault)));
truncateSync(file, statSync(file).size - 1);
execFileSync("touch", ["-r", `${work}/time`, file]);
const changed = await transferred();
await again.setInputFiles(file);
await until(async () => (await transferred()) > changed, "it does not go on with the file that was chosen again");

await page.reload();
await again.waitFor();
const received = (await page.locator("[data-upload]").getAttribute("data-received")).split(",").map(Number);
expect(received.length > 1 && (await state.textContent()).includes(`${received.length} of ${count} parts have arrived`),
  `after the reload: ${await state.textContent()}`);
problems.push(...(await markupProblems(await (await context.request.get(address)).text())));
await look("again");
await again.setInputFiles(other);
expect((await state.textContent()).includes("This is another file"), `takes another file: ${await state.textContent()}`);
sent.length = 0;
await again.setInputFiles(file);
await until(async () => (await transferred()) > 0.6, "it does not go on after a reload");
await look("transfer");
expect(!sent.some((part) => received.includes(part)), "parts that are there are sent again after the reload");

const faultsBefore = faults.length;
await end("SIGKILL");
await until(async () => /cannot be reached/.test(await state.textContent()), "it does not say that the market is gone", 10);
await pause(500);
await start(new URL(base).host);
await page.getByText("SHA-256", { exact: true }).waitFor({ timeout: 300_000 });
// The browser reports requests that no server answers.
faults.splice(faultsBefore, faults.length, ...faults.slice(faultsBefore).filter((fault) => !/net::ERR_/.test(fault)));
clearInterval(watch);
await look("done");
const shown = await page.locator("main").textContent();
expect(shown.includes(sha256), `shows another digest than ${sha256}: ${shown}`);
const once = new Set(sent);
const size = statSync(file).size;
expect(sent.length - once.size <= 6, `${sent.length - once.size} parts were sent again after the server had ended`);
expect(most - idle < MAX_MEGABYTES, `the server takes ${Math.round(most - idle)} MB more than when it is idle`);
await page.getByRole("link", { name: "Noise of a year" }).click();
await page.getByRole("heading", { level: 1 }).waitFor();
check("upload", [...problems, ...faults]);
await browser.close();
await end("SIGTERM");
rmSync(file);
console.log(
  `${count} parts, ${Math.round(size / 1e6)} MB in ${Math.round((Date.now() - begun) / 1000)} s; memory ${Math.round(idle)} MB idle, ` +
  `${Math.round(most)} MB at most`,
);
