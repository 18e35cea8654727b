// Times of reading, in milliseconds: raw since the item was shown; hidden while the page was; active without hidden
// time and without what goes beyond two minutes since the last key, pointer or scroll.
const IDLE_AFTER = 120000;
const NAMES = ["raw_ms", "active_ms", "hidden_ms"];

let current = null;

export class Clock {
  constructor(form) {
    this.form = form;
    this.read();
    current = this;
  }

  // Goes on from what the form holds, which is what an earlier visit of the same item had measured.
  read() {
    [this.raw, this.active, this.hidden] = NAMES.map((name) => Number(this.form.elements[name]?.value) || 0);
    this.begun = this.lastInput = performance.now();
    this.hiddenSince = document.hidden ? this.begun : null;
  }

  sinceInput(now) {
    return this.hiddenSince === null ? Math.min(now - this.lastInput, IDLE_AFTER) : 0;
  }

  touch() {
    const now = performance.now();
    this.active += this.sinceInput(now);
    this.lastInput = now;
  }

  turn(isHidden) {
    const now = performance.now();
    if (isHidden) {
      this.touch();
      this.hiddenSince = now;
    } else if (this.hiddenSince !== null) {
      this.hidden += now - this.hiddenSince;
      this.hiddenSince = null;
      this.lastInput = now;
    }
  }

  write() {
    const now = performance.now();
    const times = [
      this.raw + now - this.begun,
      this.active + this.sinceInput(now),
      this.hidden + (this.hiddenSince === null ? 0 : now - this.hiddenSince),
    ];
    NAMES.forEach((name, place) => { this.form.elements[name].value = Math.round(times[place]); });
  }
}

for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
  document.addEventListener(name, () => current?.touch(), { capture: true, passive: true });
}
document.addEventListener("visibilitychange", () => current?.turn(document.hidden));
