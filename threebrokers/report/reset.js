// A list of exercises and a button that puts one of them back as it was handed out. Python does it, in the file;
// JupyterLab saves the page before, so that nothing is lost, and loads the file again after.
const NOTEBOOK = ".jp-Notebook";

function page(root) {
  const app = globalThis.jupyterapp;
  if (!app || !root.closest(NOTEBOOK)) return null;
  return [...app.shell.widgets("main")].find((part) => part.context && part.node.contains(root)) ?? null;
}

async function run(root, lab, command) {
  const mine = page(root);
  if (!mine || !mine.context.path.split("/").pop().startsWith(`${lab}_`)) return;
  globalThis.jupyterapp.shell.activateById(mine.id);
  await globalThis.jupyterapp.commands.execute(command);
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "tb-reset";
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Put an exercise back");
  root.dataset.lmSuppressShortcuts = "true"; // keys pressed here are not JupyterLab's
  const label = document.createElement("label");
  label.textContent = "Exercise ";
  const list = document.createElement("select");
  for (const [number, title] of model.get("exercises")) list.append(new Option(`${number} ${title}`, number));
  label.append(list);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Put it back as it was handed out";
  const note = document.createElement("p");
  note.setAttribute("role", "status");
  root.append(label, button, note);
  el.append(root);

  const draw = () => { note.textContent = model.get("note"); };
  const heard = (message) => { if (message.done) run(root, model.get("lab"), "docmanager:reload"); };
  button.addEventListener("click", async () => {
    await run(root, model.get("lab"), "docmanager:save");
    model.send({ exercise: list.value });
  });
  model.on("change:note", draw);
  model.on("msg:custom", heard);
  draw();
  return () => { model.off("change:note", draw); model.off("msg:custom", heard); };
}

export default { render };
