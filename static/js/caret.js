// A caret in a text that nobody can edit, since browsers have none there: arrows move it, Shift extends, and the
// browser's own selection is set to match, so that marks and screen readers see one and the same. A mouse moves it too.
import { Boundaries } from "./boundaries.js";
import { isComposing, isDialogOpen, isFree, isPlain } from "./keys.js";
import { Lines } from "./lines.js";
import { Places, unitOf } from "./offsets.js";
import { phrase, sayLast, shortened } from "./spoken.js";

const isMac = /mac|iphone|ipad/i.test(navigator.platform);
const MOVES = {
  ArrowLeft: ["character", false],
  ArrowRight: ["character", true],
  ArrowUp: ["line", false],
  ArrowDown: ["line", true],
  PageUp: ["page", false],
  PageDown: ["page", true],
  Home: ["edge", false],
  End: ["edge", true],
  "Alt+ArrowUp": ["sentence", false],
  "Alt+ArrowDown": ["sentence", true],
  "Ctrl+Home": ["all", false],
  "Ctrl+End": ["all", true],
  [isMac ? "Alt+ArrowLeft" : "Ctrl+ArrowLeft"]: ["word", false],
  [isMac ? "Alt+ArrowRight" : "Ctrl+ArrowRight"]: ["word", true],
  ...(isMac && {
    "Meta+ArrowLeft": ["edge", false],
    "Meta+ArrowRight": ["edge", true],
    "Meta+ArrowUp": ["all", false],
    "Meta+ArrowDown": ["all", true],
  }),
};
const ROOM = 8; // pixels kept free above and below the caret when it is scrolled into view

function moveOf(event) {
  const held = [event.ctrlKey && "Ctrl+", event.altKey && "Alt+", event.metaKey && "Meta+"].filter(Boolean).join("");
  return MOVES[held + event.key];
}

class Caret {
  constructor(root) {
    this.root = root;
    this.places = new Places(root);
    this.text = this.places.text;
    this.boundaries = new Boundaries(this.text, root.closest("[lang]")?.lang);
    this.lines = new Lines(this.places, this.boundaries);
    this.at = 0;
    this.anchor = null; // where the selection began, null without one
    this.isLineEnd = false;
    this.column = null; // kept while one goes up and down
    this.bar = Object.assign(document.createElement("div"), { className: "caret" });
    this.bar.setAttribute("aria-hidden", "true");
    root.parentElement.append(this.bar);
    new ResizeObserver(() => this.draw()).observe(root);
  }

  get isSelecting() {
    return this.anchor !== null && this.anchor !== this.at;
  }

  // Moving

  move(step, isForward, isExtending) {
    const from = this.at;
    const wasSelected = this.isSelecting ? Math.abs(this.at - this.anchor) : 0;
    const { at, isLineEnd } = this.target(step, isForward, isExtending);
    if (!["line", "page"].includes(step)) this.column = null;
    this.anchor = isExtending ? (this.anchor ?? from) : null;
    [this.at, this.isLineEnd] = [at, isLineEnd];
    this.show();
    sayLast(isExtending ? this.wordsOfChange(from, wasSelected) : this.wordsAt(step));
  }

  target(step, isForward, isExtending) {
    const here = { at: this.at, isLineEnd: this.isLineEnd };
    if (step === "line" || step === "page") return this.vertical(here, step, isForward);
    if (step === "all") return { at: isForward ? this.text.length : 0, isLineEnd: false };
    if (step === "edge") {
      const line = this.lines.around(this.at, this.isLineEnd);
      return isForward ? this.lines.end(line) : { at: line[0], isLineEnd: false };
    }
    if (step === "character" && this.isSelecting && !isExtending) {
      return { at: (isForward ? Math.max : Math.min)(this.at, this.anchor), isLineEnd: false };
    }
    return { at: this.boundaries[step](this.at, isForward, isExtending), isLineEnd: false };
  }

  vertical(here, step, isForward) {
    const from = this.lines.spot(here.at, here.isLineEnd);
    this.column ??= from.left;
    if (step === "line") return this.lines.step(here, isForward, this.column);
    const page = this.view().height * 0.8;
    for (let next = here; ; here = next) {
      next = this.lines.step(here, isForward, this.column);
      const spot = this.lines.spot(next.at, next.isLineEnd);
      if (next.at === here.at || Math.abs(spot.top - from.top) > page) return next;
    }
  }

  // Marks show a passage by selecting it.
  select(start, end) {
    [this.anchor, this.at, this.isLineEnd, this.column] = [start, end, false, null];
    this.root.focus({ preventScroll: true });
    this.show();
    sayLast(this.wordsOfChange(start, 0));
  }

  drop() {
    this.anchor = null;
    this.show();
  }

  // Showing

  show() {
    const point = this.places.point(this.at);
    if (this.isSelecting) getSelection().setBaseAndExtent(...this.places.point(this.anchor), ...point);
    else getSelection().collapse(...point);
    this.draw();
    this.reveal();
  }

  draw() {
    if (!this.text) return;
    const spot = this.lines.spot(this.at, this.isLineEnd);
    const { scrollLeft, scrollTop } = this.root.parentElement;
    const home = this.root.parentElement.getBoundingClientRect();
    const left = Math.min(spot.left, this.root.getBoundingClientRect().right - 2);
    this.bar.style.left = `${left - home.left + scrollLeft - 1}px`;
    this.bar.style.top = `${spot.top - home.top + scrollTop}px`;
    this.bar.style.height = `${spot.bottom - spot.top}px`;
  }

  // What of the reply can be seen: its own box in the window, less the bar where that lies over it.
  view() {
    const box = this.root.parentElement.getBoundingClientRect();
    const bar = document.querySelector(".bar")?.getBoundingClientRect();
    const top = Math.max(box.top, 0);
    const bottom = Math.min(box.bottom, innerHeight, bar ? bar.top : innerHeight);
    return { top, bottom, height: Math.max(bottom - top, 1) };
  }

  reveal() {
    const spot = this.lines.spot(this.at, this.isLineEnd);
    const view = this.view();
    const home = this.root.parentElement;
    const below = spot.bottom + ROOM - view.bottom;
    const above = view.top + ROOM - spot.top;
    const by = above > 0 ? -above : Math.max(below, 0);
    if (!by) return;
    const scroller = home.scrollHeight > home.clientHeight ? home : document.scrollingElement;
    scroller.scrollBy({ top: by, behavior: "instant" });
  }

  // The browser's selection was moved by a mouse, a finger, or a script.
  follow() {
    const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = getSelection();
    if (!focusNode || !this.root.contains(focusNode)) {
      this.anchor = null;
      return;
    }
    const at = unitOf(this.root, focusNode, focusOffset);
    const isInside = !isCollapsed && this.root.contains(anchorNode);
    this.anchor = isInside ? unitOf(this.root, anchorNode, anchorOffset) : null;
    if (at === this.at) return;
    [this.at, this.isLineEnd, this.column] = [at, false, null];
    this.draw();
  }

  // Words for a screen reader, which has no caret of its own here

  wordsAt(step) {
    if (this.at >= this.text.length) return phrase("end");
    if (step === "word") return this.boundaries.wordAt(this.at);
    if (step === "sentence") return shortened(this.boundaries.sentenceAt(this.at));
    if (step === "line" || step === "page") return this.lineHere();
    return this.nameOf(this.text.slice(this.at, this.boundaries.character(this.at, true)));
  }

  lineHere() {
    const line = this.text.slice(...this.lines.around(this.at, this.isLineEnd));
    return shortened(line.trim()) || phrase("blank");
  }

  nameOf(character) {
    if (character === "\n") return phrase("newLine");
    if (!character.trim()) return phrase("blank");
    return this.places.point(this.at)[0].parentElement.closest(".control")?.dataset.name ?? character;
  }

  wordsOfChange(from, wasSelected) {
    const passage = this.text.slice(Math.min(from, this.at), Math.max(from, this.at));
    if (!passage) return phrase(this.at ? "end" : "start");
    const isMore = Math.abs(this.at - this.anchor) > wasSelected;
    return `${shortened(passage.trim()) || phrase("blank")}: ${phrase(isMore ? "selected" : "unselected")}`;
  }
}

let caret = null;

// The caret of the reply that is on the page.
export function currentCaret() {
  const root = document.getElementById("reply-text");
  if (!root) caret = null;
  else if (caret?.root !== root) caret = new Caret(root);
  return caret;
}

function press(event) {
  if (event.key === "Escape") return leave(event);
  const isHere = event.target === caret.root || event.target === document.body;
  const move = isHere && isFree(event) && moveOf(event);
  if (!move) return;
  event.preventDefault();
  if (event.target !== caret.root) caret.root.focus({ preventScroll: true });
  caret.follow(); // what changed just now may not have been told yet
  caret.move(...move, event.shiftKey);
}

// Escape drops the selection; from a field or a list it goes back to the text.
function leave(event) {
  if (isComposing(event) || !isPlain(event) || isDialogOpen() || event.defaultPrevented) return;
  if (event.target === caret.root) caret.drop();
  else caret.root.focus({ preventScroll: true });
}

function start() {
  const before = caret;
  if (!currentCaret() || caret === before) return;
  const isElsewhere = document.activeElement && document.activeElement !== document.body;
  if (!isElsewhere && !location.hash) caret.root.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", start);
document.addEventListener("selectionchange", () => caret?.follow());
document.addEventListener("keydown", (event) => { if (currentCaret()?.text) press(event); });
start();
