// Plays recordings in the panel's own renderer. A frame holds what differs from the one before.
for (const place of document.querySelectorAll("[data-recording]")) {
  const { times, marks, frames } = globalThis.recordings[place.dataset.recording];
  let at = -1, now = {};
  const frame = (position) => {
    if (position < at) { at = -1; now = {}; }
    while (at < position) now = { ...now, ...frames[++at] };
    return now;
  };
  globalThis.panel.render({ model: globalThis.panelModel({ times, marks, frames: frame }), el: place });
}
