// A question and its answers as buttons. Python decides what is chosen; a press only asks for it.
// What ends in `html` was escaped in Python.
const AGAIN = "run the first cell of this page, then this one.";
const ENDED = `This question ended with its kernel: ${AGAIN}`;
const SILENT = `The kernel has not answered yet: if a cell runs, wait for it. If none does, ${AGAIN}`;
const PATIENCE_MS = 3000;

function button(answer, html, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "tb-answer";
  const sign = document.createElement("span");
  sign.className = "tb-sign";
  sign.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  words.innerHTML = html;
  made.append(sign, words);
  made.addEventListener("click", () => press(answer));
  return made;
}

function look(answer, chosen, truth, [both, only, wrong]) {
  if (truth !== null && answer === truth) return ["✓", "right", answer === chosen ? both : only];
  if (answer !== chosen) return ["", "", ""];
  return truth === null ? ["●", "chosen", "your answer"] : ["✗", "wrong", wrong];
}

// A button that asks for the question anew; it is there once the true answer is known.
function retry(label, ask) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "tb-again";
  made.textContent = label;
  made.addEventListener("click", ask);
  return made;
}

function render({ model, el }) {
  const group = document.createElement("div");
  group.className = "tb-predict";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", model.get("question"));
  const question = document.createElement("p");
  question.className = "tb-question";
  const note = document.createElement("p");
  note.className = "tb-note";
  note.setAttribute("role", "status");
  const buttons = new Map();
  question.innerHTML = model.get("question_html");
  group.append(question);
  let ended = false, silence;
  const press = (answer) => {
    model.send({ answer });
    clearTimeout(silence);
    // Chosen twice, an answer brings no news.
    if (answer !== model.get("chosen")) silence = setTimeout(() => { note.textContent = SILENT; }, PATIENCE_MS);
  };
  const shown = model.get("answers_html");
  model.get("answers").forEach((answer, place) => {
    buttons.set(answer, button(answer, shown[place], press));
    group.append(buttons.get(answer));
  });
  group.append(note);
  const again = model.get("again") ? retry(model.get("again"), () => model.send({ again: true })) : null;
  if (again) group.append(again);
  el.append(group);

  const draw = () => {
    clearTimeout(silence);
    const chosen = model.get("chosen");
    const truth = model.get("truth");
    const here = group.contains(document.activeElement);
    for (const [answer, made] of buttons) {
      const [sign, state, words] = look(answer, chosen, truth, model.get("words"));
      made.dataset.state = state;
      made.firstChild.textContent = sign;
      made.disabled = ended || truth !== null;
      made.setAttribute("aria-pressed", String(answer === chosen));
      if (words) made.setAttribute("aria-description", words);
      else made.removeAttribute("aria-description");
    }
    group.dataset.known = String(truth !== null);
    if (ended) note.textContent = ENDED;
    else note.innerHTML = model.get("note_html");
    if (!again) return;
    const asked = again.hidden === false && truth === null;
    again.hidden = ended || truth === null;
    // Who goes by the keyboard stays in the question: a button that is taken away would lose the place.
    if (here && !again.hidden) again.focus();
    else if (here && asked && !ended) buttons.values().next().value.focus();
  };
  // Plain keys pressed here are not JupyterLab's (it would delete a cell for two d's), but Shift+Enter runs the
  // cell. JupyterLab looks for the attribute after the window has heard of a key.
  const mine = (event) => {
    const held = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
    group.toggleAttribute("data-lm-suppress-shortcuts", !held);
  };
  window.addEventListener("keydown", mine, true);
  // JupyterLab says so when the kernel is restarted.
  const end = () => { ended = true; draw(); };
  model.on("comm_live_update", end);
  const names = ["change:chosen", "change:truth", "change:note_html"];
  names.forEach((name) => model.on(name, draw));
  draw();
  return () => {
    clearTimeout(silence);
    window.removeEventListener("keydown", mine, true);
    names.forEach((name) => model.off(name, draw));
    model.off("comm_live_update", end);
  };
}

export default { render };
