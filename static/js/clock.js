// Times of reading: raw since the item was shown, hidden while the page was, active without hidden and idle stretches.
const IDLE_AFTER = 120000;
const NAMES = ["raw_ms", "active_ms", "hidden_ms"];

export class Clock {
  constructor(form) {
    this.form = form;
    this.last = performance.now();
    this.lastInput = this.last;
    this.read();
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      document.addEventListener(name, () => this.touch(), { capture: true, passive: true });
    }
    document.addEventListener("visibilitychange", () => this.advance(document.hidden ? "active" : "hidden"));
  }

  read() {
    this.times = Object.fromEntries(NAMES.map((name) => [name, Number(this.form.elements[name]?.value) || 0]));
  }

  touch() {
    this.advance("active");
    this.lastInput = performance.now();
  }

  // What has passed since the last call was all of one kind. A stretch without input longer than two minutes is idle.
  advance(kind) {
    const now = performance.now();
    const passed = now - this.last;
    this.last = now;
    this.times.raw_ms += passed;
    if (kind === "hidden") this.times.hidden_ms += passed;
    else if (now - this.lastInput <= IDLE_AFTER) this.times.active_ms += passed;
    else this.times.active_ms -= Math.min(this.times.active_ms, Math.max(0, this.last - passed - this.lastInput));
    if (kind === "active" && now - this.lastInput > IDLE_AFTER) this.lastInput = now;
  }

  write() {
    this.advance(document.hidden ? "hidden" : "active");
    for (const name of NAMES) this.form.elements[name].value = Math.round(this.times[name]);
  }
}
