// Starts reveal.js, and plays recordings: a recording is a list of steps, and shows the last one of a moment.
Reveal.initialize({
  width: 1280, height: 720, margin: 0, minScale: 0.2, maxScale: 4, center: false, hash: true,
  controls: false, progress: true, transition: "none", backgroundTransition: "none", overview: true,
  pdfMaxPagesPerSlide: 1, pdfSeparateFragments: false, plugins: [RevealNotes],
});

// Letters of a picture are as large as its room allows, and 24 px at least: what does not fit then is told
// by `make slides-check`.
const fit = (picture) => {
  const room = picture.parentElement;
  for (let size = 38; size >= 24; size -= 2) {
    picture.style.fontSize = `${size}px`;
    if (picture.scrollWidth <= room.clientWidth && picture.offsetHeight <= room.clientHeight) break;
  }
};
const fitAll = (slide) => slide.querySelectorAll("figure > .tb-picture, figure > table.plain, figure > pre").forEach(fit);
Reveal.on("ready", () => (Reveal.isPrintView() ? document.querySelectorAll(".slide") : [Reveal.getCurrentSlide()]).forEach(fitAll));
Reveal.on("slidechanged", ({ currentSlide }) => fitAll(currentSlide));

const element = (tag, name, words) => Object.assign(document.createElement(tag), { className: name, textContent: words });

for (const player of document.querySelectorAll(".player")) {
  const { length, steps } = JSON.parse(player.querySelector("script").textContent);
  const [brokers, events, now, button, slider, clock] =
    [".brokers", ".events", ".now", "button", "input", "output"].map((name) => player.querySelector(name));
  let drawn = null, playing = null;

  const show = (at) => {
    const step = steps.findLast((one) => one.at <= at) ?? steps[0];
    slider.value = at;
    clock.textContent = `${at.toFixed(1)} s`;
    now.style.setProperty("--at", at / length);
    if (step === drawn) return;
    drawn = step;
    brokers.replaceChildren(...step.brokers.map((broker) => {
      const card = element("div", `card b${broker.id} ${broker.look}`, "");
      card.append(element("b", "", `Broker ${broker.id}  ${broker.sign} ${broker.word}`), element("span", "", broker.leads));
      return card;
    }));
    events.replaceChildren(...step.events.map((words) => element("li", "", words.replaceAll("`", ""))));
    // A line is never cut: the oldest goes when there is no room for all.
    while (events.scrollHeight > events.clientHeight && events.children.length > 1) events.firstChild.remove();
  };
  const stop = () => { cancelAnimationFrame(playing); playing = null; button.textContent = "▶ play"; };
  const play = () => {
    const from = Number(slider.value) >= length - 0.1 ? 0 : Number(slider.value);
    const begun = performance.now();
    button.textContent = "❚❚ pause";
    const go = () => {
      const at = Math.min(length, from + (performance.now() - begun) / 1000);
      show(at);
      at < length ? (playing = requestAnimationFrame(go)) : stop();
    };
    playing = requestAnimationFrame(go);
  };
  // A hand gives the keys back to the slides: else the next key of the speaker would press or move these again.
  button.onclick = (event) => { if (event.detail) button.blur(); playing ? stop() : play(); };
  slider.oninput = () => { stop(); show(Number(slider.value)); };
  slider.onpointerup = () => slider.blur();
  // Who came here by the keyboard presses the button, and turns no slide.
  button.onkeydown = (event) => { if (event.key === " " || event.key === "Enter") event.stopPropagation(); };
  Reveal.on("slidechanged", stop);
  // Paper shows the moment that has most to tell: a broker is away.
  const still = steps.find((step) => step.brokers.some((broker) => broker.look !== "up"));
  show(location.search.includes("print-pdf") ? (still?.at ?? 0) : 0);
}
