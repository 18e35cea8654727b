// Marks passages of the reply: select, then type, or type, then select. Painted without touching the text.
import { rangeOfUnits, selectedUnits, toCodePoints, toUnits, wholeGraphemes } from "../js/offsets.js";

const TYPES = ["definition", "reference", "background"];

class Marks {
  constructor(box) {
    this.box = box;
    this.text = document.getElementById(box.dataset.text);
    this.letters = document.getElementById(box.dataset.letters);
    this.form = box.closest("form");
    this.field = box.querySelector("[name=spans]");
    this.chips = box.querySelector("[data-chips]");
    this.read();
    if (!this.form) return;
    this.form.addEventListener("label:restored", () => this.read());
    for (const button of box.querySelectorAll("[data-mark]")) {
      button.addEventListener("mousedown", (event) => event.preventDefault());  // keeps the selection
      button.addEventListener("click", () => this.choose(button.dataset.mark));
    }
  }

  read() {
    const source = this.field ? this.field.value : this.box.closest("[data-spans]")?.dataset.spans;
    try { this.spans = JSON.parse(source || "[]"); } catch { this.spans = []; }
    this.made = [...this.spans];
    this.show();
  }

  choose(type) {
    if (selectedUnits(this.text)) this.mark(type);
    else this.arm(this.armed === type ? null : type);
  }

  arm(type) {
    this.armed = type;
    for (const button of this.box.querySelectorAll("[data-mark]")) button.setAttribute("aria-pressed", String(button.dataset.mark === type));
  }

  mark(type) {
    const units = selectedUnits(this.text);
    const content = this.text.textContent;
    const whole = units && wholeGraphemes(content, ...units);
    if (!whole) return;
    const [start, end] = whole.map((unit) => toCodePoints(content, unit));
    const span = { start, end, type, quote: content.slice(...whole) };
    getSelection().removeAllRanges();
    this.arm(null);
    if (this.spans.some((other) => other.start === start && other.end === end && other.type === type)) return;
    this.made.push(span);
    this.change([...this.spans, span].sort((a, b) => a.start - b.start || a.end - b.end), `${this.chips.dataset.sayMarked}: ${this.title(type)}, ${span.quote}`);
  }

  removeLast() {
    if (this.made.length) this.remove(this.made.at(-1));
  }

  remove(span) {
    this.made = this.made.filter((other) => other !== span);
    this.change(this.spans.filter((other) => other !== span), `${this.chips.dataset.sayRemoved}: ${span.quote}`);
  }

  change(spans, words) {
    this.spans = spans;
    this.field.value = JSON.stringify(spans);
    this.show();
    document.getElementById("spoken").textContent = words;
    this.form.dispatchEvent(new CustomEvent("label:changed"));
  }

  title(type) {
    return this.box.querySelector(`[data-mark=${type}] span`)?.textContent || type;
  }

  ranges(type) {
    const content = this.text.textContent;
    return this.spans.filter((span) => span.type === type)
      .map((span) => rangeOfUnits(this.text, toUnits(content, span.start), toUnits(content, span.end))).filter(Boolean);
  }

  show() {
    this.paint();
    if (this.chips) this.chips.replaceChildren(...this.spans.map((span) => this.chip(span)));
  }

  paint() {
    this.letters.replaceChildren();
    const home = this.letters.getBoundingClientRect();
    for (const type of TYPES) {
      const ranges = this.ranges(type);
      if (window.CSS?.highlights) CSS.highlights.set(`mark-${type}`, new Highlight(...ranges));
      for (const range of ranges) {
        const last = [...range.getClientRects()].at(-1);
        if (!last) continue;
        const letter = document.createElement("span");
        letter.textContent = type[0];
        letter.style.left = `${last.right - home.left}px`;
        letter.style.top = `${last.top - home.top - 3}px`;
        this.letters.append(letter);
      }
    }
  }

  chip(span) {
    const chip = document.createElement("li");
    chip.className = "chip";
    const words = Object.assign(document.createElement("span"), { className: "words", textContent: span.quote });
    const type = Object.assign(document.createElement("span"), { className: `type type-${span.type}`, textContent: span.type[0] });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "✕" });
    button.setAttribute("aria-label", `${this.chips.dataset.sayRemove}: ${this.title(span.type)}, ${span.quote}`);
    button.addEventListener("click", () => this.remove(span));
    chip.append(words, type, button);
    return chip;
  }
}

let marks = null;

function start() {
  const box = document.querySelector("[data-marks], [data-marks-shown]");
  if (box && marks?.box !== box) marks = new Marks(box);
}

document.addEventListener("htmx:afterSettle", start);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Backspace" || !marks?.form || event.target.closest("input:not([type=radio], [type=checkbox]), textarea, dialog")) return;
  marks.removeLast();
});
document.addEventListener("mouseup", () => { if (marks?.armed) setTimeout(() => marks.mark(marks.armed)); });
window.addEventListener("resize", () => marks?.paint());
start();
