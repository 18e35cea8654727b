// Visual lines of a text and where its graphemes stand in them, asked of the browser when needed: lines are found by
// halving, so a long text costs no more than a short one.

const middle = (box) => (box.top + box.bottom) / 2;

export class Lines {
  constructor(places, boundaries) {
    this.places = places;
    this.text = places.text;
    this.boundaries = boundaries;
  }

  // The box of the grapheme that begins at a unit. An invisible character has the box of the name shown for it.
  box(unit) {
    const control = this.places.point(unit)[0].parentElement.closest(".control");
    if (control) return control.getBoundingClientRect();
    const [box] = this.places.range(unit, this.boundaries.character(unit, true)).getClientRects();
    return box ?? (unit > 0 ? this.box(this.boundaries.character(unit, false)) : this.places.root.getBoundingClientRect());
  }

  // Where a caret at a unit stands. Where a line is wrapped the same unit has two places: `isLineEnd` means the first.
  spot(unit, isLineEnd) {
    const isBehind = isLineEnd || unit >= this.text.length;
    const near = this.box(isBehind ? this.boundaries.character(unit, false) : unit);
    const isControl = !isBehind && this.places.point(unit)[0].parentElement.closest(".control");
    const rects = isControl ? [] : this.at(unit, isLineEnd);
    const rect = isLineEnd ? rects[0] : rects.at(-1);
    const left = rect?.left ?? (isBehind ? near.right : near.left);
    return { left, top: near.top, bottom: near.bottom };
  }

  // An empty range has a box on each line that the unit touches; in text that runs to the left it is at the right side.
  at(unit, isLineEnd) {
    const range = document.createRange();
    range.setStart(...this.places.point(unit, isLineEnd));
    return [...range.getClientRects()];
  }

  // The line a caret stands in, as [start, end).
  around(unit, isLineEnd) {
    const isBehind = isLineEnd || unit >= this.text.length;
    const box = this.box(isBehind ? this.boundaries.character(unit, false) : unit);
    return [this.first(box.top), this.first(box.bottom)];
  }

  // The first grapheme whose middle is below a height.
  first(height) {
    let [low, high] = [0, this.text.length];
    while (low < high) {
      const half = (low + high) >> 1;
      if (middle(this.box(this.boundaries.grapheme(half))) > height) high = half;
      else low = half + 1;
    }
    return high;
  }

  // The last place of a line: before its line feed, else behind its last grapheme.
  end([, end]) {
    if (this.text[end - 1] === "\n") return { at: end - 1, isLineEnd: false };
    return { at: end, isLineEnd: end < this.text.length };
  }

  // The place of a line nearest to a column.
  nearest(line, column) {
    const last = this.end(line);
    let best = last;
    let least = Math.abs(this.spot(last.at, last.isLineEnd).left - column);
    for (let at = line[0]; at < last.at; at = this.boundaries.character(at, true)) {
      const distance = Math.abs(this.spot(at, false).left - column);
      if (distance < least) [best, least] = [{ at, isLineEnd: false }, distance];
    }
    return best;
  }

  // One line up or down, keeping the column; beyond the first and last line the ends of the text.
  step({ at, isLineEnd }, isForward, column) {
    const [start, end] = this.around(at, isLineEnd);
    if (isForward) return end < this.text.length ? this.nearest(this.around(end, false), column) : { at: this.text.length, isLineEnd: false };
    return start > 0 ? this.nearest(this.around(this.boundaries.character(start, false), false), column) : { at: 0, isLineEnd: false };
  }
}
