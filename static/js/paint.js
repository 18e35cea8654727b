// Underlines marks and sets a small letter behind each, without touching the text. Each type has an underline at a
// height of its own, so that marks which overlap are all seen; letters that would meet stand side by side.
import { toUnits } from "./offsets.js";

const WIDTH = 8;
const painted = new Set(); // the slots that have been in use, whose marks may have to go

// How the types of marks look: the slot names the underline, the letter stands behind the words.
export class Types {
  constructor(said) {
    try { this.looks = JSON.parse(said || "{}"); } catch { this.looks = {}; }
  }

  look(type) {
    const look = Object.hasOwn(this.looks, type) ? this.looks[type] : null;
    return { slot: look?.slot || type, letter: look?.letter || type[0] };
  }
}

export function paint(places, spans, letters, types) {
  const drawn = spans.map((span) => ({ ...types.look(span.type), range: rangeOf(places, span) }));
  for (const { slot } of drawn) painted.add(slot);
  for (const slot of painted) {
    const ranges = drawn.filter((mark) => mark.slot === slot).map((mark) => mark.range);
    if (window.CSS?.highlights) CSS.highlights.set(`mark-${slot}`, new Highlight(...ranges));
  }
  letters.replaceChildren(...lettersOf(drawn, letters.getBoundingClientRect()));
}

function rangeOf(places, span) {
  return places.range(toUnits(places.text, span.start), toUnits(places.text, span.end));
}

function lettersOf(drawn, home) {
  const taken = [];
  return drawn.flatMap(({ letter: sign, range }) => {
    const last = [...range.getClientRects()].at(-1);
    if (!last) return [];
    const place = { left: last.right - home.left, top: last.top - home.top - 3 };
    while (taken.some((other) => Math.abs(other.left - place.left) < WIDTH && Math.abs(other.top - place.top) < WIDTH)) place.left += WIDTH;
    taken.push(place);
    const letter = Object.assign(document.createElement("span"), { textContent: sign });
    letter.style.left = `${Math.min(place.left, home.width - WIDTH)}px`;
    letter.style.top = `${place.top}px`;
    return [letter];
  });
}
