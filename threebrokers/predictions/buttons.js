// A question and its answers as buttons. Python decides what is chosen; a press only asks for it.
function button(answer, model) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "tb-answer";
  const sign = document.createElement("span");
  sign.className = "tb-sign";
  sign.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  words.textContent = answer;
  made.append(sign, words);
  made.addEventListener("click", () => model.send({ answer }));
  return made;
}

function look(answer, chosen, truth) {
  if (truth !== null && answer === truth) return ["✓", "right", answer === chosen ? "your answer, right" : "this is what happened"];
  if (answer !== chosen) return ["", "", ""];
  return truth === null ? ["●", "chosen", "your answer"] : ["✗", "wrong", "your answer, not what happened"];
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
  question.textContent = model.get("question");
  group.append(question);
  for (const answer of model.get("answers")) {
    buttons.set(answer, button(answer, model));
    group.append(buttons.get(answer));
  }
  group.append(note);
  el.append(group);

  const draw = () => {
    const chosen = model.get("chosen");
    const truth = model.get("truth");
    for (const [answer, made] of buttons) {
      const [sign, state, words] = look(answer, chosen, truth);
      made.dataset.state = state;
      made.firstChild.textContent = sign;
      made.disabled = truth !== null;
      made.setAttribute("aria-pressed", String(answer === chosen));
      if (words) made.setAttribute("aria-description", words);
      else made.removeAttribute("aria-description");
    }
    note.textContent = model.get("note");
  };
  const names = ["change:chosen", "change:truth", "change:note"];
  names.forEach((name) => model.on(name, draw));
  draw();
  return () => names.forEach((name) => model.off(name, draw));
}

export default { render };
