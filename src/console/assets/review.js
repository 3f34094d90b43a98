// Keys of the page on which a listing is reviewed, and templates of notes. The page works without them. page.js says whether
// keys are switched off.
"use strict";

{
  const review = document.querySelector("form[data-review]");
  const note = review && review.querySelector("textarea");
  // Milliseconds after the page appears in which the keys do nothing, so that nobody decides on a listing before looking at it.
  const PAUSE = 1_000;
  let shownAt = performance.now();
  addEventListener("pageshow", () => { shownAt = performance.now(); });
  const button = (decision) => review && review.querySelector(`button[value="${decision}"]`);

  // a approves, r requests changes (without a note, it goes to the note first), n opens the next listing.
  function follow(event) {
    if (!hasKeys() || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog, [popover]")) return;
    if (event.key === "n") {
      const next = document.querySelector("a[data-next]");
      if (next) next.click();
    } else if (performance.now() - shownAt < PAUSE) {
      return;
    } else if (event.key === "a" && button("approve")) {
      button("approve").click();
    } else if (event.key === "r" && button("request_changes")) {
      event.preventDefault();
      if (note.value.trim() === "") note.focus();
      else button("request_changes").click();
    }
  }
  document.addEventListener("keydown", follow);

  // Esc moves from the note to the button that sends it.
  if (note) note.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && button("request_changes")) button("request_changes").focus();
  });

  // Inserts a chosen template into the note, where it can be changed.
  const template = review && review.querySelector("select[name=template]");
  if (template) template.addEventListener("change", () => {
    const text = template.selectedOptions[0].dataset.text;
    if (!text) return;
    note.value = note.value.trim() === "" ? text : `${text}\n\n${note.value}`;
    template.selectedIndex = 0;
    note.focus();
  });

  // After a refusal, the focus is on the field that has to be corrected.
  const wrong = document.querySelector("[aria-invalid=true]");
  if (wrong) wrong.focus();
}
