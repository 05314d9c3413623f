// An extension of JupyterLab, as its builder would have made it: in a narrow window the list of files, which keeps
// its width, would take a third of the page. It folds; a click on the folder's sign brings it back.
const NARROW = "(max-width: 899px)"; // a window of 1280 whose letters are enlarged to 150 % has 853
// JupyterLab remembers that it is folded, also for a later page that is wide; so we remember who did it.
const FOLDED = "threebrokers:folded";

function fold({ shell }, narrow) {
  if (narrow && !shell.leftCollapsed) {
    localStorage.setItem(FOLDED, "yes");
    shell.collapseLeft();
  } else if (!narrow && shell.leftCollapsed && localStorage.getItem(FOLDED)) {
    shell.expandLeft();
  }
}

const plugin = {
  id: "threebrokers:fold",
  autoStart: true,
  activate: (app) => {
    const narrow = matchMedia(NARROW);
    app.restored.then(() => {
      fold(app, narrow.matches);
      if (!narrow.matches) localStorage.removeItem(FOLDED);
      narrow.addEventListener("change", ({ matches }) => fold(app, matches));
    });
  },
};

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB.threebrokers = { init: () => {}, get: async () => () => ({ __esModule: true, default: plugin }) };
