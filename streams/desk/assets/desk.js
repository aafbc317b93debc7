// Keys, and what htmx may do. Everything works without this script: it presses buttons that are on the page.
const byId = (id) => document.getElementById(id);
const marking = byId("marking");
const chosen = getSelection();
let left = false;
let lastMark = -1;
let isMarking = false;
// Who presses a key twice meant the answer before: for a moment, no key decides about the one that has just come.
const MOMENT_MS = 300;
setTimeout(() => { document.body.dataset.keys = "ready"; }, MOMENT_MS);

// Times are those of the reader's place; without this script they are in UTC, which stays in reach.
for (const each of document.querySelectorAll("time[datetime]")) {
  each.title = each.textContent;
  each.textContent = new Date(each.dateTime)
    .toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "medium" });
}

// What was entered for an answer outlives a reload, a refusal and an undo; it is gone with the tab, or the logout.
const form = document.querySelector("form[action='/decide']");
const draft = form && `${form.elements.verdict_id.value} ${form.elements.seen.value}`;
// The newest first: what was decided long ago is not kept, and what is too large for the browser neither.
const MOST_DRAFTS = 20;
const drafts = () => JSON.parse(sessionStorage.getItem("drafts") ?? "[]");
function keepDraft() {
  const entered = ["text", "rating", "label", "wrong", "comment"].filter((name) => form.elements[name]);
  const written = [draft, entered.map((name) => [name, form.elements[name].value])];
  const kept = [written, ...drafts().filter(([key]) => key !== draft)].slice(0, MOST_DRAFTS);
  while (kept.length) {
    try {
      sessionStorage.setItem("drafts", JSON.stringify(kept));
      return;
    } catch { // it is full
      kept.pop();
    }
  }
}
// Who still writes keeps the answer: to open it again renews the lease.
const RENEWAL_MS = 30_000;
let renewed = Date.now();
function keepAnswer() {
  if (Date.now() - renewed < RENEWAL_MS) return;
  renewed = Date.now();
  fetch(`/?answer=${encodeURIComponent(form.elements.verdict_id.value)}`).catch(() => {}); // the page tells of an outage
}
if (form) {
  const [, entered] = drafts().find(([key]) => key === draft) ?? [draft, []];
  // An answer that is blocked has fields on its list that it lacks in the audit sample.
  for (const [name, value] of entered) if (form.elements[name]) form.elements[name].value = value;
  form.addEventListener("input", keepDraft);
  form.addEventListener("input", keepAnswer);
  form.addEventListener("reset", () => setTimeout(keepDraft)); // once it is as it was
}

function mark(kind) {
  const words = chosen.toString().trim().replace(/\s+/g, " ");
  if (!words || !byId("words").contains(chosen.anchorNode)) return;
  byId("wrong").value += `${kind}: ${words}\n`;
  keepDraft();
}
function beginMarking() {
  if (byId("words").contains(chosen.anchorNode)) return;
  chosen.collapse(byId("words"), 0);
  chosen.modify("extend", "forward", "word");
}
// The next or previous words that the desk marked, or a whole claim: mostly they are what is wrong.
function chooseMark(step) {
  const parts = [...byId("words").querySelectorAll("mark")];
  const sameClaim = (one) => parts.filter((each) => each === one || (one.dataset.claim && each.dataset.claim === one.dataset.claim));
  const marks = parts.filter((each) => each.matches(".fault, .lacking") || (each.matches(".contradicted, .not_found") && sameClaim(each)[0] === each));
  if (!marks.length) return;
  lastMark = (Math.max(lastMark, step < 0 ? 0 : -1) + step + marks.length) % marks.length;
  const mark = marks[lastMark];
  const all = mark.matches(".fault, .lacking") ? [mark] : sameClaim(mark);
  chosen.setBaseAndExtent(all[0], 0, all.at(-1), all.at(-1).childNodes.length);
}
// While words are marked, arrows choose them and a key says what is wrong with them.
function markByKey(event) {
  beginMarking(); // a key may come before the event of the opening
  const forward = event.key === "ArrowRight";
  if (forward || event.key === "ArrowLeft") {
    if (!event.shiftKey) {
      if (forward) chosen.collapseToEnd();
      else chosen.collapseToStart();
      if (!forward) chosen.modify("move", "backward", "word");
    }
    chosen.modify("extend", event.shiftKey && !forward ? "backward" : "forward", "word");
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") chooseMark(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Escape") marking.open = false;
  else {
    // What is wrong is said: from now on keys mean what they always mean, until the next "w".
    const kind = document.querySelector(`[data-mark="${CSS.escape(event.key)}"]`);
    kind?.click();
    isMarking = !kind;
  }
  event.preventDefault();
}
for (const each of document.querySelectorAll("[data-kind]")) {
  each.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  each.addEventListener("click", () => mark(each.dataset.kind));
}
marking?.addEventListener("toggle", () => {
  isMarking = marking.open;
  if (isMarking) beginMarking();
});

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (target.name === "text" && key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    byId("edit").click();
  } else if (key === "Escape") {
    target.blur();
  } else if (target.name === "reason" && key === "Enter" && !target.value.trim()) {
    event.preventDefault(); // a lead needs no reason, and still has to press the button: what is typed next are keys
  }
  // A key that is held down must not decide about the answer after this one.
  const typed = target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
  if (marking?.open && !isMarking && !typed && key === "w") {
    isMarking = true;
    beginMarking();
    event.preventDefault();
    return;
  }
  if (marking?.open && isMarking && !typed && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "Tab" && event.key !== "Enter") {
    markByKey(event);
    return;
  }
  if (event.repeat || typed || event.ctrlKey || event.metaKey || event.altKey || !/^[a-z1-5]$/i.test(key)) return;
  const found = document.querySelector(`[data-key="${key.toLowerCase()}"]`);
  if (!found) return;
  event.preventDefault();
  if (found.name === "action" && !document.body.dataset.keys) return;
  if (found.matches("textarea, [name=comment], [name=reason]")) found.focus();
  else found.click();
});

document.addEventListener("submit", (event) => {
  if (left) event.preventDefault(); // one decision is enough
  if (event.target.getAttribute("action") === "/logout") sessionStorage.clear();
  left = true;
});
window.addEventListener("pageshow", () => { left = false; });

// What the desk sends becomes part of the page; nothing that it sends is run.
const refuse = () => { throw new Error("no text is run as a script"); };
const policy = globalThis.trustedTypes?.createPolicy("htmx", { createHTML: (text) => text });
htmx.registerExtension("trusted", { init: (api) => api.initSecurity(policy, refuse, refuse) });
document.addEventListener("free", () => { if (byId("empty") && !left) location.replace("/"); });
