// Offsets in code points of a text, whole graphemes only; the page's own indexes count UTF-16 units.

export function toCodePoints(text, unit) {
  return [...text.slice(0, unit)].length;
}

export function toUnits(text, codePoint) {
  let unit = 0;
  for (let left = codePoint; left > 0 && unit < text.length; left -= 1) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  return unit;
}

// The range widened to whole graphemes, without blanks at its ends; null when nothing is left.
export function wholeGraphemes(text, start, end) {
  const widened = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  const first = widened.containing(start);
  const last = end > start ? widened.containing(end - 1) : undefined;
  if (!first || !last) return null;
  let from = first.index;
  let to = last.index + last.segment.length;
  while (from < to && /\s/u.test(text[from])) from += 1;
  while (to > from && /\s/u.test(text[to - 1])) to -= 1;
  return from < to ? [from, to] : null;
}

// Units of the text before a boundary point inside root.
export function unitOf(root, node, offset) {
  const before = document.createRange();
  before.setStart(root, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

// UTF-16 offsets of the selection inside root, or null when it is empty or elsewhere.
export function selectedUnits(root) {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0).cloneRange();
  if (!range.intersectsNode(root)) return null;
  if (!root.contains(range.startContainer)) range.setStart(root, 0);
  if (!root.contains(range.endContainer)) range.setEnd(root, root.childNodes.length);
  const start = unitOf(root, range.startContainer, range.startOffset);
  return [start, start + range.toString().length];
}

// The text under root and the nodes it stands in, looked up once: an item's text never changes.
export class Places {
  constructor(root) {
    this.root = root;
    this.text = root.textContent;
    this.nodes = [];
    this.starts = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    let seen = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.length) continue;
      this.nodes.push(node);
      this.starts.push(seen);
      seen += node.length;
    }
  }

  // The boundary point at a unit: between two nodes the beginning of the second, or the end of the first.
  point(unit, isEnd = false) {
    const sought = isEnd ? Math.max(unit - 1, 0) : unit;
    let [low, high] = [0, this.nodes.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= sought) low = middle;
      else high = middle - 1;
    }
    return [this.nodes[low], Math.min(unit - this.starts[low], this.nodes[low].length)];
  }

  range(start, end) {
    const range = document.createRange();
    range.setStart(...this.point(start));
    range.setEnd(...(end > start ? this.point(end, true) : this.point(start)));
    return range;
  }
}
