// Shows what the demo tells: the panel with its own renderer, the step beside it. Keys are sent, nothing is decided here.
import panel from "./widget.js";

const token = new URLSearchParams(location.search).get("token") ?? "";
const at = (id) => document.getElementById(id);
const root = document.documentElement;

// A tag, its class, and texts or nodes inside.
function made(tag, name, ...inside) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...inside.flat().filter((one) => one != null && one !== ""));
  return node;
}

// What stands between back-ticks is code.
const rich = (text) => text.split("`").map((part, place) => (place % 2 ? made("code", "", part) : part));
const sign = (text) => { const node = made("span", "sign", text); node.setAttribute("aria-hidden", "true"); return node; };
const unseen = (text) => made("span", "unseen", text);

// ---- the theme

function dress(dark) {
  root.dataset.theme = dark ? "dark" : "light";
  root.dataset.jpThemeLight = String(!dark); // time lines go by it
}
dress(matchMedia("(prefers-color-scheme: dark)").matches);

// ---- the panel, in letters as large as its room allows

let model = null, recorded = false, latest = null, size = 0, rows = "";
const LARGEST = 26, SMALLEST = 10, NARROWEST_EM = 36;

function fit() {
  const room = at("panel");
  const most = Math.min(LARGEST, room.clientWidth / NARROWEST_EM);
  for (size = Math.floor(most * 2) / 2; size >= SMALLEST; size -= 0.5) {
    room.style.setProperty("--jp-content-font-size1", `${(size * 14) / 13}px`);
    if (room.scrollHeight <= room.clientHeight) break;
  }
  const log = room.querySelector(".tb-events");
  if (log) log.scrollTop = log.scrollHeight;
}

// The letters of the step, too: from those of the page down to two thirds of them.
function fitStep() {
  for (let share = 1; share > 0.66; share -= 0.04) {
    at("step").style.setProperty("--letters", `${share}rem`);
    if (at("step").scrollHeight <= at("step").clientHeight) break;
  }
  // What is drawn gets as wide as the height allows.
  const line = at("step").querySelector(".tb-time");
  for (let share = 100; line && share >= 40; share -= 4) {
    line.style.width = `${share}%`;
    if (at("step").scrollHeight <= at("step").clientHeight) break;
  }
}

function frameCame(frame) {
  latest = frame;
  if (!model) {
    if (recorded === null) return;
    model = globalThis.panelModel({ frame, times: recorded ? [0] : [] });
    panel.render({ model, el: at("panel") });
  } else model.set("frame", frame);
  const shape = JSON.stringify(frame.topics?.map((topic) => topic.rows.length).concat(frame.groups.map((group) => group.members.length)));
  const room = at("panel");
  if (shape !== rows || room.scrollHeight > room.clientHeight) { rows = shape; fit(); }
}
new ResizeObserver(() => { if (model) fit(); fitStep(); }).observe(at("panel"));

// ---- the step

const LETTERS = "ABCDEFGH";

function questionPart({ asked, answers, revealed, truth, why }) {
  const items = answers.map(({ words, true: right }, place) => {
    const mark = `${!revealed || !truth ? "" : right ? "✓ " : "✗ "}${LETTERS[place]}`;
    return made("li", revealed && truth ? (right ? "right" : "wrong") : "", made("b", "letter", mark), made("span", "", rich(words), revealed && truth ? unseen(right ? " (so it was)" : " (not so)") : ""));
  });
  return [made("p", "asked", rich(asked)), made("ul", "answers", items),
    !revealed ? made("p", "call", "Which answer do you expect?") : truth ? made("p", "why", rich(why))
      : made("p", "call", "This time none of these was measured: look at the numbers.")];
}

function linesPart(lines, state) {
  const facts = lines.filter(({ kind }) => kind === "fact");
  const doing = lines.filter(({ kind }) => kind === "doing").at(-1);
  const failed = lines.filter(({ kind }) => kind === "failed");
  return [
    state === "running" && doing ? made("p", "doing", sign("◔ "), rich(doing.words)) : null,
    facts.length ? made("dl", "facts", facts.map(({ words, value }) => made("div", "", made("dt", "", rich(words)), made("dd", "", value)))) : null,
    failed.map(({ words }) => made("p", "failed", sign("✗ "), rich(words))),
  ];
}

let drawn = "";

function sceneCame(scene) {
  recorded = scene.recorded;
  if (latest && !model) frameCame(latest);
  document.querySelector("h1").textContent = `Demo ${scene.number}: ${scene.title}`;
  at("place").textContent = `${scene.recorded ? "from a recording · " : ""}${scene.position ? `step ${scene.position} of ${scene.steps}` : "at rest"}`;
  const first = scene.position === 0;
  const parts = first
    ? [made("h2", "", scene.title), made("p", "says", scene.recorded ? "It plays from a recording of three brokers." : "Three brokers run on this machine, and all that you will see is done to them.")]
    : [made("h2", "", rich(scene.heading)), made("p", "says", rich(scene.says)), scene.question ? questionPart(scene.question) : null, linesPart(scene.lines, scene.state)];
  if (scene.busy) parts.push(made("p", "doing", sign("◔ "), scene.busy));
  if (scene.missing) parts.push(made("p", "call", "This act was not done yet, so there is nothing to draw."));
  // The same again would be read out again.
  const now = JSON.stringify([scene.position, scene.heading, scene.lines, scene.state, scene.busy, scene.question, Boolean(scene.timeline)]);
  document.body.classList.toggle("with-timeline", Boolean(scene.timeline));
  if (now !== drawn) {
    const line = made("div", "timeline");
    line.innerHTML = scene.timeline ?? "";
    line.querySelectorAll("img").forEach((image) => { image.onload = fitStep; });
    at("step").replaceChildren(...parts.flat(3).filter(Boolean), ...(scene.timeline ? [line] : []));
  }
  drawn = now;
  fitStep();
  at("notes").replaceChildren(made("b", "", "Notes "), ...rich(first ? "Press Space to begin. B brings all brokers back, at any time." : scene.note));
  const button = at("next");
  button.dataset.key = scene.again ? "rest" : "next";
  button.replaceChildren(made("kbd", "", scene.again ? "B" : "Space"), ` ${scene.again ? "begin again" : scene.next || (scene.busy || scene.state === "running" ? "wait" : "the end")}`);
  button.setAttribute("aria-disabled", String(!scene.next && !scene.again));
}

// ---- keys

function press(key) {
  fetch(`do`, { method: "POST", body: key, headers: { "X-Token": token } }).catch(() => over());
}

const KEYS = {
  " ": () => press("next"), ArrowRight: () => press("next"), PageDown: () => press("next"), Enter: () => press("next"),
  ArrowLeft: () => press("back"), PageUp: () => press("back"), Escape: () => press("rest"), b: () => press("rest"),
  s: () => { at("notes").hidden = !at("notes").hidden; if (model) fit(); },
  t: () => dress(root.dataset.theme !== "dark"),
  p: () => { document.body.classList.toggle("panel-alone"); if (model) fit(); },
};

addEventListener("keydown", (event) => {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const own = event.target.closest?.("button, summary, input, select, a");
  if (!KEYS[key] || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (own && own.id !== "next" && [" ", "Enter", "ArrowLeft", "ArrowRight"].includes(key)) return; // it is theirs
  if (event.target.closest?.("[tabindex]") && ["PageDown", "PageUp"].includes(key)) return; // it scrolls
  event.preventDefault();
  KEYS[key]();
});
at("next").addEventListener("click", () => press(at("next").dataset.key ?? "next"));

// ---- news

function over() {
  model?.set("ended", "The demo has ended: start it again in the terminal");
  at("place").textContent = "the demo has ended";
}
recorded = null;
const news = new EventSource(`news?token=${encodeURIComponent(token)}`);
news.addEventListener("frame", ({ data }) => frameCame(JSON.parse(data)));
news.addEventListener("scene", ({ data }) => sceneCame(JSON.parse(data)));
news.addEventListener("over", () => { news.close(); over(); });
news.onerror = () => { if (news.readyState === EventSource.CLOSED) over(); };
