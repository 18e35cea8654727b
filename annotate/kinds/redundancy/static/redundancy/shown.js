// What the form says of the step that one is at, of all marked ones, and of the rows beside it.
import { currentSpine } from "../js/spine.js";
import { NONE_SERVES, Triplets, namesOf } from "./triplets.js";

const list = (text) => {
  try { return [].concat(JSON.parse(text || "[]")); } catch { return []; }
};
const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

export class Shown {
  constructor(box) {
    this.box = box;
    this.words = box.dataset;
    this.spoken = new Set();
  }

  part(selector) {
    return this.box.querySelector(selector);
  }

  get field() {
    return { steps: this.part("[name=steps]"), decisions: this.part("[name=decisions]") };
  }

  read() {
    const { steps, decisions } = this.field;
    this.made = new Triplets(list(this.words.suggestions), list(steps.value), list(decisions.value));
    this.outcome = this.part("[name=outcome]:checked")?.value ?? "";
    this.show();
  }

  evidence() {
    return this.made.steps.get(this.name)?.evidence ?? [];
  }

  // What one is at

  get row() {
    return currentSpine()?.current ?? null;
  }

  get name() {
    return this.row?.dataset.name ?? "";
  }

  // Why the row that one is at cannot be marked; "" where it can.
  refusal(row = this.row) {
    if (!row) return this.words.sayNoStep;
    const { what, side } = row.dataset;
    if (what === "message") return this.words.sayMessage;
    if (what === "call") return this.words.sayOpen;
    return side === "user" ? this.words.sayUsers : "";
  }

  title(type) {
    return this.part(`[data-type="${CSS.escape(type)}"] span`)?.textContent ?? "";
  }

  show() {
    this.showStep();
    this.showMarked();
    this.showRows();
  }

  showStep() {
    const { row } = this;
    const panel = this.part("[data-this-step]");
    panel.hidden = !row;
    if (!row) return;
    const step = this.made.steps.get(this.name);
    this.part("[data-step-title]").textContent = `${this.name} ${row.dataset.tool ?? ""}`;
    const refusal = this.refusal(row);
    for (const field of panel.querySelectorAll("button, input, select")) field.disabled = Boolean(refusal);
    this.part("[data-evidence-said]").textContent = refusal;
    this.pressed("[data-mark-step]", Boolean(step));
    for (const button of this.box.querySelectorAll("[data-type]")) button.setAttribute("aria-pressed", String(step?.type === button.dataset.type));
    this.pressed("[data-none-serves]", step?.evidence[0] === NONE_SERVES);
    const reason = this.part("[data-reason]");
    if (document.activeElement !== reason) reason.value = step?.reason ?? "";
    this.part("[data-certainty]").value = step?.certainty ?? "";
    for (const field of panel.querySelectorAll("[data-reason], [data-certainty]")) field.disabled = !step;
    this.showSuggestion();
    this.showEvidence(step);
  }

  pressed(selector, isPressed) {
    this.part(selector).setAttribute("aria-pressed", String(isPressed));
  }

  showSuggestion() {
    const suggestion = this.made.suggestions.get(this.name);
    const line = this.part("[data-suggested]");
    line.hidden = !suggestion;
    if (!suggestion) return;
    const rules = (suggestion.rules ?? []).map((rule) => (rule === "identical" ? this.words.sayIdentical : `${this.words.sayErrorKeyword} “${suggestion.keyword}”`));
    this.part("[data-suggested-words]").textContent = `${this.stateOf(this.name)}: ${this.title(suggestion.type)}, ${this.saidEvidence(suggestion.evidence)} (${rules.join("; ")})`;
    const decision = this.made.decision(this.name);
    for (const button of this.box.querySelectorAll("[data-decide]")) button.setAttribute("aria-pressed", String(button.dataset.decide === decision));
  }

  stateOf(name) {
    return { keep: this.words.sayKept, change: this.words.sayChanged, reject: this.words.sayRejected }[this.made.decision(name)] ?? this.words.sayWaiting;
  }

  saidEvidence(evidence) {
    if (!evidence.length) return this.words.sayNoEvidence;
    return evidence[0] === NONE_SERVES ? this.words.sayNoneServes : `${this.words.sayEvidence} ${namesOf(evidence).join(", ")}`;
  }

  showEvidence(step) {
    const names = namesOf(step?.evidence ?? []).filter((name) => name !== String(NONE_SERVES));
    this.part("[data-evidence]").replaceChildren(...names.map((name) => this.chip(name, {
      go: () => this.to(name), remove: () => this.removeEvidence(name),
    })));
  }

  chip(name, { go, remove, more = [] }) {
    const to = element("button", { type: "button", className: "plain go" }, name, ...more);
    const away = element("button", { type: "button", className: "plain", title: this.words.sayRemove }, "✕");
    away.setAttribute("aria-label", `${this.words.sayRemove}: ${name}`);
    to.addEventListener("click", go);
    away.addEventListener("click", remove);
    const chip = element("li", { className: "chip" }, to, away);
    chip.dataset.of = name;
    return chip;
  }

  showMarked() {
    const steps = this.made.dump().steps;
    this.part("[data-marked]").replaceChildren(...steps.map((step) => {
      const name = step.step.join("-");
      return this.chip(name, {
        go: () => this.to(name), remove: () => { this.made.take(name); this.changed(); },
        more: [` ${step.type || "?"} · ${step.evidence.length ? this.short(step.evidence) : "?"}`],
      });
    }));
    const { waiting, suggestions } = this.made;
    const next = this.part("[data-next-suggestion]");
    next.hidden = !suggestions.size;
    this.part("[data-n-waiting]").textContent = `${suggestions.size - waiting.length}/${suggestions.size}`;
  }

  short(evidence) {
    return evidence[0] === NONE_SERVES ? "–" : namesOf(evidence).join(", ");
  }

  // Only the rows of which there is something to say, and those of which there was.
  showRows() {
    const spine = currentSpine();
    if (!spine) return;
    const evidence = new Set(namesOf(this.evidence()));
    const spoken = new Set([...this.made.steps.keys(), ...this.made.suggestions.keys(), ...evidence]);
    for (const name of new Set([...spoken, ...this.spoken])) {
      for (const row of spine.named(name)) if (row.dataset.what !== "call") this.showRow(row, name, evidence.has(name));
    }
    this.spoken = spoken;
  }

  showRow(row, name, isEvidence) {
    const step = this.made.steps.get(name);
    const suggestion = this.made.suggestions.get(name);
    const said = row.querySelector("[data-said-of]");
    const words = step ? `${step.type || this.words.sayNoType} ${step.evidence.length ? this.short(step.evidence) : ""}`
      : suggestion ? `${suggestion.type}? ${this.stateOf(name)}` : "";
    if (said.textContent !== words) said.textContent = words;
    row.classList.toggle("is-marked", Boolean(step));
    row.classList.toggle("is-suggested", Boolean(suggestion) && !this.made.decision(name));
    row.classList.toggle("is-evidence", isEvidence);
  }
}
