// Sends a large file in parts: several at a time, each again if it fails, and only those that have not arrived.
"use strict";

// A block, so that nothing here has the name of something in another script.
{
// Number of parts that are sent at the same time.
const LANES = 3;

// Waits before a part is sent again, in seconds. Then a person decides.
const WAITS = [1, 3, 10, 30, 60];

// Number of times that it is asked whether the parts are joined, at most 5 seconds apart.
const ASKS = 240;

const SCREEN = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

// Why a transfer ends whose file browsers do not read any more.
const UNREADABLE = "The file was changed or deleted, or it cannot be read. Choose it again.";

// The file that was chosen. It outlives the page that was chosen on, since the next one is loaded in its place.
let chosen = null;

// The path of the page that is shown.
let shownPath = location.pathname;

function megabytes(bytes) {
  return SCREEN.format(bytes / 1e6) + " MB";
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

// Parses a page that was answered. Null if the answer is none.
async function parse(response) {
  const isPage = (response.headers.get("content-type") || "").startsWith("text/html");
  return isPage ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

// Shows a page that was answered, in place of this one.
async function show(response) {
  const page = await parse(response);
  if (!page) throw new Error(`status ${response.status}`);
  replace(page, response);
}

function replace(page, response) {
  document.title = page.title;
  document.body.replaceChildren(...page.body.childNodes);
  if (response.redirected) {
    const address = new URL(response.url);
    address.searchParams.delete("notice");
    history.pushState(null, "", address);
    shownPath = location.pathname;
  }
  scrollTo(0, 0);
  document.getElementById("main")?.focus();
  document.dispatchEvent(new Event("htmx:after:swap"));
  window.htmx?.process(document.body);
  prepare();
}

// Says something about the form or the transfer. Screen readers read it aloud unless it is quiet.
function say(text, isQuiet = false) {
  const state = document.querySelector("[data-upload-state]");
  if (!state) return;
  state.setAttribute("aria-live", isQuiet ? "off" : "polite");
  state.textContent = text;
}

// The form on which a file is chosen: plans the upload, and goes on with its page.
async function plan(event) {
  const form = event.target;
  const input = form.querySelector("input[type=file]");
  const file = input.files[0];
  if (!file) return;
  event.preventDefault();
  chosen = file;
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
  fields.set("file_name", file.name);
  fields.set("size_bytes", file.size);
  fields.set("modified_ms", file.lastModified);
  const button = form.querySelector("button:not([type=button])");
  button.disabled = true;
  try {
    await show(await fetch(form.dataset.uploadForm, { method: "POST", body: fields }));
    const again = document.querySelector("form[data-upload-form] input[type=file]");
    if (again && chosen) {
      const files = new DataTransfer();
      files.items.add(chosen);
      again.files = files.files;
    }
  } catch {
    button.disabled = false;
    say("The market cannot be reached. Try again.");
  }
}

// A file that is dropped on the form is chosen.
function acceptDrops(form) {
  const input = form.querySelector("input[type=file]");
  const place = form.querySelector("[data-upload-drop]") || form;
  for (const name of ["dragover", "dragenter"]) {
    place.addEventListener(name, (event) => { event.preventDefault(); place.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) {
    place.addEventListener(name, () => place.classList.remove("over"));
  }
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length !== 1) { say("Choose one file."); return; }
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// The transfer of a file whose upload was planned.
class Transfer {
  constructor(panel, file) {
    const data = panel.dataset;
    this.panel = panel;
    this.file = file;
    this.address = data.parts;
    this.partBytes = Number(data.partBytes);
    this.count = Number(data.partCount);
    const received = new Set(data.received.split(",").filter(Boolean).map(Number));
    this.done = received;
    this.queue = Array.from({ length: this.count }, (_, index) => index + 1).filter((part) => !received.has(part));
    this.moving = new Map();
    this.requests = new Set();
    this.wakers = new Set();
    this.isActive = false;
    this.isPaused = false;
    this.started = Date.now();
    this.sentBytes = 0;
  }

  size(part) {
    return Math.min(this.partBytes, this.file.size - (part - 1) * this.partBytes);
  }

  showProgress() {
    let bytes = 0;
    for (const part of this.done) bytes += this.size(part);
    for (const moved of this.moving.values()) bytes += moved;
    const bar = this.panel.querySelector("progress");
    bar.value = bytes;
    const seconds = (Date.now() - this.started) / 1000;
    let rest = "";
    if (seconds > 5 && this.sentBytes > 0 && !this.isPaused) {
      const left = ((this.file.size - bytes) * seconds) / this.sentBytes;
      rest = left < 90 ? ` About ${Math.ceil(left)} seconds left.` : ` About ${Math.ceil(left / 60)} minutes left.`;
    }
    const percent = Math.floor((bytes / this.file.size) * 100);
    bar.setAttribute("aria-valuetext", `${percent}%`);
    const now = Date.now();
    if (this.saidAt && now - this.saidAt < 1000 && bytes < this.file.size) return;
    this.saidAt = now;
    // Each quarter is read aloud: each second would drown out everything else.
    const quarter = Math.floor(percent / 25);
    say(`${percent}%: ${megabytes(bytes)} of ${megabytes(this.file.size)}.${rest}`, quarter === this.quarter);
    this.quarter = quarter;
  }

  // Sends a part once. Resolves to the status of the response and the seconds to wait; status 0 if there was none.
  send(part) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      this.requests.add(request);
      let before = 0;
      request.upload.onprogress = (event) => {
        this.sentBytes += event.loaded - before;
        before = event.loaded;
        this.moving.set(part, event.loaded);
        this.showProgress();
      };
      request.onloadend = () => {
        this.requests.delete(request);
        this.moving.delete(part);
        resolve({ status: request.status, seconds: Number(request.getResponseHeader("retry-after")) || 0 });
      };
      request.open("PUT", this.address + part);
      request.setRequestHeader("content-type", "application/octet-stream");
      const start = (part - 1) * this.partBytes;
      request.send(this.file.slice(start, start + this.size(part)));
    });
  }

  // Whether a part of the file can be read. Browsers do not read a file that was changed on the disk since it was chosen.
  async isReadable(part) {
    const start = (part - 1) * this.partBytes;
    return this.file.slice(start, start + 1).arrayBuffer().then(() => true, () => false);
  }

  // Sends parts until there are none, or it is paused. Returns whether it can go on.
  async lane() {
    while (!this.isPaused && !this.failure) {
      const part = this.queue.shift();
      if (part === undefined) return;
      for (let attempt = 0; ; attempt++) {
        const { status, seconds } = await this.send(part);
        if (status === 204) {
          this.done.add(part);
          this.showProgress();
          break;
        }
        if (this.isPaused || this.failure) { this.queue.unshift(part); return; }
        const why = reason(status) || (status === 0 && !(await this.isReadable(part)) ? UNREADABLE : "");
        if (why || attempt >= WAITS.length) {
          this.queue.unshift(part);
          this.failure = why || "The transfer was interrupted. Check your connection, and go on.";
          return;
        }
        if (status === 0) say("The market cannot be reached. It is tried again.");
        await this.wait(Math.max(seconds, WAITS[attempt]));
        if (this.isPaused || this.failure) { this.queue.unshift(part); return; }
      }
    }
  }

  // Waits, unless the transfer is stopped meanwhile.
  wait(seconds) {
    return new Promise((resolve) => {
      this.wakers.add(resolve);
      setTimeout(() => { this.wakers.delete(resolve); resolve(); }, seconds * 1000);
    });
  }

  async run() {
    this.isPaused = false;
    this.isActive = true;
    this.failure = "";
    this.started = Date.now();
    this.sentBytes = 0;
    this.showButton("Pause");
    this.showProgress();
    await Promise.all(Array.from({ length: LANES }, () => this.lane()));
    this.isActive = false;
    if (this.done.size === this.count) { await this.complete(); return; }
    if (this.failure === UNREADABLE) this.askForFile(); else this.showButton("Go on");
    say(this.failure || "Paused. What has arrived stays there for a day.");
  }

  stop() {
    this.isPaused = true;
    for (const request of [...this.requests]) request.abort();
    for (const wake of [...this.wakers]) wake();
  }

  showButton(label) {
    const button = this.panel.querySelector("[data-upload-pause]");
    button.hidden = false;
    button.textContent = label;
  }

  // Shows the field for the file again.
  askForFile() {
    this.panel.querySelector("[data-upload-pause]").hidden = true;
    const again = this.panel.querySelector("[data-upload-again]");
    again.hidden = false;
    // The same file may be chosen twice.
    again.querySelector("input").value = "";
    chosen = null;
  }

  // Joins the parts, which takes a while for a large file.
  async complete() {
    const form = document.querySelector("form[data-upload-complete]");
    this.panel.querySelector("[data-upload-pause]").hidden = true;
    say("All of it has arrived. The market checks the file…");
    const body = new URLSearchParams(new FormData(form));
    for (let attempt = 0, unreached = 0; ; attempt++) {
      const response = await fetch(form.action, { method: "POST", body }).catch(() => null);
      unreached = response ? 0 : unreached + 1;
      if (response?.status === 409) {
        const state = await this.look();
        // What is missing is sent now. If nothing is, the answer says what else is wrong.
        if (state) { this.finish(state.isStuck ? () => show(response) : () => replace(state.page, state.response)); return; }
      } else if (response && ![429, 503, 504].includes(response.status)) {
        this.finish(() => show(response));
        return;
      }
      if (attempt >= ASKS || unreached > WAITS.length) {
        form.querySelector("button").hidden = false;
        say("The market cannot be reached. Press Finish to try again.");
        return;
      }
      const seconds = Number(response?.headers.get("retry-after")) || 0;
      await pause(Math.max(seconds, Math.min(5, attempt + 1)));
    }
  }

  // Looks at the page of the upload. Returns it unless the parts are being joined.
  async look() {
    const response = await fetch(location.href).catch(() => null);
    const page = response?.ok ? await parse(response) : null;
    const panel = page?.querySelector("[data-upload]");
    const isStuck = panel && panel.dataset.received.split(",").length === this.count;
    return page && !panel?.hasAttribute("data-is-joining") ? { page, response, isStuck } : null;
  }

  finish(showResult) {
    running = null;
    Promise.resolve().then(showResult).catch(() => say("The market cannot be reached. Load the page again."));
  }
}

let running = null;

// Whether a file is the one whose upload was planned.
function isSame(panel, file) {
  const { name, size, modified } = panel.dataset;
  return file.name === name && file.size === Number(size) && (!modified || file.lastModified === Number(modified));
}

function start(panel, file) {
  if (!isSame(panel, file)) {
    say("This is another file, or it has changed. Choose the file with the name and the size above, or discard this upload.");
    return;
  }
  panel.querySelector("[data-upload-again]").hidden = true;
  chosen = file;
  running = new Transfer(panel, file);
  running.run();
}

// Says why a part cannot be sent, after a status that another attempt would not change. Empty if it could.
function reason(status) {
  // A page in place of no content: that for signing in.
  if (status >= 200 && status < 400 || status === 401) return "You were signed out. Sign in in another tab, and go on here.";
  if (status === 507) return "The market has no space for more. What has arrived stays there for a day. Go on later.";
  const isFinal = [400, 403, 404, 410, 413].includes(status);
  return isFinal ? "The market no longer accepts this upload. Load the page again to see why." : "";
}

// Prepares the page that is shown.
function prepare() {
  const form = document.querySelector("form[data-upload-form]");
  if (form) {
    form.addEventListener("submit", plan);
    acceptDrops(form);
    for (const element of form.querySelectorAll("[data-with-script]")) element.hidden = false;
    for (const element of form.querySelectorAll("[data-without-script]")) element.hidden = true;
  }
  const panel = document.querySelector("[data-upload]");
  if (!panel) return;
  const again = panel.querySelector("[data-upload-again]");
  if (again) {
    again.hidden = false;
    again.querySelector("input").addEventListener("change", (event) => {
      if (event.target.files[0]) start(panel, event.target.files[0]);
    });
    panel.querySelector("[data-upload-pause]").addEventListener("click", () => {
      if (!running) return;
      if (running.isActive) running.stop(); else running.run();
    });
    if (chosen && isSame(panel, chosen)) start(panel, chosen);
  }
}

// Leaving the page ends the transfer, so the browser asks.
addEventListener("beforeunload", (event) => { if (running?.isActive) event.preventDefault(); });
// Going back shows a page that the browser does not know. A link to a place on the same page goes there, and what was typed stays.
addEventListener("popstate", () => { if (location.pathname !== shownPath) location.reload(); });
prepare();
}
