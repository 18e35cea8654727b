// The marks of one reply in the order they were made, and what they were before each change.

const isSame = (one, other) => one.start === other.start && one.end === other.end && one.type === other.type;
const byPlace = (one, other) => one.start - other.start || one.end - other.end;

export class Marks {
  constructor(spans) {
    this.made = spans;
    this.undone = [];
    this.done = [];
  }

  // As they are stored and listed.
  get spans() {
    return [...this.made].sort(byPlace);
  }

  get last() {
    return this.made.at(-1);
  }

  add(span) {
    if (this.made.some((other) => isSame(other, span))) return false;
    this.change([...this.made, span]);
    return true;
  }

  remove(span) {
    this.change(this.made.filter((other) => other !== span));
  }

  change(made) {
    this.done.push(this.made);
    this.undone = [];
    this.made = made;
  }

  undo() {
    return this.turn(this.done, this.undone);
  }

  redo() {
    return this.turn(this.undone, this.done);
  }

  // The mark that came or went by going one change back or forth: {span, isThere}; null where there is none to go.
  turn(from, to) {
    if (!from.length) return null;
    const before = this.made;
    to.push(before);
    this.made = from.pop();
    const isThere = this.made.length > before.length;
    const [more, fewer] = isThere ? [this.made, before] : [before, this.made];
    return { span: more.find((span) => !fewer.includes(span)), isThere };
  }
}
