// Searches all sections of the site, without a server: each word has to begin a word of the section.
{
  const MOST = 20, up = document.documentElement.dataset.up;
  const field = document.getElementById("search"), list = document.getElementById("found"), count = document.getElementById("count");
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const rows = globalThis.searchIndex.map(([address, page, heading, text]) => ({ address, page, heading, text, head: plain(`${page} ${heading}`), all: plain(`${page} ${heading} ${text}`) }));
  const begins = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "u");
  let chosen = -1;

  function found(words) {
    const patterns = words.map(begins);
    const hits = [];
    for (const row of rows) {
      if (!patterns.every((pattern) => pattern.test(row.all))) continue;
      const inHead = patterns.filter((pattern) => pattern.test(row.head)).length;
      // Where much is said of it comes first, and a heading says more than a sentence.
      const often = patterns.reduce((sum, { source }) => sum + (row.all.match(new RegExp(source, "gu")) ?? []).length, 0);
      hits.push({ row, score: inHead * 20 + Math.min(10, often) });
    }
    return hits.sort((one, other) => other.score - one.score).map(({ row }) => row);
  }

  function excerpt(row, words) {
    const at = Math.max(0, plain(row.text).search(begins(words[0])));
    const from = Math.max(0, at - 40);
    return `${from ? "… " : ""}${row.text.slice(from, from + 130)}${row.text.length > from + 130 ? " …" : ""}`;
  }

  function choose(place) {
    const items = [...list.children];
    chosen = items.length ? (place + items.length) % items.length : -1;
    items.forEach((item, number) => item.setAttribute("aria-selected", String(number === chosen)));
    if (chosen >= 0) { field.setAttribute("aria-activedescendant", items[chosen].id); items[chosen].scrollIntoView({ block: "nearest" }); }
    else field.removeAttribute("aria-activedescendant");
  }

  const close = () => { list.hidden = true; field.setAttribute("aria-expanded", "false"); chosen = -1; field.removeAttribute("aria-activedescendant"); };
  const go = (row) => { close(); location.href = up + row.address; };

  function show() {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    if (!words.length) { list.replaceChildren(); count.textContent = ""; return close(); }
    const hits = found(words);
    count.textContent = hits.length ? `${hits.length} ${hits.length === 1 ? "section" : "sections"}${hits.length > MOST ? `, the first ${MOST} are shown` : ""}` : "nothing was found";
    list.replaceChildren(...hits.slice(0, MOST).map((row, number) => {
      const item = document.createElement("li");
      Object.assign(item, { id: `found-${number}`, onmousedown: (event) => event.preventDefault(), onclick: () => go(row) });
      item.setAttribute("role", "option");
      for (const [tag, text] of [["b", row.heading || row.page], ["span", row.heading ? row.page : ""], ["small", excerpt(row, words)]]) {
        const part = document.createElement(tag);
        part.textContent = text;
        item.append(part);
      }
      return item;
    }));
    list.hidden = !hits.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    choose(hits.length ? 0 : -1);
    globalThis.searchFound = hits.slice(0, MOST);
  }

  field.oninput = show;
  field.onfocus = () => field.value && show();
  field.onblur = close;
  field.onkeydown = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(chosen + (event.key === "ArrowDown" ? 1 : -1)); }
    else if (event.key === "Enter" && chosen >= 0) go(globalThis.searchFound[chosen]);
    else if (event.key === "Escape") { field.value = ""; show(); }
  };
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });
}
