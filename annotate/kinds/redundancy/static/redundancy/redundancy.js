// Marks redundant steps of the trajectory beside the form: type, evidence, reason, certainty, and what becomes of each
// suggestion. All of it stands in two fields of the form.
import { isFree } from "../js/keys.js";
import { currentSpine } from "../js/spine.js";
import { say } from "../js/spoken.js";
import { Shown } from "./shown.js";
import { NONE_SERVES, evidenceOf, namesOf } from "./triplets.js";

const NAME = /^\s*(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?\s*$/;

class Form extends Shown {
  constructor(box) {
    super(box);
    this.form = box.closest("form");
    box.querySelector("noscript")?.remove();  // a piece that is swapped in has its fields, and they would be sent
    for (const [action, selector] of [
      [() => this.mark(), "[data-mark-step]"], [() => this.noneServes(), "[data-none-serves]"],
      [() => this.nextSuggestion(), "[data-next-suggestion]"],
    ]) this.part(selector).addEventListener("click", action);
    for (const button of box.querySelectorAll("[data-type]")) button.addEventListener("click", () => this.type(button.dataset.type));
    for (const button of box.querySelectorAll("[data-decide]")) button.addEventListener("click", () => this.decide(button.dataset.decide));
    const adding = this.part("[data-add-evidence]");
    adding.addEventListener("keydown", (event) => this.typeEvidence(event));
    for (const [field, name] of [["[data-reason]", "reason"], ["[data-certainty]", "certainty"]]) {
      this.part(field).addEventListener("input", (event) => this.write(name, event.target.value));
    }
    for (const radio of box.querySelectorAll("[name=outcome]")) radio.addEventListener("click", () => this.choose(radio));
    this.form?.addEventListener("label:restored", () => this.read());
    this.read();
  }

  changed() {
    const { steps, decisions } = this.made.dump();
    this.field.steps.value = JSON.stringify(steps);
    this.field.decisions.value = JSON.stringify(decisions);
    if (steps.length) this.clear();
    this.show();
    this.form?.dispatchEvent(new CustomEvent("label:changed"));
  }

  // A radio button once more takes its answer back; a marked step is an answer too.
  choose(radio) {
    if (this.outcome === radio.value) this.clear();
    else this.outcome = radio.value;
    this.form?.dispatchEvent(new CustomEvent("label:changed"));
  }

  clear() {
    for (const radio of this.box.querySelectorAll("[name=outcome]")) radio.checked = false;
    this.outcome = "";
  }

  able() {
    const refusal = this.refusal();
    if (refusal) this.tell(refusal);
    return !refusal;
  }

  tell(words) {
    this.part("[data-evidence-said]").textContent = words;
    say(words);
  }

  // What is done

  mark() {
    if (!this.able()) return;
    const isMarked = this.made.steps.has(this.name);
    if (isMarked) this.made.take(this.name);
    else this.made.set(this.name, {});
    this.changed();
    say(`${this.name} ${isMarked ? this.words.sayUnmarked : this.words.sayMarked}`);
  }

  type(type) {
    if (!this.able()) return;
    this.made.set(this.name, { type });
    this.changed();
    say(`${this.name} ${this.title(type)}`);
  }

  write(name, value) {
    if (this.made.steps.has(this.name)) {
      this.made.set(this.name, { [name]: value });
      this.changed();
    }
  }

  decide(decision) {
    if (!this.made.suggestions.has(this.name)) return;
    if (decision === "reject") this.made.reject(this.name);
    else this.made.keep(this.name);
    this.changed();
    const said = { keep: this.words.sayKept, change: this.words.sayChange, reject: this.words.sayRejected }[decision];
    if (decision === "change") this.tell(said);
    else say(`${this.name} ${said}`);
  }

  async nextSuggestion() {
    const { waiting } = this.made;
    if (!waiting.length) return say(this.words.sayDecided);
    const name = waiting[(waiting.indexOf(this.name) + 1) % waiting.length];
    await this.to(name);
  }

  async to(name) {
    const spine = currentSpine();
    let row = spine.row(name);
    if (!row && await spine.jump(Number(name.split("-")[0]))) row = spine.row(name);
    spine.go(row);
  }

  // Evidence

  setEvidence(evidence) {
    this.made.set(this.name, { evidence });
    this.changed();
  }

  noneServes() {
    if (!this.able()) return;
    this.setEvidence(this.evidence()[0] === NONE_SERVES ? [] : [NONE_SERVES]);
    say(`${this.name} ${this.words.sayNoneServes}`);
  }

  typeEvidence(event) {
    const field = event.target;
    if (event.key === "Escape") {
      field.value = "";
      this.row?.focus({ preventScroll: true });
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
      event.preventDefault();
      if (field.value.trim()) this.addTyped(field);
      else this.row?.focus({ preventScroll: true });
    }
  }

  async addTyped(field) {
    if (!this.able()) return;
    const target = this.name;
    const names = await Promise.all(field.value.split(/[,，;；\s]+(?![-–])/).filter(Boolean).map((one) => this.resolved(one)));
    if (names.includes(null) || target !== this.name) return;
    if (!names.every((name) => this.add(name))) return;
    field.value = "";
    this.row?.focus({ preventScroll: true });
  }

  // The name of the step or message that was typed, by its indexes or one of them; null where it names none or several.
  async resolved(typed) {
    const found = NAME.exec(typed);
    if (!found) return this.refuse(this.words.sayNoSuch);
    const [first, second] = [Number(found[1]), found[2] === undefined ? null : Number(found[2])];
    const spine = currentSpine();
    const named = (rows) => {
      const pair = second === null ? null : `${Math.min(first, second)}-${Math.max(first, second)}`;
      const fitting = rows.filter(({ dataset }) => dataset.what !== "call"
        && (pair ? dataset.name === pair : dataset.name.split("-").map(Number).includes(first)));
      return [...new Set(fitting.map(({ dataset }) => dataset.name))];
    };
    let names = named(spine.rows());
    if (!names.length) names = named(await spine.peek(Math.min(first, second ?? first)));
    if (names.includes(String(first))) return String(first);  // a message that says something stands for itself
    if (names.length > 1) return this.refuse(`${this.words.saySeveral} ${names.join(", ")}`);
    return names[0] ?? this.refuse(this.words.sayNoSuch);
  }

  refuse(words) {
    this.tell(words);
    return null;
  }

  add(name) {
    if (name === this.name || this.name.split("-").includes(name)) return this.refuse(this.words.sayItself);
    const names = namesOf(this.evidence()).filter((one) => one.includes("-") && one !== String(NONE_SERVES));
    const isPair = name.includes("-");
    this.setEvidence(isPair ? evidenceOf([...new Set([...names, name])]) : evidenceOf([name]));
    this.tell("");
    say(`${this.words.sayEvidence} ${name}`);
    return true;
  }

  removeEvidence(name) {
    this.setEvidence(evidenceOf(namesOf(this.evidence()).filter((one) => one !== name)));
  }

  // A click on a row while evidence is asked for adds it, and one stays where one is.
  get isAdding() {
    return document.activeElement === this.part("[data-add-evidence]");
  }

  press(event) {
    if (!isFree(event) || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (!["z", "y"].includes(key)) return;
    event.preventDefault();
    if (this.made.turn(key === "z" && !event.shiftKey)) this.changed();
  }
}

let form = null;

function start() {
  const box = document.querySelector('[data-kind="redundancy"][data-suggestions]');
  if (!box) form = null;
  else if (form?.box !== box) form = new Form(box);
  return form;
}

// A press takes the focus away from the field before it becomes a click, so that is held from the press on.
let isAdding = false;
document.addEventListener("pointerdown", (event) => {
  isAdding = Boolean(form?.isAdding) && Boolean(event.target.closest("[data-row]"));
}, true);
document.addEventListener("click", (event) => {
  const row = isAdding && event.target.closest("[data-row]");
  isAdding = false;
  if (!row || row.dataset.what === "call") return;
  event.preventDefault();
  event.stopPropagation();
  if (form.able()) form.add(row.dataset.name);
  form.part("[data-add-evidence]").focus();
}, true);
document.addEventListener("keydown", (event) => start()?.press(event));
document.addEventListener("htmx:afterSettle", start);
document.addEventListener("spine:went", () => start()?.show());
document.addEventListener("spine:rows", () => form?.showRows());
start();
