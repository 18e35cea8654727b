// The list of marks: one stop for Tab, arrows inside it, Enter goes to the words in the text, Delete removes the mark.
import { shortened } from "./spoken.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const LONGEST = 80;

export class Chips {
  // `does` says what a mark's type is called (title), how it looks (look), and what to do: go(span), remove(span), leave().
  constructor(list, does) {
    this.list = list;
    this.does = does;
    this.place = 0;
    list.addEventListener("keydown", (event) => this.press(event));
    list.addEventListener("focusin", (event) => this.settle(this.buttons.indexOf(event.target)));
  }

  get buttons() {
    return [...this.list.querySelectorAll(".go")];
  }

  show(spans) {
    const hadFocus = this.list.contains(document.activeElement);
    this.spans = spans;
    this.list.replaceChildren(...spans.map((span) => this.chip(span)));
    this.settle(Math.min(this.place, spans.length - 1));
    if (hadFocus) this.enter();
  }

  // Into the list, to the mark one was at last; without marks back to the text.
  enter() {
    (this.buttons[this.place] ?? null)?.focus();
    if (!this.spans.length) this.does.leave();
  }

  settle(place) {
    if (place < 0) return;
    this.place = place;
    this.buttons.forEach((button, at) => { button.tabIndex = at === place ? 0 : -1; });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) this.settle(Math.min(Math.max(this.place + STEPS[event.key], 0), this.spans.length - 1));
    else if (event.key === "Delete" || event.key === "Backspace") this.does.remove(this.spans[this.place]);
    else return;
    event.preventDefault();
    this.enter();
  }

  chip(span) {
    const [title, look] = [this.does.title(span.type), this.does.look(span.type)];
    const chip = Object.assign(document.createElement("li"), { className: "chip" });
    const go = Object.assign(document.createElement("button"), { type: "button", className: "go" });
    const letter = Object.assign(document.createElement("span"), { className: `type type-${look.slot}`, textContent: look.letter });
    letter.setAttribute("aria-hidden", "true");
    go.append(
      Object.assign(document.createElement("span"), { className: "only-spoken", textContent: `${title}: ` }),
      Object.assign(document.createElement("span"), { className: "words", textContent: shortened(span.quote, LONGEST) }),
      letter,
    );
    go.addEventListener("click", () => this.does.go(span));
    const remove = Object.assign(document.createElement("button"), { type: "button", className: "remove", textContent: "✕", tabIndex: -1 });
    remove.setAttribute("aria-label", `${this.list.dataset.sayRemove}: ${title}, ${shortened(span.quote, LONGEST)}`);
    remove.addEventListener("click", () => this.does.remove(span));
    chip.append(go, remove);
    return chip;
  }
}
