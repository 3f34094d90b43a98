// Sends a large file in parts: several at a time, each again if it fails, and only those that have not arrived.
"use strict";

// A block, so that nothing here has the name of something in another script.
{
// Number of parts that are sent at the same time.
const LANES = 3;

// Waits before a part is sent again, in seconds. Then a person decides.
const WAITS = [1, 3, 10, 30, 60];

const SCREEN = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

// The file that was chosen. It outlives the page that was chosen on, since the next one is loaded in its place.
let chosen = null;

function megabytes(bytes) {
  return SCREEN.format(bytes / 1e6) + " MB";
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

// Shows a page that was answered, in place of this one.
async function show(response) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.title = page.title;
  document.body.replaceChildren(...page.body.childNodes);
  if (response.redirected) {
    const address = new URL(response.url);
    address.searchParams.delete("notice");
    history.pushState(null, "", address);
  }
  document.getElementById("main")?.focus();
  document.dispatchEvent(new Event("htmx:after:swap"));
  window.htmx?.process(document.body);
  prepare();
}

// Says something about the form or the transfer.
function say(text) {
  const state = document.querySelector("[data-upload-state]");
  if (state) state.textContent = text;
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
    say(`${percent}%: ${megabytes(bytes)} of ${megabytes(this.file.size)}.${rest}`);
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

  // Sends parts until there are none, or it is paused. Returns whether it can go on.
  async lane() {
    while (!this.isPaused && !this.failure) {
      const part = this.queue.shift();
      if (part === undefined) return;
      for (let attempt = 0; ; attempt++) {
        const { status, seconds } = await this.send(part);
        if (status >= 200 && status < 300) {
          this.done.add(part);
          this.showProgress();
          break;
        }
        if (this.isPaused || this.failure) { this.queue.unshift(part); return; }
        const ends = [400, 401, 403, 404, 410].includes(status);
        if (ends || attempt >= WAITS.length) {
          this.queue.unshift(part);
          this.failure = ends
            ? "The market no longer accepts this upload. Load the page again to see why."
            : "The transfer was interrupted. Check your connection, and go on.";
          return;
        }
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
    this.showButton("Go on");
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

  // Joins the parts, which takes a while for a large file.
  async complete() {
    const form = document.querySelector("form[data-upload-complete]");
    this.panel.querySelector("[data-upload-pause]").hidden = true;
    say("All of it has arrived. The market checks the file…");
    for (let attempt = 0; ; attempt++) {
      let response = null;
      try {
        response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      } catch { /* Not reached: again. */ }
      if (response && (response.redirected || ![409, 429, 503, 504].includes(response.status) || attempt >= 40)) {
        running = null;
        await show(response);
        return;
      }
      if (!response && attempt >= WAITS.length) {
        form.querySelector("button").hidden = false;
        say("The market cannot be reached. Press Finish to try again.");
        return;
      }
      await pause(Math.max(Number(response?.headers.get("retry-after")) || 0, Math.min(5, attempt + 1)));
    }
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
  running = new Transfer(panel, file);
  running.run();
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
addEventListener("beforeunload", (event) => { if (running && running.requests.size > 0) event.preventDefault(); });
// Going back shows a page that the browser does not know.
addEventListener("popstate", () => location.reload());
prepare();
}
