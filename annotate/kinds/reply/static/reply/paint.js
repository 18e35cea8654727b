// Underlines marks and sets a small letter behind each, without touching the text. Each type has an underline at a
// height of its own, so that marks which overlap are all seen; letters that would meet stand side by side.
import { toUnits } from "../js/offsets.js";

const TYPES = ["definition", "reference", "background"];
const WIDTH = 8;

export function paint(places, spans, letters) {
  const drawn = spans.map((span) => ({ type: span.type, range: rangeOf(places, span) }));
  for (const type of TYPES) {
    const ranges = drawn.filter((mark) => mark.type === type).map((mark) => mark.range);
    if (window.CSS?.highlights) CSS.highlights.set(`mark-${type}`, new Highlight(...ranges));
  }
  letters.replaceChildren(...lettersOf(drawn, letters.getBoundingClientRect()));
}

function rangeOf(places, span) {
  return places.range(toUnits(places.text, span.start), toUnits(places.text, span.end));
}

function lettersOf(drawn, home) {
  const taken = [];
  return drawn.flatMap(({ type, range }) => {
    const last = [...range.getClientRects()].at(-1);
    if (!last) return [];
    const place = { left: last.right - home.left, top: last.top - home.top - 3 };
    while (taken.some((other) => Math.abs(other.left - place.left) < WIDTH && Math.abs(other.top - place.top) < WIDTH)) place.left += WIDTH;
    taken.push(place);
    const letter = Object.assign(document.createElement("span"), { textContent: type[0] });
    letter.style.left = `${Math.min(place.left, home.width - WIDTH)}px`;
    letter.style.top = `${place.top}px`;
    return [letter];
  });
}
