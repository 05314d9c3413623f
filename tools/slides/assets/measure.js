// Goes to each slide and returns sentences: what is outside it or cut off, letters that are too small.
(smallest) => {
  const found = [];
  const said = (number, words) => found.push(`slide ${number}: ${words}.`);
  const shown = (node) => !node.closest(".twin, script, aside") && getComputedStyle(node).visibility !== "hidden";
  const slides = Reveal.getSlides();
  for (const [place, section] of slides.entries()) {
    Reveal.slide(place);
    const number = place + 1, scale = Reveal.getScale();
    const slide = section.querySelector(".slide"), frame = slide.getBoundingClientRect();
    if (frame.bottom > innerHeight + 1 || frame.right > innerWidth + 1) said(number, "the slide is larger than the window");
    const foot = slide.querySelector(".foot").getBoundingClientRect();
    const words = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const node = words.currentNode, parent = node.parentElement, text = node.data.trim().slice(0, 40);
      if (!text || !shown(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect(), size = parseFloat(getComputedStyle(parent).fontSize) * scale;
      if (size < smallest - 0.1) said(number, `“${text}” has letters of ${size.toFixed(1)} px`);
      if (box.right > frame.right + 1 || box.left < frame.left - 1) said(number, `“${text}” goes beyond the side`);
      if (!parent.closest(".foot") && box.bottom > foot.top + 1) said(number, `“${text}” goes beyond the bottom`);
    }
    for (const node of slide.querySelectorAll("*")) {
      if (!shown(node) || node instanceof SVGElement) continue;
      if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth && getComputedStyle(node).display !== "inline")
        said(number, `${node.localName}.${node.className} is wider than its room: ${node.scrollWidth} of ${node.clientWidth} px`);
      if (node.localName === "img") said(number, "an image has letters that cannot be measured");
    }
    for (const figure of slide.querySelectorAll("figure"))  // in its middle: what is too high goes up, too
      if (figure.firstElementChild.getBoundingClientRect().top < figure.getBoundingClientRect().top - 1)
        said(number, "a picture lies over what is above it");
    for (const figure of slide.querySelectorAll("figure:has(.tb-picture, .bars, .player)"))
      if (!figure.querySelector(".twin li")) said(number, "a picture has no words");
  }
  return found;
}
