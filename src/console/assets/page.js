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

// Keys: / to search, ? for help.
function followKey(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const search = document.getElementById("search");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if (event.key === "?") {
    const help = document.getElementById("keys");
    if (help) { event.preventDefault(); help.showModal(); }
  }
}

// Buttons that copy a text.
function copy(event) {
  const button = event.target.closest("button[data-copy]");
  if (!button || !navigator.clipboard) return;
  navigator.clipboard.writeText(button.dataset.copy).then(() => {
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// Buttons that print the page, or save it as PDF.
function printPage(event) {
  if (event.target.closest("button[data-print]")) window.print();
}

// The search field of the head searches the catalog while one types, from the third letter.
function typed(event) {
  const search = event.target.closest("input[data-search]");
  const filters = document.getElementById("filters");
  if (!search || !filters) return;
  const length = search.value.trim().length;
  if (length >= 3 || length === 0) filters.dispatchEvent(new CustomEvent("typed"));
}

// A filter that is chosen applies at once, as does a list that sorts. A form that signs something has a button that only updates it.
function chosen(event) {
  const { form } = event.target;
  if (event.target.closest("[data-apply]") && form) form.requestSubmit(form.querySelector("[data-update]"));
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

// Why a part of the page could not be loaded; nothing once it could.
function sayNotLoaded(isLoaded) {
  const said = document.getElementById("not-loaded");
  if (isLoaded) { if (said) said.remove(); return; }
  if (said) return;
  const note = document.createElement("div");
  note.id = "not-loaded";
  note.className = "flash bad";
  note.setAttribute("role", "alert");
  note.textContent = "This could not be loaded, so the page shows what it showed before. Try again, or load the page again.";
  document.getElementById("main").prepend(note);
}

// What is no part of the page, such as an error, is not shown in its place. A page that asks again and again goes on to do so.
function keepPage(event) {
  const { response, text, select } = event.detail.ctx;
  if (response.headers.has("HX-Redirect")) return;
  const isPart = response.raw.ok && (!select || new DOMParser().parseFromString(text, "text/html").querySelector(select));
  sayNotLoaded(isPart);
  if (!isPart) event.preventDefault();
}

document.addEventListener("htmx:after:request", keepPage);
document.addEventListener("htmx:error", () => sayNotLoaded(false));
document.addEventListener("formdata", shorten);
document.addEventListener("keydown", followKey);
document.addEventListener("click", copy);
document.addEventListener("click", printPage);
document.addEventListener("input", typed);
document.addEventListener("change", chosen);
document.addEventListener("change", keepCompared);
function showAll() {
  showTimes(document);
  showHints();
  countCompared();
}
document.addEventListener("htmx:after:swap", showAll);
addEventListener("resize", showHints);
addEventListener("pageshow", countCompared);
showAll();
for (const button of document.querySelectorAll("button[data-print]")) button.hidden = false;
// Browsers have no clipboard for pages that were sent without encryption.
if (navigator.clipboard) for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

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
  const boxes = [...assets.querySelectorAll("[name=asset]:enabled")];
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
  // The address has what is chosen, so that going back to the page shows it again.
  const keepChosen = () => {
    const url = new URL(location);
    url.searchParams.delete("asset");
    for (const id of new FormData(assets).getAll("asset")) url.searchParams.append("asset", id);
    history.replaceState(history.state, "", url);
  };
  all.hidden = boxes.length === 0;
  assets.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    count();
    keepChosen();
  });
  for (const box of boxes) box.closest("tr").draggable = true;
  assets.addEventListener("dragstart", (event) => {
    const box = event.target.closest && event.target.closest("tr")?.querySelector("[name=asset]");
    if (!box) return;
    box.checked = true;
    count();
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", label ? label.textContent : "");
    assets.toggleAttribute("data-dragged", true);
  });
  assets.addEventListener("dragend", () => assets.removeAttribute("data-dragged"));
  for (const group of document.querySelectorAll("a[data-group]")) {
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
  addEventListener("pageshow", count);
}
