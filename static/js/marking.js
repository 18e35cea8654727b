// Marks passages of the judged text: select, then type, or type, then select. What is marked stands in a field of the
// form. `data-types` of its box says how each type looks, {type: {slot, letter}}; without it each has a look of its own.
import { currentCaret } from "./caret.js";
import { isFree, isPlain } from "./keys.js";
import { Places, selectedUnits, toCodePoints, toUnits, wholeGraphemes } from "./offsets.js";
import { say, shortened } from "./spoken.js";
import { Chips } from "./chips.js";
import { Marks } from "./marks.js";
import { Types, paint } from "./paint.js";

// Reads the marks of a form or of a stored answer and shows them in the text.
class Shown {
  constructor(box) {
    this.box = box;
    this.root = document.getElementById(box.dataset.text);
    this.places = new Places(this.root);
    this.letters = document.getElementById(box.dataset.letters);
    this.types = new Types(box.dataset.types);
    this.field = box.querySelector("[name=spans]");
    this.read();
    new ResizeObserver(() => this.paint()).observe(this.root);
  }

  read() {
    const source = this.field?.value ?? this.box.closest("[data-spans]")?.dataset.spans;
    let spans = [];
    try { spans = JSON.parse(source || "[]"); } catch { /* what cannot be read is not shown */ }
    this.marks = new Marks(Array.isArray(spans) ? spans : []);
  }

  paint() {
    paint(this.places, this.marks.spans, this.letters, this.types);
  }
}

// The same with a form around it, whose keys and buttons change them.
class Marking extends Shown {
  constructor(box) {
    super(box);
    this.form = box.closest("form");
    this.list = box.querySelector("[data-chips]");
    this.toList = box.querySelector("[data-to-chips]");
    this.chips = new Chips(this.list, {
      title: (type) => this.title(type),
      look: (type) => this.types.look(type),
      go: (span) => this.go(span),
      remove: (span) => this.remove(span),
      leave: () => this.root.focus({ preventScroll: true }),
    });
    this.toList.addEventListener("click", () => this.chips.enter());
    this.form.addEventListener("label:restored", () => { this.read(); this.show(); });
    for (const button of box.querySelectorAll("[data-mark]")) this.listen(button);
    this.show();
  }

  // A press takes the selection away on some systems before it becomes a click, so it is held from the press on.
  listen(button) {
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("pointerdown", () => { this.held = selectedUnits(this.root); });
    button.addEventListener("click", (event) => {
      const units = selectedUnits(this.root) ?? (event.detail ? this.held : null);  // a key has pressed nothing
      if (units) this.mark(button.dataset.mark, units);
      else this.arm(this.armed === button.dataset.mark ? null : button.dataset.mark);
    });
  }

  show() {
    const { spans } = this.marks;
    this.paint();
    this.chips.show(spans);
    this.toList.hidden = !spans.length;
  }

  arm(type) {
    this.armed = type;
    for (const button of this.box.querySelectorAll("[data-mark]")) {
      button.setAttribute("aria-pressed", String(button.dataset.mark === type));
    }
    if (type) say(`${this.title(type)}: ${this.list.dataset.sayArmed}`);
  }

  mark(type, units) {
    const content = this.places.text;
    const whole = units && wholeGraphemes(content, ...units);
    if (!whole) return;
    const [start, end] = whole.map((unit) => toCodePoints(content, unit));
    const span = { start, end, type, quote: content.slice(...whole) };
    getSelection().collapse(...this.places.point(whole[1]));
    this.arm(null);
    if (this.marks.add(span)) this.changed(span, true);
  }

  markArmed() {
    const units = selectedUnits(this.root);
    if (this.armed && units) this.mark(this.armed, units);
  }

  remove(span) {
    this.marks.remove(span);
    this.changed(span, false);
  }

  turn(isBack) {
    const turned = isBack ? this.marks.undo() : this.marks.redo();
    if (turned) this.changed(turned.span, turned.isThere);
  }

  changed(span, isThere) {
    this.field.value = JSON.stringify(this.marks.spans);
    this.show();
    const { sayMarked, sayRemoved } = this.list.dataset;
    say(`${isThere ? sayMarked : sayRemoved}: ${this.title(span.type)}, ${shortened(span.quote)}`);
    this.form.dispatchEvent(new CustomEvent("label:changed"));
  }

  title(type) {
    return this.box.querySelector(`[data-mark="${CSS.escape(type)}"] span`)?.textContent || type;
  }

  // From the list to the words, and from the words to the list.

  go(span) {
    const { text } = this.places;
    currentCaret().select(toUnits(text, span.start), toUnits(text, span.end));
  }

  goToChip() {
    const at = toCodePoints(this.places.text, currentCaret().at);
    const { spans } = this.marks;
    const place = spans.findLastIndex((span) => span.start <= at && at <= span.end);
    if (place < 0) return;
    this.chips.settle(place);
    this.chips.enter();
  }

  press(event) {
    if (!isFree(event)) return;
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y"].includes(event.key.toLowerCase());
    if (isUndo) this.turn(event.key.toLowerCase() === "z" && !event.shiftKey);
    else if (!isPlain(event)) return;
    else if (event.key === "Backspace") this.removeLast();
    else if (event.key === "Escape" && this.armed) this.arm(null);
    else if (event.key === "Enter" && event.target === this.root) this.enter();
    else return;
    if (event.key !== "Escape") event.preventDefault();
  }

  removeLast() {
    if (this.marks.last) this.remove(this.marks.last);
  }

  enter() {
    if (this.armed) this.markArmed();
    else this.goToChip();
  }
}

let shown = null;

function start() {
  const box = document.querySelector("[data-marks], [data-marks-shown]");
  if (!box) shown = null;
  else if (shown?.box !== box) shown = box.matches("[data-marks]") ? new Marking(box) : new Shown(box);
}

export function startMarking() {
  document.addEventListener("htmx:afterSettle", start);
  document.addEventListener("keydown", (event) => { start(); shown?.press?.(event); });
  document.addEventListener("mouseup", () => setTimeout(() => shown?.markArmed?.()));
  start();
}
