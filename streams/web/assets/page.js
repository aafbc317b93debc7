// Draws what /api/live, /api/answers and /api/verdict tell. Every text goes into the page as a text node: none is ever markup.

const POLL_MS = 2000;
const ANSWER_WITHIN_MS = 5000;
const FEWEST_SLOTS = 24; // a chart is at least so many windows wide, so that the first ones do not fill it
const POINTS_DRAWN_UP_TO = 40;
const FEW_SCORED = 10; // a rate of fewer tells little: it is drawn fainter, and its bounds do not set the scale
const SCALES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1];
const STEPS_S = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const NOTHING = { starting: "Connecting…", reading: "Reading the last hours…", off: "Rates are switched off", failed: "No rates can be read" };
const CHOSEN_BY = ["decision", "message_type", "language", "reason", "within"];
const SHOWN_MORE = 20;
const DECISIONS = [["blocked", "blocked", "decision-blocked"], ["review", "review", "review"], ["sent", "sent", "sent"]];
const DECIDED = { blocked: "blocked", review: "review", auto_send: "sent" };

const state = { window: null, language: "", live: null, answers: null, shown: SHOWN_MORE, asked: "", heardAt: null, failures: 0, cursor: null };
const views = new Map(); // what is drawn of each series
const byId = (id) => document.getElementById(id);

// Building elements.
function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
const el = (name, attributes = {}, ...children) => build(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// Words and numbers.
const words = (code) => code.replaceAll("_", " ");
const typeName = (code) => (code === "all" ? "All message types" : words(code));
const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
const number = (value) => value.toLocaleString("en");
const answers = (count) => `answer${count === 1 ? "" : "s"}`;
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const span = (s) => (s % 3600 === 0 ? `${s / 3600}h` : s % 60 === 0 ? `${s / 60}m` : `${s}s`);

function languageName(code) {
  if (code === null || code === "und") return "language unknown";
  try { return languageNames.of(code); } catch { return code; } // a label of the chatbot's own
}

const percent = (share) => `${share === 0 || share >= 0.0995 ? Math.round(share * 100) : (share * 100).toFixed(1)}%`;

function clock(ms, seconds = true) {
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return new Date(ms).toLocaleTimeString("en-GB", seconds ? { ...form, second: "2-digit" } : form);
}
const day = (ms) => new Date(ms).toLocaleDateString("en-CA");
const moment = (ms) => (day(ms) === day(Date.now()) ? clock(ms) : `${day(ms)} ${clock(ms)}`);
const hop = () => state.live.windows.find((each) => each.size === state.live.window).hop * 1000;

// Asking.
async function ask(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), cache: "no-store" });
  if (response.status === 400) Object.assign(state, { window: null, language: "" }); // the worker has other windows now
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

let [asked, timer] = [0, null];

async function poll() {
  const turn = ++asked;
  const query = new URLSearchParams({ ...(state.window && { window: state.window }), language: state.language });
  try {
    const live = await ask(`api/live?${query}`);
    const wanted = new URLSearchParams({ ...chosen(), shown: state.shown }).toString();
    const known = state.answers?.number === live.answers && state.asked === wanted && !chosen().within;
    const answers = known ? state.answers : await ask(`api/answers?${wanted}`);
    if (turn !== asked) return; // another choice was made meanwhile
    const changed = answers !== state.answers;
    Object.assign(state, { live, answers, asked: wanted, heardAt: Date.now(), failures: 0 });
    draw(changed);
  } catch {
    if (turn !== asked) return;
    state.failures += 1;
    drawStatus();
  }
}

async function pollOn() {
  clearTimeout(timer);
  if (document.visibilityState === "visible") {
    await poll();
    clearTimeout(timer);
    timer = setTimeout(pollOn, POLL_MS);
  }
}

// The state of it all.
function situation() {
  const { live, failures, heardAt } = state;
  if (failures > 1 || (failures && !live)) {
    const since = heardAt ? ` since ${clock(heardAt)}. The figures are from then` : "";
    return ["gone", "No answer", `This worker has not answered${since}. The page goes on asking.`];
  }
  if (!live) return ["starting", "Connecting", null];
  const { state: source, problem } = live.source;
  if (source === "failed") return ["failed", "No data", `Rates cannot be read, so the figures may be out of date: ${problem}. The worker tries again.`];
  const worker = live.worker ? `The worker is not judging answers now: ${live.worker}.` : null;
  if (source === "off") return ["off", "Rates are off", worker ?? "Rates are switched off (rates.enabled); answers are shown all the same."];
  if (source !== "live") return ["reading", "Reading the last hours", worker];
  return ["live", `Live, ${clock(heardAt)}`, worker];
}

function drawStatus() {
  const [name, text, notice] = situation();
  document.body.dataset.state = name;
  byId("status-text").textContent = text;
  byId("none-shown").textContent = name === "starting" || name === "reading" ? NOTHING[name] : "None so far.";
  if (byId("notice").textContent !== (notice ?? "")) byId("notice").textContent = notice ?? ""; // read aloud when it changes
  byId("notice").hidden = !notice;
}

function drawControls() {
  const { live } = state;
  const windows = byId("windows");
  const sizes = live.windows.map(({ size }) => size);
  if ([...windows.querySelectorAll("input")].map((input) => input.value).join() !== sizes.join()) {
    windows.replaceChildren(windows.firstElementChild, ...sizes.map((size) => el("label", {},
      el("input", { type: "radio", name: "window", value: size, checked: size === live.window }), el("span", {}, span(size)))));
  }
  const select = byId("language");
  const known = [...new Set(["", ...live.languages, state.language])];
  if (known.join() !== [...select.options].map((option) => option.value).join()) {
    select.replaceChildren(...known.map((code) => el("option", { value: code, selected: code === state.language }, code ? languageName(code) : "all")));
  }
  byId("version").textContent = `truthgate ${live.version}`;
  byId("desk").hidden = !live.desk;
  if (live.desk) byId("desk").href = live.desk;
}

/** The pauses by operators and by the settings; if they are not known, nothing is sent. */
function drawSending() {
  const { known, pauses } = state.live.sending;
  byId("sending").hidden = known && !pauses.length;
  byId("pauses").replaceChildren(...pauses.map(drawPause),
    known ? "" : el("li", {}, el("strong", {}, "This worker sends nothing"), el("span", {}, "It cannot read the pauses.")));
}

function drawPause({ message_type, language, since, by, reason }) {
  const told = since === null ? "by the settings (policy.pause)" : `by ${by}: ${reason}`;
  return el("li", {}, el("strong", {}, `${message_type ? `${words(message_type)} answers` : "All answers"}${language ? ` in ${languageName(language)}` : ""}`),
    el("span", { dir: "auto" }, told), since === null ? null : el("span", { class: "when" }, `since ${moment(since)}`));
}

function drawAlerts() {
  const { alerts } = state.live;
  byId("alerts").hidden = !alerts.length;
  document.title = alerts.length ? `(${alerts.length}) truthgate` : "truthgate";
  byId("alert-list").replaceChildren(...alerts.map((alert) => el("li", {},
    el("span", { class: "tag" }, alert.severity),
    el("strong", {}, alert.name),
    el("span", {}, `${typeName(alert.message_type ?? "all")}${alert.language ? `, ${languageName(alert.language)}` : ""}: `
      + `${percent(alert.rate)} untrue of ${number(alert.scored)} scored within ${span(alert.window)}, with 95% confidence more than `
      + `${percent(alert.low)}; the limit is ${percent(alert.threshold)}`),
    el("span", { class: "when" }, `since ${moment(alert.since)}`))));
}

// Charts.
function card(name, title) {
  const [when, tag, chart] = [el("span", { class: "when" }), el("span", { class: "tag", hidden: true }, "alert"),
    svg("svg", { class: "chart", role: "slider", tabindex: 0, "aria-label": `${title}, through time` })];
  const [value, legend] = [el("p", { class: "value" }), el("p", { class: "legend" })];
  const root = el("article", { class: "card", "data-type": name }, el("header", {}, el("h3", {}, title), tag, when), value, chart, legend);
  follow(chart);
  return { root, when, tag, chart, value, legend };
}

const look = (end) => { state.cursor = end; drawFigures(); };
function follow(chart) {
  chart.addEventListener("pointermove", (event) => {
    const scale = frame(chart);
    const slot = Math.floor((event.clientX - chart.getBoundingClientRect().left - scale.left) / scale.slot);
    look(slot < 0 || slot >= scale.slots ? null : scale.begin + (slot + 1) * hop());
  });
  chart.addEventListener("pointerleave", () => look(null));
  chart.addEventListener("blur", () => look(null));
  chart.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") look(null);
    if (!move) return;
    event.preventDefault();
    const { begin, end } = frame(chart);
    look(Math.min(end, Math.max(begin + hop(), (state.cursor ?? end) + move * hop())));
  });
}

/** Where things are in a chart: time in slots of one hop each, values from the bottom. */
function frame(chart) {
  const { end, series } = state.live;
  const first = Math.min(end, ...series.map(({ points }) => points[0]?.end ?? end));
  const slots = Math.max(FEWEST_SLOTS, Math.round((end - first) / hop()) + 1);
  const [left, top, bottom] = [34, 8, 18];
  const [width, height] = [Math.max(60, chart.clientWidth - left - 8), Math.max(30, chart.clientHeight - top - bottom)];
  const slot = width / slots;
  const begin = end - slots * hop();
  return { left, top, width, height, slots, slot, begin, end, bottom: top + height, x: (at) => left + ((at - begin) / hop() - 0.5) * slot };
}

function axes(scale, most, label) {
  const drawn = [0, 0.5, 1].map((share) => {
    const y = scale.bottom - share * scale.height;
    return svg("g", {}, svg("line", { class: share ? "grid" : "base", x1: scale.left, x2: scale.left + scale.width, y1: y, y2: y }),
      svg("text", { x: scale.left - 6, y: y + 4, "text-anchor": "end" }, label(share * most)));
  });
  const step = (STEPS_S.find((each) => (scale.end - scale.begin) / (each * 1000) <= Math.max(2, scale.width / 85)) ?? 86400) * 1000;
  const offset = new Date(scale.end).getTimezoneOffset() * 60000; // so that ticks are at full hours here
  for (let at = Math.ceil((scale.begin - offset) / step) * step + offset; at <= scale.end; at += step) {
    const x = scale.left + ((at - scale.begin) / (scale.end - scale.begin)) * scale.width;
    if (x > scale.left + 14 && x < scale.left + scale.width - 14) {
      drawn.push(svg("text", { x, y: scale.bottom + 14, "text-anchor": "middle" }, clock(at, step < 60000)));
    }
  }
  return drawn;
}

/** Divide points where windows are missing or have no rate, so that no line is drawn across. */
function runs(points) {
  const found = [];
  for (const point of points) {
    if (point.rate === null) continue;
    const run = found.at(-1);
    if (run && point.end - run.at(-1).end === hop()) run.push(point);
    else found.push([point]);
  }
  return found;
}

function band(run, scale, y) {
  if (run.length === 1) {
    const width = Math.max(3, Math.min(10, scale.slot * 0.8));
    const top = y(run[0].high);
    return svg("rect", { class: "band", x: scale.x(run[0].end) - width / 2, y: top, width, height: y(run[0].low) - top });
  }
  const edge = (points, value) => points.map((point) => `${scale.x(point.end)},${y(point[value])}`);
  return svg("polygon", { class: "band", points: [...edge(run, "high"), ...edge([...run].reverse(), "low")].join(" ") });
}

function line(run, scale, y) {
  const path = (points, name) => svg("polyline", { class: name, points: points.map((point) => `${scale.x(point.end)},${y(point.rate)}`).join(" ") });
  const open = run.findIndex((point) => !point.final);
  return open < 0 ? [path(run, "line")] : [path(run.slice(0, open), "line"), path(run.slice(Math.max(0, open - 1)), "line open")];
}

const marker = (point, x, y) => svg("circle", { class: point.final ? "point" : "point open", cx: x, cy: y, r: 3.5 });

function drawRates(view, series, most) {
  const scale = frame(view.chart);
  const y = (share) => scale.bottom - (Math.min(share, most) / most) * scale.height;
  const divided = runs(series.points);
  const shown = divided.flat();
  const dots = shown.filter((point, place) => shown.length <= POINTS_DRAWN_UP_TO || place === shown.length - 1 || point.end === state.cursor);
  const alone = divided.filter((run) => run.length === 1).flat();
  view.chart.replaceChildren(
    ...axes(scale, most, (share) => percent(share)),
    ...divided.map((run) => band(run, scale, y)),
    ...series.thresholds.map((limit) => svg("line", { class: "limit", x1: scale.left, x2: scale.left + scale.width, y1: y(limit.rate), y2: y(limit.rate) })),
    ...divided.flatMap((run) => line(run, scale, y)),
    ...[...new Set([...dots, ...alone])].map((point) => marker(point, scale.x(point.end), y(point.rate))),
    ...series.thresholds.map((limit) => svg("text", { class: "limit-name", x: scale.left + 4, y: y(limit.rate) - 5 }, `${words(limit.name)} ${percent(limit.rate)}`)),
    cursorLine(scale));
}

function drawDecisions(view, series) {
  const scale = frame(view.chart);
  const highest = Math.max(4, ...series.points.map((point) => point.answers));
  const step = 10 ** Math.floor(Math.log10(highest));
  const most = Math.ceil(highest / step / 2) * 2 * step;
  const width = Math.max(1.5, scale.slot * 0.78);
  const bars = series.points.flatMap((point) => {
    let below = 0;
    return DECISIONS.map(([name]) => {
      const y = scale.bottom - ((below + point[name]) / most) * scale.height;
      const height = (point[name] / most) * scale.height;
      below += point[name];
      return svg("rect", { class: `bar-${name}`, x: scale.x(point.end) - width / 2, y, width, height: Math.max(0, height - (height > 3 ? 1 : 0)) });
    });
  });
  view.chart.replaceChildren(...axes(scale, most, number), ...bars, cursorLine(scale));
}

function cursorLine(scale) {
  const shown = state.cursor !== null && state.cursor > scale.begin && state.cursor <= scale.end;
  return shown ? svg("line", { class: "cursor", x1: scale.x(state.cursor), x2: scale.x(state.cursor), y1: scale.top, y2: scale.bottom }) : "";
}

// Figures beside the charts.
/** The newest whole window, unless another is looked at: one that has hardly begun tells little. */
function told(series) {
  const { end, series: [all] } = state.live;
  const [before, newest] = [all.points.at(-2), all.points.at(-1)];
  const at = state.cursor ?? (before && newest && !newest.final ? before.end : newest?.end ?? end);
  return [at, series.points.find((point) => point.end === at) ?? null];
}

function period(at, point) {
  const settled = !point || point.final ? "" : at > state.live.now ? ", so far" : ", not final";
  const late = point?.late ? `, ${number(point.late)} late` : "";
  return `${clock(at - state.live.window * 1000, hop() < 60000)}–${clock(at, hop() < 60000)}${settled}${late}`;
}

function fill(view, at, point, big, small) {
  view.when.textContent = period(at, point);
  view.value.replaceChildren(el("strong", {}, big), el("span", {}, small));
  view.legend.replaceChildren(...[...DECISIONS].reverse().map(([name, label, style]) =>
    el("span", { class: style }, el("b", {}, number(point?.[name] ?? 0)), ` ${label}`)));
}

/** Moving through time is what a slider does: what it stands at is read aloud. */
function describe(chart, at, text) {
  const { begin, end } = frame(chart);
  build(chart, { "aria-valuemin": begin, "aria-valuemax": end, "aria-valuenow": at, "aria-valuetext": text }, []);
}

function tellRates(view, series) {
  const [at, point] = told(series);
  const rate = point && point.rate !== null ? percent(point.rate) : "–";
  const rest = !point ? "no answers" : point.rate === null ? `${number(point.answers)} ${answers(point.answers)}, none scored`
    : `${number(point.untrue)} untrue of ${number(point.scored)} scored, 95%: ${percent(point.low)} to ${percent(point.high)}`
    + (point.faithfulness === null ? "" : `, faithfulness ${percent(point.faithfulness)}`);
  fill(view, at, point, rate, rest);
  describe(view.chart, at, `${period(at, point)}: ${rate === "–" ? "" : `${rate}, `}${rest}`);
  const firing = state.live.alerts.some((alert) => (alert.message_type ?? "all") === series.message_type);
  view.root.classList.toggle("firing", firing);
  view.root.classList.toggle("few", !point || point.scored < FEW_SCORED);
  view.tag.hidden = !firing;
}

function tellDecisions(view, series) {
  const [at, point] = told(series);
  fill(view, at, point, number(point?.answers ?? 0), answers(point?.answers ?? 0));
  const counts = DECISIONS.map(([name, label]) => `${number(point?.[name] ?? 0)} ${label}`).join(", ");
  describe(view.chart, at, `${period(at, point)}: ${counts}`);
}

const view = (name, title) => views.get(name) ?? views.set(name, card(name, title)).get(name);
function drawFigures() {
  const { series, end } = state.live;
  byId("figures").hidden = end === null;
  byId("empty").hidden = end !== null;
  const why = NOTHING[document.body.dataset.state];
  byId("empty-title").textContent = why ?? "No rates yet";
  byId("empty-hint").hidden = why !== undefined; // what is still read may have some
  if (end === null) return;
  const [all, ...rest] = series;
  const types = rest.sort((a, b) => a.message_type.localeCompare(b.message_type));
  const most = commonScale(series);
  const decisions = view("decisions", "Decisions");
  const shown = [all, ...types].map((each) => [view(`rates-${each.message_type}`, typeName(each.message_type)), each]);
  place(byId("overview"), [shown[0][0].root, decisions.root]);
  place(byId("types"), shown.slice(1).map(([each]) => each.root));
  shown.forEach(([each, what]) => { drawRates(each, what, most); tellRates(each, what); });
  drawDecisions(decisions, all);
  tellDecisions(decisions, all);
  byId("types-when").textContent = decisions.when.textContent;
}

/** One scale for all charts, which every rate fits: a figure stands where its axis has it. */
function commonScale(series) {
  const telling = ({ scored, rate, high }) => (scored < 3 * FEW_SCORED ? rate : high);
  const highest = Math.max(0.1, ...series.flatMap(({ points, thresholds }) => [...points.map(telling), ...thresholds.map((limit) => limit.rate * 1.25)]));
  return SCALES.find((scale) => highest <= scale) ?? 1;
}

/** Put elements into a place without moving those that are there, so that none loses the focus. */
function place(parent, wanted) {
  for (const child of [...parent.children]) if (!wanted.includes(child)) child.remove();
  wanted.forEach((each, at) => parent.children[at] === each || parent.insertBefore(each, parent.children[at] ?? null));
}

// The last answers.
const chosen = () => Object.fromEntries(CHOSEN_BY.map((name) => [name, byId(`by-${name}`).value]).filter(([, value]) => value));

/** Offer what there is, and what is chosen, so that a choice stays when the last such answer is gone. */
function offer(name, codes, all, told) {
  const select = byId(`by-${name}`);
  const wanted = ["", ...new Set([...codes, select.value].filter(Boolean))];
  if (wanted.join() === [...select.options].map((option) => option.value).join()) return;
  const { value } = select;
  select.replaceChildren(...wanted.map((code) => el("option", { value: code }, code ? told(code) : all)));
  select.value = value;
}

function drawFilter({ choices, matching, answers: shown }) {
  offer("message_type", choices.message_types, "all", words);
  offer("language", choices.languages, "all", languageName);
  offer("reason", choices.reasons, "all", words);
  byId("answers-when").textContent = matching > shown.length ? `${number(shown.length)} of ${number(matching)}` : "";
  byId("more").hidden = matching <= shown.length || shown.length < state.shown; // a worker shows no more at once
}

const drawn = new Map(); // by the ids of their verdicts and decisions: what is told of them, and its element
const idOf = ({ verdict_id, decision }) => `${decision}-${verdict_id}`;
function drawAnswers() {
  const { texts, answers: shown } = state.answers;
  drawFilter(state.answers);
  byId("texts-off").hidden = texts || !shown.length;
  byId("texts-on").hidden = !texts || !shown.length;
  byId("none-shown").hidden = shown.length > 0;
  byId("claims-on").hidden = !shown.some(({ excerpt }) => excerpt?.claims.length);
  const items = shown.map(listed);
  for (const id of drawn.keys()) if (!shown.some((answer) => idOf(answer) === id)) drawn.delete(id);
  place(byId("answers"), items);
}

/** What is told of an answer is drawn once, so that what is open in it stays open, and what has the focus keeps it. */
function listed(answer) {
  const told = day(Date.now()) + JSON.stringify(answer); // a time of yesterday is shown with its day
  const before = drawn.get(idOf(answer));
  if (before?.told === told) return before.root;
  const root = oneAnswer(answer);
  drawn.set(idOf(answer), { told, root });
  return root;
}

const scoreOf = (score) => (score === null ? "no score" : `score ${score.toFixed(1)} of 5`);
const decisionName = (code) => DECIDED[code] ?? words(code);

function oneAnswer(answer) {
  const about = el("div", { class: "about" },
    el("p", { class: "facts" }, el("time", { datetime: new Date(answer.scored_at).toISOString() }, moment(answer.scored_at)),
      el("b", {}, decisionName(answer.decision)), el("b", {}, scoreOf(answer.score))),
    el("p", { class: "facts" }, el("span", {}, words(answer.message_type)), el("span", {}, languageName(answer.language)), el("span", { class: "id" }, answer.answer_id), explainButton(answer)),
    el("ul", { class: "reasons", "aria-label": "Reasons" }, ...answer.reasons.map(({ code, meaning }) => el("li", {}, el("b", {}, words(code)), meaning ? ` ${meaning}` : ""))),
    answer.evidence.length ? el("ul", { class: "chips", "aria-label": "Evidence" }, ...answer.evidence.map(({ kind, count, at_fault }) =>
      el("li", { class: at_fault ? "fault" : null }, `${number(count)} × ${words(kind)}`))) : null,
    answer.claims.length ? el("ul", { class: "chips", "aria-label": "Claims" }, ...answer.claims.map(({ status, count }) =>
      el("li", { class: status === "contradicted" ? "fault" : null }, `${number(count)} × ${words(status)}`))) : null,
    answer.faithfulness === null ? null : el("p", { class: "facts" }, `Faithfulness ${percent(answer.faithfulness)}`),
    answer.opinions.length ? el("ul", { class: "reasons", "aria-label": "Second opinions" }, ...answer.opinions.map(opinion)) : null);
  const style = `${answer.decision in DECIDED ? answer.decision : "other"}${answer.excerpt ? " with-text" : ""}`;
  return el("li", { class: style }, about, answer.excerpt ? quoted(answer.excerpt, idOf(answer)) : null);
}

function opinion({ method, models, label, confidence, unsure, mistakes, shortened }) {
  const said = label === null ? `no label: ${words(unsure ?? "unknown")}` : `${words(label)}, ${percent(confidence)} sure`;
  const found = mistakes.length ? `: ${mistakes.map(words).join(", ")}` : "";
  return el("li", {}, el("b", {}, said), ` ${words(method)}${models.length ? ` by ${models.join(", ")}` : ""}${found}${shortened ? " (not all of the documents were read)" : ""}`);
}

function quoted({ question, answer, cut_before, cut_after, claims }, id) {
  const told = claims.map((claim, at) => claimTold(claim, `claim-${id}-${at}`));
  return el("div", { class: told.length ? "with-claims" : null }, el("p", { class: "question", dir: "auto" }, question),
    el("p", { class: "answer", dir: "auto" }, cut_before ? "… " : "", ...marked(answer, claims, told), cut_after ? " …" : ""),
    told.length ? el("ul", { class: "claims", "aria-label": "Claims, and what the documents say" }, ...told) : null);
}

/** The answer, with its claims as links to what the documents say of them. */
function marked(pieces, claims, told) {
  const shown = [];
  for (const [at, each] of pieces.entries()) {
    if (each.claim === null) shown.push(piece(each));
    else if (at && pieces[at - 1].claim === each.claim) shown.at(-1).append(piece(each));
    else shown.push(claimLink(claims[each.claim], told[each.claim], piece(each)));
  }
  return shown;
}

/** The status of a claim in words; who decided it is named where it was not the comparison of words. */
function statusOf({ status, mistake, decided_by }) {
  const by = decided_by !== "words" ? ` (by a ${words(decided_by)})` : "";
  return words(status) + (mistake ? `: ${words(mistake)}` : "") + by;
}

function claimLink(claim, told, first) {
  const { status } = claim, said = statusOf(claim);
  const link = el("a", { class: `claim ${status}`, href: `#${encodeURIComponent(told.id)}`, title: said }, el("span", { class: "hidden" }, `(${said}) `), first);
  const light = (on) => () => told.classList.toggle("lit", on);
  for (const [event, on] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) link.addEventListener(event, light(on));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    told.querySelector("details").open = true;
    told.querySelector("summary").focus();
  });
  return link;
}

/** A claim and its passage; what contradicts the answer is open from the start. */
function claimTold(claim, id) {
  const { status, text, source, derivation } = claim;
  const passage = source === null ? el("p", {}, "No passage was found.")
    : el("figure", {}, el("blockquote", { dir: "auto" }, source.text),
      el("figcaption", {}, status === "not_found" ? "nearest passage, in " : "", el("span", { class: "id" }, source.document_id), source.version === null ? "" : ` version ${source.version}`, derivation === null ? "" : `, so ${derivation}`));
  return el("li", { id }, el("details", { open: status === "contradicted" },
    el("summary", {}, el("b", { class: status }, statusOf(claim)), " ", el("q", { dir: "auto" }, text)), passage));
}

function piece({ text, kinds, at_fault, strong }) {
  const shown = strong ? el("strong", {}, text) : text;
  if (!kinds.length) return shown;
  const lacking = kinds.includes("lacking"), kind = kinds.map((each) => (each === "lacking" ? "not in the documents" : words(each))).join(", ");
  return el("mark", { class: at_fault ? "fault" : lacking ? "lacking" : "seen", title: kind }, shown,
    at_fault || lacking ? el("span", { class: "hidden" }, ` (${kind}) `) : null);
}

// Everything about one verdict.
function explainButton(answer) {
  const button = el("button", { type: "button", "aria-label": `Explain ${answer.answer_id}` }, "Explain");
  button.addEventListener("click", () => explain(answer));
  return button;
}

async function explain({ answer_id, verdict_id, decision }) {
  byId("explanation-title").textContent = answer_id;
  byId("explained").replaceChildren(el("p", { class: "hint" }, "Asking…"));
  byId("explanation").showModal();
  try {
    const told = await ask(`api/verdict?${new URLSearchParams({ id: verdict_id, decision })}`);
    byId("explained").replaceChildren(...sections(told));
  } catch {
    byId("explained").replaceChildren(el("p", {}, "This worker cannot tell more now. In a terminal: ", el("code", {}, `truthgate explain ${verdict_id}`)));
  }
}

function sections({ texts, explanation, excerpt }) {
  const { verdict, reasons, rules, score, policy, repeats } = explanation;
  const decided = verdict.reasons.length;
  const section = (title, ...items) => (items.length ? el("section", {}, el("h3", {}, title), el("ul", {}, ...items)) : null);
  const about = [decisionName(verdict.decision), scoreOf(verdict.score), words(verdict.message_type), languageName(verdict.language)];
  return [
    el("p", { class: "facts" }, ...about.map((each) => el("b", {}, each)), verdict.translated ? "translated to English before it was judged" : ""),
    section("Why", ...reasons.map(({ code, meaning, to_do }, at) => el("li", {}, el("b", {}, words(code)), ` ${meaning}${at >= decided ? " (could not be checked)" : ""}`,
      to_do ? el("p", { class: "to-do" }, `→ ${to_do}`) : null))),
    excerpt ? el("section", {}, el("h3", {}, "Question and answer"), quoted(excerpt, "explained"))
      : el("p", { class: "hint" }, texts ? "" : "Question, answer and passages are not shown (web.texts)."),
    section("Claims", ...verdict.claims.map(claimPlaced)),
    section("Rules", ...rules.map((rule) => el("li", {}, el("b", {}, `${words(rule.reason)}: ${rule.effect}, ${ROLES[rule.role]}`), ` ${rule.meaning}`,
      el("span", { class: "when" }, ` ${[...rule.kinds, ...rule.features].map(words).join(", ")}${rule.contradiction ? `; contradiction ${rule.contradiction.toFixed(2)}` : ""}`)))),
    section("Score", ...scored(verdict, score)),
    section("Features", ...verdict.features.map((feature, at) => measured(feature, explanation.features[at]))),
    section("Documents", ...contextTold(verdict),
      ...(verdict.context.length ? verdict.context.map(passageRead) : [...new Set(verdict.context_ids)].map((id) => el("li", { class: "id" }, id)))),
    section("Language models", ...verdict.opinions.map((said) => {
      const item = opinion(said);
      item.append(...said.evidence.map(spanRead), el("p", { class: "when" },
        `prompts ${said.prompt_version}, ${counted(said.requests, "request")}, ${counted(said.tokens_in, "token")} in, ${number(said.tokens_out)} out, ${said.seconds.toFixed(1)} s${said.cost === null ? "" : `, cost ${said.cost}`}`));
      return item;
    })),
    section("Policy", el("li", {}, `version ${policy.version}`), ...thresholds(policy.thresholds)),
    section("Times and places", ...standing(explanation)),
    section("Repeats", ...repeats.map((repeat) => el("li", {}, `${whole(repeat.written_at ?? repeat.scored_at)} ${decisionName(repeat.decision)}, ${scoreOf(repeat.score)}, ${repeat.reasons.map(words).join(", ")}: `,
      repeat.differs.length ? `differs in ${repeat.differs.map(words).join(", ")}` : "the same"))),
  ].filter((part) => part !== null);
}

const ROLES = { decided: "and decided", named: "and something else decided", outweighed: "but another rule came first" };
const MADE_BY = {
  support: "by how far the documents have what the answer says, the lower of the two", rule: "by a rule", mean: "by the mean of the features",
  contradiction: "by how surely they say something else, the lower of the two", unknown: "by another release of the scorer",
};
const SOURCES = {
  inline: "The answer brought these passages.", by_id: "The answer named these documents; they are of the versions of its time.",
  retrieved: "The answer brought none: these were found for its question.", none: "There are none: the answer brought none, and none was found.",
};

function contextTold({ missing_context_ids: missing, context_source: source }) {
  if (missing.length) return [el("li", {}, `The answer names documents that are not there: ${missing.join(", ")}.`)];
  return source in SOURCES ? [el("li", {}, SOURCES[source])] : [];
}

const whole = (told) => `${day(Date.parse(told))} ${clock(Date.parse(told))}`;
const lasting = (s) => (s < 60 ? `${s.toFixed(3)} s` : `${s < 86400 ? "" : `${counted(Math.floor(s / 86400), "day")}, `}${new Date(s * 1000).toISOString().slice(11, 19)}`);
const placed = ({ start, end }) => `${start}–${end}`;
const versioned = ({ document_id, version }) => `${document_id}${version ? ` version ${version}` : ""}`;

function claimPlaced(claim) {
  const { status, support, source, text, derivation } = claim;
  const share = support === null ? "" : `, ${support.toFixed(2)} of its words`;
  return el("li", {}, el("b", { class: status === "contradicted" ? "contradicted" : null }, statusOf(claim)), " ",
    text ? el("q", { dir: "auto" }, text) : "", el("span", { class: "when" }, ` ${placed(claim)}${share}`),
    source ? el("p", { dir: "auto" }, el("span", { class: "id" }, `${versioned(source)} ${placed(source)}`), source.text ? ": " : "", source.text ? el("q", {}, source.text) : "") : null,
    derivation ? el("p", {}, `so ${derivation}`) : null);
}

function scored(verdict, { value, made_by, of_support, of_contradiction }) {
  const part = (name, measured_, alone) => (measured_ === null ? [] : [`${name} ${measured_.toFixed(2)}, which alone gives ${alone.toFixed(1)}`]);
  return [value === null ? "There is none." : `${value.toFixed(2)}${made_by ? `, ${MADE_BY[made_by]}` : ""}`,
    `profile ${verdict.profile}, scorer ${verdict.scorer_version}`, ...part("support", verdict.support, of_support),
    ...part("contradiction", verdict.contradiction, of_contradiction),
    ...(verdict.faithfulness === null ? [] : [`faithfulness ${verdict.faithfulness.toFixed(2)}: the share of its claims that are supported`]),
  ].map((told) => el("li", {}, told));
}

function measured({ name, value, evidence }, { meaning, rules }) {
  const led = rules.length ? ` → ${rules.map(words).join(", ")}` : "";
  return el("li", {}, el("b", {}, `${words(name)} ${value === null ? "does not apply" : value.toFixed(2)}`), ` ${meaning}${led}`, ...evidence.map(spanRead));
}

const spanRead = (evidence) => el("p", {}, words(evidence.kind), " ", evidence.text ? el("q", { dir: "auto" }, evidence.text) : "",
  el("span", { class: "when" }, ` ${placed(evidence)}${evidence.document_id ? ` in ${evidence.document_id}` : ""}`));

const titled = ({ title, url }) => (/^https?:\/\//i.test(url ?? "") ? el("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, title ?? url) : title ?? url);

const passageRead = (passage) => el("li", {}, titled(passage) ?? "", " ", el("span", { class: "id" }, versioned(passage)),
  `${passage.start === null ? "" : `, characters ${placed(passage)}`}${passage.score === null ? "" : `, found with ${passage.score.toPrecision(3)}`}`);

function thresholds(found) {
  if (found === null) return [el("li", {}, "It is neither that of these settings nor the shipped one: its thresholds are not known here.")];
  const codes = (names) => names.map(words).join(", ") || "none";
  return [
    `for such answers: sent ${found.auto_send_at < 5 ? `from ${found.auto_send_at} on` : "by a rule alone"}, blocked ${found.block_below > 1 ? `below ${found.block_below}` : "by a rule alone"}`,
    `without a score for their type: ${words(found.unscored)}; refusals: ${words(found.refusal)}`,
    `in doubt: ${codes(found.ask)}, never ${codes(found.ask_never)}`,
    `opinions with confidence ≥ ${found.send_confidence} send, ≥ ${found.block_confidence} block`,
    ...(found.pause ? ["nothing is sent by itself (policy.pause)"] : []),
  ].map((told) => el("li", {}, told));
}

function standing({ verdict, place: at, written_at, trace_id, seconds }) {
  return [`answered ${whole(verdict.produced_at)}${verdict.model ? ` by ${verdict.model}` : ""}`, `judged ${whole(verdict.scored_at)}, ${lasting(Math.abs(seconds))} ${seconds < 0 ? "earlier" : "later"}`,
    ...(at ? [`at ${at.topic} ${at.partition}:${at.offset}${written_at ? `, written ${whole(written_at)}` : ""}`] : []),
    `verdict ${verdict.verdict_id}, conversation ${verdict.conversation_id}`, `trace ${trace_id ?? "not known"}`,
  ].map((told) => el("li", {}, told));
}

// The course of it.
function draw(answersToo) {
  drawStatus();
  drawControls();
  drawSending();
  drawAlerts();
  drawFigures();
  if (answersToo) drawAnswers();
}

const choose = (choice) => { Object.assign(state, choice, { cursor: null }); pollOn(); };
byId("windows").addEventListener("change", (event) => choose({ window: event.target.value }));
byId("language").addEventListener("change", (event) => choose({ language: event.target.value }));
document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
byId("filter").addEventListener("change", () => { state.shown = SHOWN_MORE; pollOn(); });
byId("more").addEventListener("click", () => { state.shown += SHOWN_MORE; pollOn(); });
byId("close").addEventListener("click", () => byId("explanation").close());
document.addEventListener("visibilitychange", pollOn);
new ResizeObserver(() => state.live && drawFigures()).observe(byId("main"));
byId("zone").textContent = `, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;

pollOn();
