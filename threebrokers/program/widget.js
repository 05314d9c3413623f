// The box of a program that runs. Python says how it is; a pressed button only asks for its end.
const KINDS = [
  ["stop", "ask it to end (SIGTERM): it closes its clients first"],
  ["kill", "end it at once (SIGKILL): it can close nothing"],
];
const ENDED = "It ended with its kernel: run the first cell of this page, then this one.";

function made(tag, name, attributes, ...children) {
  const node = document.createElement(tag);
  node.className = name;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function render({ model, el }) {
  const name = model.get("name");
  let ended = false;
  // What does not end when it is asked to can still be killed.
  const can = (kind) => model.get("runs") && !ended && !["kill", kind].includes(model.get("doing"));
  const buttons = KINDS.map(([kind, does]) => {
    const button = made("button", "", { type: "button", title: does, "aria-label": `${kind} the program ${name}` }, kind);
    button.addEventListener("click", () => can(kind) && model.send({ kind }));
    return [kind, button];
  });
  const row = made("div", "tb-program-buttons", { role: "group", "aria-label": `End the program ${name}` },
    ...buttons.map(([, button]) => button));
  const state = made("b", "", { role: "status" });
  const note = made("span", "tb-program-note", { role: "status" });
  const output = made("pre", "", {});
  // Keys pressed here are not JupyterLab's.
  const box = made("section", "tb-program", { "aria-label": `Program ${name}`, "data-lm-suppress-shortcuts": "true" },
    made("div", "tb-program-head", {}, state, row, note), output);
  el.append(box);

  const write = (node, words) => { if (node.textContent !== words) node.textContent = words; };
  const draw = () => {
    const runs = model.get("runs") && !ended;
    write(state, model.get("state"));
    write(output, model.get("output"));
    write(note, ended && model.get("runs") ? ENDED : runs ? model.get("note") : "");
    output.hidden = !model.get("output");
    box.style.borderLeft = `${runs ? "4px solid" : "6px double"} ${model.get("colour")}`;
    for (const [kind, button] of buttons) button.setAttribute("aria-disabled", String(!can(kind)));
    // Who goes by the keyboard stays in the cell: a button that is taken away would lose the place.
    if (!runs && row.contains(document.activeElement)) el.closest(".jp-Cell")?.focus();
    row.hidden = !runs;
  };
  // JupyterLab says so when the kernel is restarted.
  const end = () => { ended = true; draw(); };
  const names = ["state", "output", "colour", "runs", "doing", "note"].map((trait) => `change:${trait}`);
  model.on("comm_live_update", end);
  names.forEach((each) => model.on(each, draw));
  draw();
  return () => {
    model.off("comm_live_update", end);
    names.forEach((each) => model.off(each, draw));
  };
}

export default { render };
