// What pages do with a script that they can't do without one. Each page works without it.
"use strict";

// A time in the reader's zone, written as the server writes times in UTC. A time of day has its zone.
function written(moment, month, hasClock) {
  const format = { year: "numeric", month, day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-US", format).formatToParts(moment).map(part => [part.type, part.value]));
  return `${parts.day} ${parts.month} ${parts.year}${hasClock ? `, ${parts.hour}:${parts.minute} ${parts.timeZoneName}` : ""}`;
}

// Times in the reader's zone, with UTC on hover. What is printed stays in UTC, since others read it, too.
function showTimes(root) {
  for (const time of root.querySelectorAll("time[data-moment], time[data-day]")) {
    if (time.closest(".paper")) continue;
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.textContent = "moment" in time.dataset
      ? written(moment, time.closest("td, th") ? "short" : "long", true)
      : written(moment, "short", false);
  }
}

// Tables that are not wider than the page need no hint to scroll.
function showHints() {
  for (const hint of document.querySelectorAll(".scroll + .hint")) {
    const scrolled = hint.previousElementSibling;
    hint.hidden = scrolled.scrollWidth <= scrolled.clientWidth;
  }
}

// The listings that are chosen for the comparison: how many of how many that fit.
function countCompared() {
  const form = document.querySelector("form[data-most]");
  if (!form) return;
  const most = Number(form.dataset.most);
  const boxes = [...form.elements].filter((box) => box.type === "checkbox");
  const chosen = new FormData(form).getAll("id").length;
  for (const box of boxes) box.disabled = !box.checked && chosen >= most;
  form.querySelector("[data-compared]").textContent = `${chosen} of ${most} chosen`;
}

// They stay chosen on the other pages of the catalog: the addresses of these, and of this page, have them.
function keepCompared(event) {
  const form = event.target.form;
  if (!form || !form.dataset.most) return;
  const ids = new FormData(form).getAll("id");
  const kept = (address) => {
    const url = new URL(address, location);
    url.searchParams.delete("compare");
    for (const id of ids) url.searchParams.append("compare", id);
    return url.pathname + url.search;
  };
  history.replaceState(history.state, "", kept(location));
  for (const link of document.querySelectorAll("#results a")) if (link.pathname === location.pathname) link.setAttribute("href", kept(link.href));
  for (const next of document.querySelectorAll("#results [name=next]")) next.value = kept(next.value);
  countCompared();
}

// Single keys can be switched off, since speech input and screen readers send letters, too. The browser keeps the choice.
const KEYS_OFF = "keys-off";

function hasKeys() {
  try { return localStorage.getItem(KEYS_OFF) === null; } catch { return true; }
}

// Shows the keys that work, and the button for those who have switched them off.
function showKeys() {
  const isOn = hasKeys();
  for (const hint of document.querySelectorAll("[data-keys]")) hint.hidden = !isOn;
  for (const button of document.querySelectorAll("[data-key]")) {
    if (isOn) button.setAttribute("aria-keyshortcuts", button.dataset.key); else button.removeAttribute("aria-keyshortcuts");
  }
  for (const box of document.querySelectorAll("[data-keys-switch]")) box.checked = isOn;
  for (const button of document.querySelectorAll("[data-keys-open]")) button.hidden = false;
}

function switchKeys(event) {
  if (!event.target.closest("[data-keys-switch]")) return;
  try {
    if (event.target.checked) localStorage.removeItem(KEYS_OFF); else localStorage.setItem(KEYS_OFF, "1");
  } catch { /* The browser keeps nothing, so the keys stay as they are. */ }
  showKeys();
}

function openKeys(event) {
  if (event.target.closest("[data-keys-open]")) document.getElementById("keys").showModal();
}

// Keys: / to search, ? for help.
function followKey(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (!hasKeys() || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const search = document.getElementById("search");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if (event.key === "?") {
    const help = document.getElementById("keys");
    if (help) { event.preventDefault(); help.showModal(); }
  }
}

// Buttons that copy a text. Each says for two seconds after the last press how that went.
function copy(event) {
  const button = event.target.closest("button[data-copy]");
  if (!button || !navigator.clipboard) return;
  button.dataset.label ??= button.textContent;
  const say = (text) => {
    button.textContent = text;
    clearTimeout(button.dataset.timer);
    button.dataset.timer = setTimeout(() => { button.textContent = button.dataset.label; }, 2000);
  };
  navigator.clipboard.writeText(button.dataset.copy).then(() => say("Copied"), () => say("Not copied"));
}

// Buttons that print the page, or save it as PDF.
function printPage(event) {
  if (event.target.closest("button[data-print]")) window.print();
}

// The search field of the head searches the catalog while one types, from the third letter. While an input method composes a
// word, as for Japanese, the field has parts of it that nobody searches for.
function typed(event) {
  if (event.isComposing) return;
  const search = event.target.closest("input[data-search]");
  const filters = document.getElementById("filters");
  if (!search || !filters) return;
  const length = search.value.trim().length;
  if (length >= 3 || length === 0) {
    addToHistory(filters, !new URLSearchParams(location.search).has("query"));
    filters.dispatchEvent(new CustomEvent("typed"));
  }
}

// Whether the results are another page on the way back. Those of the letters that are typed after the first ones replace these.
function addToHistory(filters, isAdded) {
  filters.setAttribute("hx-push-url", isAdded);
  filters.setAttribute("hx-replace-url", !isAdded);
}

function addChosenToHistory(event) {
  if (event.target.id === "filters") addToHistory(event.target, true);
}

// What is kept for the next page of this tab. Browsers can refuse it.
function keep(name, value) {
  try { sessionStorage.setItem(name, JSON.stringify(value)); } catch { /* The next page does without it. */ }
}

// Returns what an earlier page has kept, once.
function take(name) {
  try {
    const text = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// A filter that is chosen applies at once, as does a list that sorts. A form that signs something has a button that only updates it.
function chosen(event) {
  const { form, name, value } = event.target;
  if (!event.target.closest("[data-apply]") || !form) return;
  if (!form.hasAttribute("hx-get")) keep("chosen", { path: location.pathname, name, value });
  form.requestSubmit(form.querySelector("[data-update]"));
}

// The page was loaded again for that. The focus stays on the field, where arrow keys choose the next value.
function focusChosen() {
  const { path, name, value } = take("chosen") ?? {};
  if (path !== location.pathname) return;
  const fields = [...document.getElementsByName(name)].filter((field) => field.closest("[data-apply]"));
  (fields.find((field) => field.value === value) ?? fields[0])?.focus();
}

// Fields in which nothing was typed are left out of the address. The address of the catalog has what is compared.
function shorten(event) {
  if (event.target.method !== "get") return;
  if (event.target.id === "filters") {
    event.formData.delete("compare");
    for (const id of new URLSearchParams(location.search).getAll("compare")) event.formData.append("compare", id);
  }
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
}

// Says something above the page.
function sayAbove(id, role, tone, text) {
  const note = document.createElement("div");
  note.id = id;
  note.className = `flash ${tone}`;
  note.setAttribute("role", role);
  note.textContent = text;
  document.getElementById("main").prepend(note);
}

// Why a part of the page could not be loaded; nothing once it could.
function sayNotLoaded(isLoaded) {
  const said = document.getElementById("not-loaded");
  if (isLoaded) { if (said) said.remove(); return; }
  if (said) return;
  const text = "This could not be loaded, so the page shows what it showed before. Try again, or load the page again.";
  sayAbove("not-loaded", "alert", "bad", text);
}

// What a form would send, without secrets, files, and signatures.
function keptFields(form) {
  const isSignature = (field) => field.type === "checkbox" && field.required;
  const isLeftOut = (field) => ["button", "fieldset", "file", "password", "submit"].includes(field.type) || isSignature(field);
  return [...form.elements].filter((field) => field.name && !isLeftOut(field));
}

// A form that is sent after the session has ended changes nothing, so this tab keeps what it would send until the next page.
function keepTyped(event) {
  const form = event.target;
  if (form.getAttribute("method") !== "post" || !form.elements.opened_by) return;
  const fields = keptFields(form);
  if (fields.every((field) => field.type === "hidden")) return;
  const values = fields.map((field) => [field.name, field.value, field.checked]);
  keep("typed", { action: form.getAttribute("action"), openedBy: form.elements.opened_by.value, values });
}

// The page for signing in says whether a form was lost, and leads back to its page.
function noteLost() {
  if (!document.querySelector("form[data-unsaved]")) return;
  const kept = take("typed");
  if (kept) keep("typed", { ...kept, isLost: true });
}

// The same form of the same team gets back what was lost. It is the form that was opened then, with its key and its revision, so
// it is refused if something has changed meanwhile. Any other page forgets what was kept.
function restoreTyped() {
  if (document.querySelector("form[data-sign-in]")) return;
  const kept = take("typed");
  if (!kept?.isLost) return;
  const isSame = (form) =>
    form.getAttribute("action") === kept.action && form.elements.opened_by?.value === kept.openedBy;
  const form = [...document.forms].find(isSame);
  if (!form) return;
  const fields = keptFields(form);
  const isBox = (field) => ["checkbox", "radio"].includes(field.type);
  for (const [name, value, checked] of kept.values) {
    const index = fields.findIndex((field) => field.name === name && (!isBox(field) || field.value === value));
    if (index < 0) continue;
    const [field] = fields.splice(index, 1);
    if (isBox(field)) field.checked = checked; else field.value = value;
  }
  sayAbove("restored", "status", "warn", "What you had typed is here again. It is not saved yet: check it, and send it again.");
}

// What is no part of the page, such as an error, is not shown in its place. A page that asks again and again goes on to do so.
function keepPage(event) {
  const { response, text, select } = event.detail.ctx;
  if (response.headers.has("HX-Redirect")) return;
  const isPart = response.raw.ok && (!select || new DOMParser().parseFromString(text, "text/html").querySelector(select));
  sayNotLoaded(isPart);
  if (!isPart) event.preventDefault();
}

// A part that is loaded again and again leaves open what the reader has opened.
window.htmx?.config.morphIgnore.push("open");

document.addEventListener("htmx:after:request", keepPage);
document.addEventListener("htmx:error", () => sayNotLoaded(false));
document.addEventListener("formdata", shorten);
document.addEventListener("submit", keepTyped);
document.addEventListener("submit", addChosenToHistory, true);
document.addEventListener("keydown", followKey);
document.addEventListener("click", copy);
document.addEventListener("click", printPage);
document.addEventListener("input", typed);
document.addEventListener("compositionend", typed);
document.addEventListener("change", chosen);
document.addEventListener("change", keepCompared);
document.addEventListener("change", switchKeys);
document.addEventListener("click", openKeys);
// Browsers have no clipboard for pages that were sent without encryption.
function showButtons() {
  for (const button of document.querySelectorAll("button[data-print]")) button.hidden = false;
  if (navigator.clipboard) for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
}

// Also for a part that was swapped in, in which the server hides what needs a script.
function showAll() {
  showTimes(document);
  showHints();
  showKeys();
  showButtons();
  noteLost();
  countCompared();
}
document.addEventListener("htmx:after:swap", showAll);
addEventListener("resize", showHints);
addEventListener("pageshow", countCompared);
showAll();
restoreTyped();
focusChosen();

// Returns the element that the address names. There is none if the name is not encoded correctly.
function findNamed() {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return null;
  }
}

// Details that the address names are opened.
function openNamed() {
  const named = findNamed();
  const details = named && named.closest("details");
  if (details) details.open = true;
}
addEventListener("hashchange", openNamed);
openNamed();

// The filters of lists are folded on narrow screens.
const narrow = matchMedia("(width < 37.5rem)");
const fold = () => { for (const details of document.querySelectorAll("details.fold")) details.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

// What was done is said once, not again when the page is loaded again.
const shown = new URL(location.href);
if (shown.searchParams.has("notice")) {
  shown.searchParams.delete("notice");
  history.replaceState(history.state, "", shown);
}

// The table of assets: the number of chosen rows, one checkbox for the page, and rows that are dragged onto a group.
const assets = document.querySelector("form[data-assets]");
if (assets) {
  const boxes = [...assets.querySelectorAll("[type=checkbox][name=asset]:enabled")];
  const all = assets.querySelector("[data-check-all]");
  const label = assets.querySelector("[data-chosen]");
  const elsewhere = label ? Number(label.dataset.elsewhere) : 0;
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    const ofOthers = elsewhere ? `, ${elsewhere} of them on other pages` : "";
    if (label) label.textContent = chosen + elsewhere ? `${chosen + elsewhere} selected${ofOthers}` : "Choose assets:";
    all.checked = chosen > 0 && chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
  };
  const chosenIds = () => new FormData(assets).getAll("asset");
  const kept = (address) => {
    const url = new URL(address, location);
    url.searchParams.delete("asset");
    for (const id of chosenIds()) url.searchParams.append("asset", id);
    return url;
  };
  // The address has what is chosen, so that going back to the page shows it again. So have those of other filters and orders, but
  // not those that choose something else, and not that of the file.
  const keepChosen = () => {
    history.replaceState(history.state, "", kept(location));
    for (const link of document.querySelectorAll("#main a:not([download])")) {
      if (link.pathname === location.pathname && !link.closest(".bulk")) link.href = kept(link.href);
    }
  };
  // So have forms that show the page with other filters, and those that return to it.
  document.addEventListener("formdata", (event) => {
    const { target, formData } = event;
    if (target === assets || !target.closest("#main")) return;
    const next = formData.get("next");
    if (next) {
      const url = kept(next);
      formData.set("next", url.pathname + url.search);
    } else if (target.method === "get" && new URL(target.action).pathname === location.pathname) {
      formData.delete("asset");
      for (const id of chosenIds()) formData.append("asset", id);
    }
  });
  all.hidden = boxes.length === 0;
  // Browsers check boxes again on the way back to a page.
  addEventListener("pageshow", count);
  assets.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    count();
    keepChosen();
  });
  const groups = document.querySelectorAll("a[data-group]");
  // By their names only, so that the text of other cells can be selected.
  if (groups.length > 0) for (const box of boxes) box.closest("tr").querySelector("th").draggable = true;
  assets.addEventListener("dragstart", (event) => {
    const box = event.target.closest && event.target.closest("tr")?.querySelector("[name=asset]");
    if (!box || groups.length === 0) return;
    box.checked = true;
    count();
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", label ? label.textContent : "");
    assets.toggleAttribute("data-dragged", true);
  });
  assets.addEventListener("dragend", () => assets.removeAttribute("data-dragged"));
  for (const group of groups) {
    const mark = (isOver) => group.toggleAttribute("data-over", isOver);
    group.addEventListener("dragover", (event) => {
      if (!assets.hasAttribute("data-dragged")) return;
      event.preventDefault();
      mark(true);
    });
    group.addEventListener("dragleave", () => mark(false));
    group.addEventListener("drop", (event) => {
      if (!assets.hasAttribute("data-dragged")) return;
      event.preventDefault();
      mark(false);
      const to = assets.querySelector("[name=to_group]");
      to.value = group.dataset.group;
      to.disabled = false;
      assets.requestSubmit(assets.querySelector("[name=action][value=move]"));
      to.disabled = true;
    });
  }
}
