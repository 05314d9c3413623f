// Draws frames. It knows nothing of Kafka: what stands in a frame is shown, what is pressed is sent.

// A tag, its attributes (those that begin with "on" are functions) and its children.
const h = (tag, attributes, ...children) => ({ tag, attributes: attributes ?? {}, children: there(children) });
const there = (children) => children.flat(Infinity).filter((child) => child != null && child !== false && child !== "");
const hidden = (words) => h("span", { class: "tb-hidden" }, words);
const sign = (text) => h("span", { "aria-hidden": "true", class: "tb-sign" }, text);

// What stands between back-ticks is code.
const rich = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", null, part) : part));

const SVG = "http://www.w3.org/2000/svg", DRAWN = ["svg", "line", "circle", "text"];
const made = (tag) => (DRAWN.includes(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag));

// Changes the children of a node only where they differ, so that focus, selection and scrolling stay.
function draw(parent, children) {
  children.forEach((child, place) => {
    let node = parent.childNodes[place];
    if (typeof child !== "object") {
      if (node?.nodeType !== 3) {
        const text = document.createTextNode(child);
        node ? parent.replaceChild(text, node) : parent.append(text);
      } else if (node.data !== String(child)) node.data = child;
      return;
    }
    if (node?.localName !== child.tag || node.tbKey !== child.attributes.key) {
      const fresh = made(child.tag);
      fresh.tbKey = child.attributes.key;
      node ? parent.replaceChild(fresh, node) : parent.append(fresh);
      node = fresh;
    }
    dress(node, child.attributes);
    draw(node, child.children);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

function dress(node, attributes) {
  const before = node.tbAttributes ?? {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "key" || before[name] === value) continue;
    if (name.startsWith("on")) node[name] = value;
    else if (name === "value") node.value = value;
    else if (value == null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const name of Object.keys(before)) if (!(name in attributes)) node.removeAttribute(name);
  node.tbAttributes = attributes;
}

function brokerCard(broker, view) {
  const state = `${broker.sign} ${broker.word}`;
  const notes = [broker.busy || broker.note, broker.quorum && [sign("♛ "), "active controller"],
    broker.cost && view.frame.buttons && [sign("⚠ "), "the quorum needs it"]].filter(Boolean);
  return h("section", { class: `tb-broker tb-b${broker.id} tb-${broker.look}`, "aria-label": `Broker ${broker.id}` },
    h("div", { class: "tb-head" }, h("b", null, `Broker ${broker.id}`),
      h("b", { key: state, class: "tb-state" }, sign(broker.sign), ` ${broker.word}`)),
    h("div", { class: "tb-line" }, broker.address, h("span", { class: "tb-memory" }, broker.memory)),
    h("div", { class: "tb-line" }, broker.leads),
    h("div", { class: "tb-note" }, notes.map((note, place) => [place ? "; " : null, note])),
    view.frame.buttons && h("div", { class: "tb-buttons", role: "toolbar", "aria-label": `Broker ${broker.id}`, onkeydown: along },
      // Of two that undo each other one is there, in the same place.
      ["stop", "kill", broker.can.includes("resume") ? "resume" : "pause", broker.can.includes("heal") ? "heal" : "cut", "start"]
        .map((kind, place) => actionButton(kind, place, broker, view))),
    view.asked?.broker === broker.id && question(view));
}

// One button of a card is a stop of the Tab key, the one that was reached last; arrows go to the others.
function along(event) {
  const buttons = [...event.currentTarget.children];
  const at = buttons.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  buttons.at(to % buttons.length).focus();
}

function actionButton(kind, place, broker, view) {
  const can = broker.can.includes(kind) && !broker.busy && !view.ended && !view.rests;
  const costs = can && broker.cost && broker.costly.includes(kind);
  const links = ["cut", "heal"].includes(kind) ? "the links of " : "";
  return h("button", {
    type: "button", "aria-disabled": can ? "false" : "true", title: costs ? broker.cost : false,
    "aria-label": `${kind} ${links}broker ${broker.id}`, "data-press": `${kind} ${broker.id}`,
    tabindex: place === (view.reached[broker.id] ?? 0) ? "0" : "-1", onfocus: () => view.reach(broker.id, place),
    onclick: () => can && (costs ? view.ask(kind, broker) : view.press(kind, broker.id, false)),
  }, kind);
}

// What a button costs, under the card that it stands in: it lies over the rest, so nothing moves when it comes.
function question({ asked, answer }) {
  const leave = (event) => { if (event.key === "Escape") answer(false); };
  return h("div", { class: "tb-question", role: "alertdialog", "aria-label": `${asked.kind} broker ${asked.broker}?`, onkeydown: leave },
    h("p", null, sign("⚠ "), `${asked.cost}.`),
    h("button", { type: "button", class: "tb-yes", onclick: () => answer(true) }, `${asked.kind} broker ${asked.broker} anyway`), " ",
    h("button", { type: "button", onclick: () => answer(false) }, "leave it"));
}

// Where the brokers stand, the first one above.
const CORNERS = [[60, 14], [16, 82], [104, 82]];

function triangle({ brokers, links }) {
  const place = Object.fromEntries(brokers.map(({ id }, number) => [id, CORNERS[number]]));
  const side = ({ ends: [one, other], look }) => h("line", { class: `tb-side tb-side-${look}`,
    x1: place[one][0], y1: place[one][1], x2: place[other][0], y2: place[other][1] });
  const mark = ({ ends: [one, other], sign: drawn }) => drawn && h("text", { class: "tb-broken",
    x: (place[one][0] + place[other][0]) / 2, y: (place[one][1] + place[other][1]) / 2 }, drawn);
  const corner = ({ id, look }) => [
    h("circle", { class: `tb-corner tb-b${id} tb-corner-${look}`, cx: place[id][0], cy: place[id][1], r: 13 }),
    h("text", { class: `tb-number-of tb-b${id} tb-corner-${look}`, x: place[id][0], y: place[id][1] }, id)];
  return h("svg", { class: "tb-links", viewBox: "0 0 120 96", role: "img", "aria-label": links.words },
    h("text", { class: "tb-caption", x: 60, y: 62 }, "links"),
    links.sides.map(side), links.sides.map(mark), brokers.map(corner));
}

// Its place is that of the links beside it, so it needs none of its own while little has happened.
function headPart(view) {
  const { frame } = view;
  const said = view.ended || view.stale || frame.alarm;
  return h("div", { class: "tb-top" },
    triangle(frame),
    h("div", { class: "tb-told" },
      h("div", { class: "tb-title" }, h("b", null, view.times.length ? "A recording of the cluster" : "The cluster, live"),
        view.times.length ? null : h("span", { class: "tb-soft tb-time" }, `watching for ${frame.time}`),
        h("div", { class: `tb-notice ${said ? "tb-alarm" : ""}`, role: "status" }, said ? [sign("⚠ "), rich(`${said.replace(/\.$/, "")}.`)] : null),
        view.dockable && h("button", { type: "button", class: "tb-dock", "aria-label": "dock: keep this panel in sight beside the notebook", onclick: view.dock }, "dock")),
      h("div", { class: "tb-events", role: "log", tabindex: "0", "aria-label": "What happened", title: ORDER },
        h("ol", null, frame.events.map((event) => h("li", { class: `tb-${event.kind}` },
          h("span", { class: "tb-at" }, event.at || [sign("″"), hidden("in the same look")]), h("span", null, rich(event.words))))))));
}

function copyCell(copy, broker) {
  return h("td", { class: `tb-b${broker.id}` }, h("span", { key: copy.kind, class: `tb-copy tb-${copy.kind}`, title: `Broker ${broker.id} ${copy.sentence}` },
    // A number says more than the word beside the sign, and both have no room.
    sign(copy.sign), copy.kind === "late" && copy.behind ? null : h("span", { "aria-hidden": "true", class: "tb-word" }, ` ${copy.word}`),
    copy.behind ? h("span", { "aria-hidden": "true", class: "tb-behind" }, ` −${copy.behind}`) : null,
    hidden(copy.sentence)));
}

function bar({ start, committed, readable, end }) {
  const piece = (name, from, to) => from != null && to != null && to > from
    ? h("span", { class: `tb-${name}`, style: `left:${from}%;width:${(to - from).toFixed(1)}%` }) : null;
  const last = end ?? readable;
  return h("span", { class: "tb-bar", "aria-hidden": "true" }, piece("kept", start, last), piece("done", start, committed),
    piece("unread", readable, last), readable == null ? null : h("span", { class: "tb-tick", style: `left:${readable}%` }));
}

// The axis of the bars below: offsets at its ends, and a tick in the middle.
const axis = ([low, high]) => [h("span", { class: "tb-axis", "aria-hidden": "true" },
  h("span", null, low), " ", h("span", null, "log"), " ", h("span", null, high)), h("i", { class: "tb-ticks" })];

function partitionRow(row, brokers, grouped) {
  const { start, committed, readable, end } = row.numbers;
  return h("tr", { class: row.leaderless ? "tb-alone" : "" },
    h("th", { scope: "row" }, hidden("partition "), row.id, row.leaderless ? [sign(" ✕"), hidden(" has no leader")] : null),
    row.copies.map((copy, place) => copyCell(copy, brokers[place])),
    h("td", { class: row.short ? "tb-short" : "" }, row.isr[0], h("span", { class: "tb-word" }, " of "), h("span", { class: "tb-brief", "aria-hidden": "true" }, "/"), row.isr[1]),
    h("td", { class: "tb-log", title: `starts at ${start}, readable up to ${readable}, ends at ${end}` }, bar(row.marks)),
    h("td", { class: "tb-number" }, readable), h("td", { class: "tb-number tb-end" }, end),
    grouped && [h("td", { class: "tb-number tb-committed" }, committed), h("td", { class: "tb-number" }, row.lag),
      h("td", { class: "tb-reader" }, row.reader || "–")]);
}

const READABLE = "consumers may read what is before this offset (the high watermark)";
const END = "the next record gets this offset (the log end offset)";

function topicPart(topic, view) {
  const { brokers, groups } = view.frame;
  const group = groups[0]?.name;
  const head = (words, more, name = "") => h("th", { scope: "col", class: name, title: more ?? false }, words);
  return h("section", { class: "tb-topic", "aria-label": `Topic ${topic.name}` },
    h("button", { type: "button", class: `tb-fold ${topic.trouble ? "tb-trouble" : ""}`, "aria-expanded": String(topic.open), title: topic.summary,
      onclick: () => view.open(topic.name, !topic.open) },
    sign(topic.open ? "▾ " : "▸ "), h("b", null, topic.name), h("span", { class: "tb-soft" }, topic.trouble ? sign(" ✕") : null, ` ${topic.summary}`)),
    topic.open && topic.rows.length > 0 && h("table", null,
      h("thead", null, h("tr", null, head([h("span", { class: "tb-word" }, "partition"), h("span", { class: "tb-brief" }, "p.")]),
        brokers.map((broker) => head([h("span", { class: "tb-word" }, "broker "), h("span", { class: "tb-brief" }, "b"), broker.id])),
        head([h("span", { class: "tb-word" }, "in "), "sync"], "replicas that the leader waits for before a record may be read"),
        head([hidden(`log from ${topic.scale[0]} to ${topic.scale[1]}`), axis(topic.scale)], null, "tb-log"),
        head("readable", READABLE, "tb-number tb-readable"), head("end", END, "tb-number tb-end"),
        group && [head("read", `committed by ${group}`, "tb-number tb-committed"), head("lag", `records that ${group} has not read`, "tb-number"),
          head("by", `who of ${group} reads it`, "tb-reader")])),
      h("tbody", null, topic.rows.map((row) => partitionRow(row, brokers, group)))));
}

// So many troubled topics, and so many that were looked for, have a line each.
const LINES = 8, FOUND = 20;

function manyTopics(view) {
  const { topics } = view.frame;
  const wanted = view.filter.trim().toLowerCase();
  if (wanted) {
    const found = topics.filter(({ name }) => name.toLowerCase().includes(wanted));
    return [h("p", { class: "tb-soft tb-found", role: "status" }, `${found.length} of ${topics.length} topics have "${view.filter.trim()}" in their name`,
      found.length > FOUND ? `; these are the first ${FOUND}` : ""), found.slice(0, FOUND).map((topic) => topicPart(topic, view))];
  }
  const bad = topics.filter(({ trouble }) => trouble);
  const first = [...bad.slice(0, LINES), ...topics.filter((topic) => topic.open && !bad.slice(0, LINES).includes(topic))];
  const rest = (kind) => topics.filter((topic) => !first.includes(topic) && kind(topic));
  const several = (count) => `${count} ${count === 1 ? "topic" : "topics"}`;
  const fold = (name, some, words, look = "") => some.length > 0 && [
    h("button", { type: "button", class: `tb-fold ${look}`, "aria-expanded": String(view.unfolded.has(name)), onclick: () => view.unfold(name) },
      sign(view.unfolded.has(name) ? "▾ " : "▸ "), h("span", { class: "tb-soft" }, look ? sign("✕ ") : null, words)),
    view.unfolded.has(name) && some.map((topic) => topicPart(topic, view))];
  const worse = rest(({ trouble }) => trouble), fine = rest(({ trouble, there }) => there && !trouble), gone = rest(({ there }) => !there);
  return [first.map((topic) => topicPart(topic, view)),
    fold("worse", worse, `${several(worse.length)} more with trouble`, "tb-trouble"),
    fold("fine", fine, `${several(fine.length)}, all in sync`),
    fold("gone", gone, `${several(gone.length)}, not there any more`)];
}

function topicsPart(view) {
  const { topics, many, sums } = view.frame;
  const trouble = topics.some((topic) => topic.trouble);
  return [
    sums ? h("div", { class: "tb-sums" }, h("b", { class: trouble ? "tb-short" : "" }, trouble ? sign("✕ ") : null, sums),
      many && h("label", null, "filter ", h("input", { type: "search", value: view.filter, placeholder: "part of a topic's name", oninput: (event) => view.sift(event.target.value) }))) : null,
    many ? manyTopics(view) : topics.map((topic) => topicPart(topic, view)),
  ];
}

// Who reads which partition stands in the table; here is what each member has in all.
function groupPart(group) {
  return h("section", { class: "tb-group", "aria-label": `Group ${group.name}` },
    h("p", null, "group ", h("b", null, group.name), h("span", { class: "tb-soft" }, ` ${group.summary}`)),
    group.members.length > 0 && h("ul", { "aria-label": `Members of ${group.name}` }, group.members.map((member) =>
      h("li", null, h("b", null, member.name), ` ${member.share === "nothing" ? "reads nothing" : member.share}`,
        member.lag === "–" ? null : h("span", { class: "tb-soft" }, ` lag ${member.lag}`)))));
}

function player(view) {
  const last = view.times.length - 1;
  const seconds = (at) => `${at.toFixed(1)} s`;
  const range = view.times[last] || 1;
  return h("div", { class: "tb-player" },
    h("button", { type: "button", class: "tb-play", onclick: () => view.play(!view.playing) },
      sign(view.playing ? "❚❚ " : "▶ "), view.playing ? "pause" : "play"),
    h("label", { class: "tb-speed" }, "speed ", h("select", { onchange: (event) => { view.speed = Number(event.target.value); } },
      [0.5, 1, 2, 5].map((speed) => h("option", { value: String(speed), selected: speed === 1 }, `${speed}×`)))),
    h("span", { class: "tb-slide" },
      h("input", { type: "range", min: "0", max: String(last), value: String(view.position), "aria-label": "time of the recording",
        "aria-valuetext": seconds(view.times[view.position]), oninput: (event) => view.go(Number(event.target.value)) }),
      view.marks.map(([at, words]) => h("button", { type: "button", class: "tb-mark", style: `left:${((100 * at) / range).toFixed(1)}%`,
        title: `${seconds(at)}: ${words}`, "aria-label": `go to ${seconds(at)}: ${words}`, onclick: () => view.seek(at) }))),
    h("span", { class: "tb-number" }, `${seconds(view.times[view.position])} of ${seconds(view.times[last])}`));
}

// Only what is on the screen is explained.
const LEGEND = [["★", "leads"], ["✓", "in sync"], ["…", "behind: not in sync"], ["⚑", "believes that it leads: it was replaced"],
  ["✕", "down"], ["❚❚", "paused"], ["?", "silent"], ["◔", "starting"]];

function legend({ topics, groups }) {
  const rows = topics.flatMap((topic) => topic.rows);
  const copies = rows.flatMap((row) => row.copies);
  const entry = (mark, words, place) => h("span", { class: place ?? false }, mark, ` ${words}`);
  const swatch = (name) => h("i", { class: `tb-swatch tb-${name}` });
  const unread = rows.some(({ marks }) => marks.end != null && marks.readable != null && marks.end > marks.readable);
  return h("p", { class: "tb-legend" },
    LEGEND.filter(([mark]) => copies.some((copy) => copy.sign === mark)).map(([mark, words]) => entry(h("b", null, mark), words)),
    copies.some((copy) => copy.behind) && entry(h("b", null, "−12"), "records behind the leader"),
    entry(h("b", null, "readable"), READABLE), entry(h("b", null, "end"), END, "tb-end"),
    groups.length > 0 && entry(swatch("done"), "read by the group", "tb-log"),
    unread && entry(swatch("unread"), "stored, and not readable: replicas in sync do not have it yet", "tb-log"));
}

function whole(view) {
  const { frame } = view;
  return [
    view.times.length ? player(view) : null,
    headPart(view),
    h("div", { class: "tb-brokers" }, frame.brokers.map((broker) => brokerCard(broker, view))),
    topicsPart(view),
    frame.topics.some((topic) => topic.rows.length) ? legend(frame) : null,
    frame.groups.map(groupPart),
    h("details", { class: "tb-words" }, h("summary", null, "The same in words"), h("pre", { tabindex: "0" }, frame.words)),
  ];
}

// JupyterLab's own "Create New View for Cell Output", beside the notebook. It is there where JupyterLab shows itself
// to its page, as `make lab` has it; a panel that is docked already stands in no notebook.
const canDock = (root) => Boolean(globalThis.jupyterapp && root.closest(".jp-Notebook"));

const parts = () => [...globalThis.jupyterapp.shell.widgets("main")];

// The notebook around a panel, and which of its cells shows it.
function placeOf(root) {
  const notebook = parts().find((part) => part.context && part.node.contains(root));
  return { notebook, index: notebook?.content.widgets.findIndex((cell) => cell.node.contains(root)) };
}

// A page that is loaded again restores the view beside the notebook before the kernel tells what stands in it, and
// then it stays empty: it is made anew as soon as the panel is there.
async function dockAgain(root) {
  const { notebook, index } = placeOf(root);
  const empty = parts().find(({ content, node }) => content?.path === notebook?.context.path
    && content.index === index && node.querySelector(".jp-LinkedOutputView") && !node.querySelector(".tb"));
  if (!empty) return null;
  empty.dispose();
  return dock(root);
}

async function dock(root) {
  const { shell, commands } = globalThis.jupyterapp;
  const { notebook, index } = placeOf(root);
  const before = parts();
  await commands.execute("notebook:create-output-view", { path: notebook.context.path, index });
  const docked = parts().find((part) => !before.includes(part));
  shell.add(docked, "main", { ref: notebook.id, mode: "split-right" });
  // Two halves of a page need its whole width; a click on the folder's sign brings the list of files back.
  shell.collapseLeft();
  shell.collapseRight();
  return docked;
}

const ORDER = "▶ was done at this time. All else was seen then, and happened since the look before; what came in one look has no order.";
const STALE_MS = 3000, REST_MS = 10000, RESTORE_MS = 10000;
const AGAIN = "run the first cell of this page, then this one";

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "tb";
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", model.get("times").length ? "Recording of the cluster" : "Live panel of the cluster");
  root.dataset.lmSuppressShortcuts = "true"; // keys pressed here are not JupyterLab's
  el.append(root);
  let news = Date.now(), gone = "", docking = false;
  const began = news;
  const view = {
    speed: 1, playing: false, asked: null, stale: "", rests: false, filter: "", unfolded: new Set(), docked: null, reached: {},
    press: (kind, broker, force) => model.send({ kind, broker, force }),
    ask: (kind, broker) => { view.asked = { kind, broker: broker.id, cost: broker.cost }; show(); root.querySelector(".tb-yes").focus(); },
    answer: (yes) => {
      const { kind, broker } = view.asked;
      view.asked = null;
      if (yes && !view.rests && !view.ended) view.press(kind, broker, true);
      show();
      root.querySelector(`[data-press="${kind} ${broker}"]`)?.focus();
    },
    reach: (broker, place) => { view.reached[broker] = place; show(); },
    open: (name, yes) => { model.set("opened", { ...model.get("opened"), [name]: yes }); model.save_changes(); },
    sift: (words) => { view.filter = words; show(); },
    unfold: (name) => { if (!view.unfolded.delete(name)) view.unfolded.add(name); show(); },
    dock: async () => {
      if (view.docked?.isAttached) globalThis.jupyterapp.shell.activateById(view.docked.id);
      else await once(dock);
    },
    go: (position) => { model.set("position", position); model.save_changes(); show(); },
    seek: (at) => view.go(Math.max(0, view.times.findIndex((time) => time >= at))),
    play: (yes) => {
      if (yes && view.position === view.times.length - 1) view.go(0);
      view.playing = yes;
      view.from = { at: view.times[view.position], ms: Date.now() };
      show();
    },
  };
  function show() {
    for (const name of ["frame", "times", "marks", "position"]) view[name] = model.get(name);
    view.ended = model.get("ended") || gone;
    view.dockable = canDock(root);
    root.classList.toggle("tb-big", Boolean(model.get("big")));
    if (!view.frame.brokers) return;
    const log = root.querySelector(".tb-events");
    const atEnd = !log || log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    draw(root, there(whole(view)));
    if (atEnd) { const drawn = root.querySelector(".tb-events"); drawn.scrollTop = drawn.scrollHeight; }
  }
  async function once(make) { // a view that is just being made is empty, too
    if (docking) return;
    docking = true;
    try { view.docked = await make(root); } finally { docking = false; }
  }
  function onFrame() { news = Date.now(); view.stale = ""; view.rests = false; show(); }
  async function beat() {
    if (canDock(root) !== view.dockable) show(); // only now it stands in the page
    if (view.dockable && !view.docked && Date.now() - began < RESTORE_MS) await once(dockAgain);
    if (view.playing) {
      view.from.at += ((Date.now() - view.from.ms) / 1000) * view.speed;
      view.from.ms = Date.now();
      const next = view.times.findLastIndex((time) => time <= view.from.at);
      if (next >= view.times.length - 1) view.playing = false;
      if (next !== view.position) view.go(Math.max(0, next));
    } else if (!view.times.length && !view.ended && Date.now() - news > STALE_MS) {
      view.rests = Date.now() - news > REST_MS;
      view.stale = `No news for ${Math.round((Date.now() - news) / 1000)} s: the notebook's kernel is busy or has ended${view.rests ? `, so the buttons rest. If no cell runs, ${AGAIN}` : ""}`;
      show();
    }
  }
  // JupyterLab says so when the kernel is restarted.
  function end() { gone = `This panel ended with its kernel: ${AGAIN}`; show(); }
  model.on("comm_live_update", end);
  const timer = setInterval(beat, 250);
  model.on("change:frame", onFrame);
  model.on("change:ended", show);
  show();
  return () => { clearInterval(timer); model.off("change:frame", onFrame); model.off("change:ended", show); model.off("comm_live_update", end); };
}

export default { render };
