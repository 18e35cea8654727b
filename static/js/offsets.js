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

// UTF-16 offsets of the selection inside root, or null when it is empty or elsewhere.
export function selectedUnits(root) {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0).cloneRange();
  if (!range.intersectsNode(root)) return null;
  if (!root.contains(range.startContainer)) range.setStart(root, 0);
  if (!root.contains(range.endContainer)) range.setEnd(root, root.childNodes.length);
  const before = document.createRange();
  before.setStart(root, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  return [start, start + range.toString().length];
}

export function rangeOfUnits(root, start, end) {
  const range = document.createRange();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let seen = 0;
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const next = seen + node.length;
    if (!begun && start < next) {
      range.setStart(node, start - seen);
      begun = true;
    }
    if (begun && end <= next) {
      range.setEnd(node, end - seen);
      return range;
    }
    seen = next;
  }
  return null;
}
