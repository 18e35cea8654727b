// The triplets of a trajectory with what was decided of its suggestions, and what they were before each change. A step
// or a message is named by its indexes: "4-5", "6".

const byPlace = (one, other) => one.step[0] - other.step[0] || one.step[1] - other.step[1];

export const NONE_SERVES = -1;
export const nameOf = (indexes) => indexes.join("-");
export const indexesOf = (name) => name.split("-").map(Number).sort((one, other) => one - other);

// Evidence as names, and names as evidence: pairs one after another in their order.
export function namesOf(evidence) {
  if (evidence.length < 2) return evidence.map(String);
  return evidence.flatMap((index, place) => (place % 2 ? [] : [`${index}-${evidence[place + 1]}`]));
}

export function evidenceOf(names) {
  return names.map(indexesOf).sort((one, other) => one[0] - other[0] || one[1] - other[1]).flat();
}

// One message, and "no other step", stand for themselves.
const normal = (evidence) => (evidence.length < 2 ? evidence : evidenceOf(namesOf(evidence)));

const isSame = (step, suggestion) => step.type === suggestion.type && nameOf(step.evidence) === nameOf(suggestion.evidence);

export class Triplets {
  constructor(suggestions, steps, decisions) {
    this.suggestions = new Map(suggestions.map((one) => [nameOf(one.step), { ...one, evidence: normal(one.evidence) }]));
    this.steps = new Map(steps.map((one) => [nameOf(one.step), one]));
    this.rejected = new Set(decisions.filter((one) => one.decision === "reject").map((one) => nameOf(one.step)));
    this.done = [];
    this.undone = [];
  }

  // As they are sent. What was suggested and is marked is kept where it is as suggested, else changed.
  dump() {
    const steps = [...this.steps.values()].sort(byPlace).map((step) => ({ ...step, origin: this.origin(step) }));
    const decisions = [...this.suggestions.values()].sort(byPlace).flatMap(({ step }) => {
      const decision = this.decision(nameOf(step));
      return decision ? [{ step, decision }] : [];
    });
    return { steps, decisions };
  }

  origin(step) {
    const suggestion = this.suggestions.get(nameOf(step.step));
    if (!suggestion) return "added";
    return isSame(step, suggestion) ? "kept" : "changed";
  }

  decision(name) {
    const step = this.steps.get(name);
    if (this.suggestions.has(name) && step) return this.origin(step) === "kept" ? "keep" : "change";
    return this.rejected.has(name) ? "reject" : "";
  }

  get waiting() {
    return [...this.suggestions.keys()].filter((name) => !this.decision(name));
  }

  // Every change leaves the old values as they were, so that one can go back to them.
  remember() {
    this.done.push([this.steps, this.rejected]);
    this.undone = [];
    [this.steps, this.rejected] = [new Map(this.steps), new Set(this.rejected)];
  }

  set(name, fields) {
    this.remember();
    const old = this.steps.get(name) ?? { step: indexesOf(name), type: "", evidence: [], reason: "", certainty: "" };
    this.steps.set(name, { ...old, ...fields });
    this.rejected.delete(name);
  }

  take(name) {
    this.remember();
    this.steps.delete(name);
  }

  keep(name) {
    const { type, evidence } = this.suggestions.get(name);
    this.set(name, { type, evidence });
  }

  reject(name) {
    this.take(name);
    this.rejected.add(name);
  }

  turn(isBack) {
    const [from, to] = isBack ? [this.done, this.undone] : [this.undone, this.done];
    if (!from.length) return false;
    to.push([this.steps, this.rejected]);
    [this.steps, this.rejected] = from.pop();
    return true;
  }
}
