// Stands in for Jupyter's model of a widget, on a page without Jupyter. What a reader opens or closes is kept here.
// `frames`, if it is given, returns the frame of a position.
globalThis.panelModel = (values) => {
  const listeners = {}, opened = {};
  const told = { frame: {}, times: [], marks: [], position: 0, ended: "", big: false, opened, ...values };
  const unfolded = (frame) => frame.topics
    ? { ...frame, buttons: false, topics: frame.topics.map((topic) => ({ ...topic, open: opened[topic.name] ?? topic.open })) } : frame;
  const model = {
    get: (name) => (name === "frame" ? unfolded(told.frames ? told.frames(told.position) : told.frame) : told[name]),
    set: (name, value) => {
      if (name === "opened") Object.assign(opened, value);
      else told[name] = value;
      (listeners[`change:${name === "opened" ? "frame" : name}`] ?? []).forEach((listener) => listener());
    },
    on: (name, listener) => (listeners[name] ??= []).push(listener),
    off: (name, listener) => { listeners[name] = (listeners[name] ?? []).filter((one) => one !== listener); },
    save_changes: () => {},
    send: () => {},
  };
  return model;
};
