// Keeps an annotator's work: drafts on the server, an unsent copy here, sending again when line or session come back.
// The kind's own script changes fields and says so by a "label:changed" event on the form.
import { Clock } from "./clock.js";
import { saySaving } from "./spoken.js";
import { Unsent, randomKey } from "./unsent.js";

const SAVE_AFTER = 400;
const BEAT_EACH_MINUTE = 20000; // three beats a lease
const RETRY = [2000, 4000, 8000, 15000, 30000];
const FINAL = [400, 404, 413]; // the same would be refused again
const ITS_OWN = ["protocol", "number", "draft_number"]; // of the page, never restored from a copy

const cookie = (name) => document.cookie.split("; ").find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) || "";
const clockTime = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false, timeZone: document.documentElement.dataset.zone });
const post = (address, options) => fetch(address, {
  method: "POST", redirect: "error", headers: { "X-CSRFToken": cookie("csrftoken"), "HX-Request": "true" }, ...options,
});

class Work {
  constructor(form) {
    this.form = form;
    this.number = Number(form.dataset.number);
    this.base = this.draftNumber = Number(form.dataset.draftNumber);
    this.unsent = new Unsent(form.dataset.person, form.dataset.item, this.number);
    this.clock = new Clock(form);
    this.failures = 0;
    this.changes = this.savedChanges = 0;
    for (const name of ["input", "change", "label:changed"]) form.addEventListener(name, () => this.changed());
    form.addEventListener("keydown", (event) => {
      // Enter in a field or on a button of choice submits nothing; Ctrl+Enter does.
      if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
    });
    this.restore();
    this.beatAt = performance.now();
    if (form.dataset.keepMinutes) this.beats = setInterval(() => this.beat(), Number(form.dataset.keepMinutes) * BEAT_EACH_MINUTE);
  }

  // An item from a pool is kept for whom works on it: reading without typing counts, being away does not.
  beat() {
    if (this !== work) return clearInterval(this.beats);
    const isAtWork = !document.hidden && this.clock.lastInput > this.beatAt;
    this.beatAt = performance.now();
    if (isAtWork) this.save();
  }

  fields() {
    this.clock.write();
    const fields = Object.fromEntries(new FormData(this.form));
    delete fields.csrfmiddlewaretoken;
    return fields;
  }

  changed() {
    this.changes += 1;
    this.renewKey();
    this.unsent.keep(this.base, this.fields());
    this.say(this.form.dataset.draftUrl ? "saving" : "kept");
    this.soon(() => this.save(), SAVE_AFTER);
  }

  // An answer that was sent and not acknowledged may be stored. What is typed after that is another answer, so it gets
  // another key, and is not sent before it is submitted again.
  renewKey() {
    if (!this.wasSent) return;
    this.form.elements.key.value = randomKey();
    if (this.submitAgain) this.notice(this.form.dataset.sayAgain);
    this.wasSent = this.submitAgain = false;
    clearTimeout(this.submitTimer);
  }

  soon(action, wait) {
    clearTimeout(this.saveTimer);
    this.saveTimer = setTimeout(action, wait);
  }

  wait() {
    this.failures += 1;
    return RETRY[Math.min(this.failures, RETRY.length) - 1];
  }

  // Copies of earlier visits

  restore() {
    const copy = this.unsent.find();
    if (!copy?.fields) return;
    if (copy.base >= this.draftNumber) return this.use(copy);
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: this.form.dataset.sayUse });
    button.addEventListener("click", () => this.use(copy));
    this.notice(this.form.dataset.sayOlder, button);
  }

  use(copy) {
    if (copy.place !== this.unsent.place) this.unsent.forget(copy.place);
    for (const field of this.form.elements) {
      if (!field.name || ITS_OWN.includes(field.name) || field.name === "csrfmiddlewaretoken") continue;
      if (field.type === "radio") field.checked = copy.fields[field.name] === field.value;
      else if (field.type === "checkbox") field.checked = field.name in copy.fields;
      else if (field.name in copy.fields) field.value = copy.fields[field.name];
    }
    this.clock.read();
    this.form.dispatchEvent(new CustomEvent("label:restored"));
    this.notice(this.form.dataset.sayRestored);
    this.changed();
  }

  // Drafts: one on its way at a time

  async save({ leaving = false } = {}) {
    clearTimeout(this.saveTimer);
    if (!this.form.dataset.draftUrl || this.isSubmitting || this.saving || this !== work) return;
    const changes = this.changes;
    this.draftNumber += 1;
    const sent = this.draftNumber;
    const draft = { number: this.number, draft_number: sent, fields: this.fields() };
    this.saving = new AbortController();
    let answer = null;
    try {
      const body = new URLSearchParams({ draft: JSON.stringify(draft) });
      answer = await post(this.form.dataset.draftUrl, { body, keepalive: leaving, signal: this.saving.signal });
    } catch { /* the line is down, or a submit took its place */ }
    this.saving = null;
    if (this !== work || this.isSubmitting) return;
    if (!answer) this.failed("down");
    else if (answer.ok) this.saved(changes, sent);
    else if (answer.status === 401) this.signedOut();
    else if (answer.status === 409) this.say((await answer.json()).code === "place_gone" ? "gone" : "elsewhere");
    else if (FINAL.includes(answer.status)) this.say("refused");
    else this.failed("refused");
  }

  saved(changes, sent) {
    this.failures = 0;
    this.base = sent;
    this.savedChanges = changes;
    if (changes !== this.changes) return this.save();
    this.unsent.forget();
    if (this.noticed === this.form.dataset.sayRestored) this.notice("");
    if (!this.submitAgain) this.say("saved", clockTime());
  }

  failed(what) {
    this.say(what);
    this.soon(() => this.save(), this.wait());
  }

  // The session

  signedOut() {
    this.say("signedOut");
    this.notice(this.form.dataset.saySignedOut, this.signInLink());
    this.waitsForSession = true;
  }

  signInLink() {
    return Object.assign(document.createElement("a"), {
      href: this.form.dataset.signInUrl, target: "_blank", textContent: this.form.dataset.saySignIn,
    });
  }

  async resume() {
    if (!this.waitsForSession) return;
    let answer = null;
    try { answer = await post(this.form.dataset.aliveUrl); } catch { return; }
    if (!answer.ok || this !== work) return;
    this.waitsForSession = false;
    this.notice("");
    if (this.submitAgain) this.form.requestSubmit();
    else this.save();
  }

  // Words

  say(what, more = "") {
    const state = document.getElementById("save-state");
    if (!state) return;
    const isUnsaved = !["saved", "saving", "kept"].includes(what);
    state.classList.toggle("is-unsaved", isUnsaved);
    state.textContent = `${this.form.dataset[`say${what[0].toUpperCase()}${what.slice(1)}`] || ""} ${more}`.trim();
    if (what !== "saving") saySaving(state.textContent, isUnsaved);
  }

  notice(text, more = null) {
    const notice = document.getElementById("notice");
    const hadFocus = notice.contains(document.activeElement);
    notice.replaceChildren(text, ...(more ? [" ", more] : []));
    notice.hidden = !text;
    if (hadFocus) focusOn(document.getElementById("reply-text"));
    this.noticed = text;
  }

  // The answer itself: htmx sends it, these are its ends.

  beforeSubmit(parameters) {
    this.isSubmitting = this.wasSent = true;
    this.submitAgain = false;
    clearTimeout(this.saveTimer);
    clearTimeout(this.submitTimer);
    this.saving?.abort();
    this.draftNumber += 1;
    const fields = this.fields();
    this.unsent.keep(this.base, fields);
    for (const name of ["key", "raw_ms", "active_ms", "hidden_ms"]) parameters.set(name, fields[name]);
    parameters.set("draft_number", this.draftNumber);
    this.say("saving");
  }

  submitted() {
    this.unsent.forget();
    this.notice("");
  }

  submitRefused() {
    this.isSubmitting = this.wasSent = false;
    this.save();
  }

  // Something is stored already. What stands here goes on as a correction of it, if one wants that.
  overtaken(number) {
    this.isSubmitting = this.wasSent = false;
    document.getElementById("notice").hidden = false;
    this.say("elsewhere");
    if (number > this.number) this.unsent.moveTo(number, this.fields());
  }

  // The item was taken back and given on; what was typed stays.
  placeGone() {
    this.isSubmitting = this.wasSent = false;
    document.getElementById("notice").hidden = false;
    this.say("gone");
  }

  submitFailed(status) {
    this.isSubmitting = false;
    if (FINAL.includes(status)) return this.say("refused");
    this.submitAgain = true;
    if (status === 401) return this.signedOut();
    this.say(status ? "refused" : "down");
    this.submitTimer = setTimeout(() => this === work && this.submitAgain && this.form.requestSubmit(), this.wait());
  }
}

let work = null;

function start() {
  const form = document.getElementById("label-form");
  if (!form) work = null;
  else if (work?.form !== form) work = new Work(form);
  const seen = document.querySelector("[data-scroll-to-end]:not([data-scrolled])");
  if (!seen) return;
  seen.dataset.scrolled = "";
  seen.scrollTop = seen.scrollHeight;
}

function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1; // a heading, where nothing is left to read
  element.focus({ preventScroll: true });
}

// Which form a request of htmx came from; some of its events are told to the target instead.
const source = (event) => event.detail.requestConfig?.elt ?? event.detail.elt;
const isSubmit = (event) => Boolean(work) && source(event) === work.form;
const isProblem = (event) => source(event) instanceof Element && Boolean(source(event).closest("#problem"));

function sayInProblem(event) {
  const status = event.detail.xhr.status;
  const { dataset } = work?.form ?? {};
  const state = document.getElementById("problem-state");
  if (!state || !dataset) return;
  state.textContent = status === 401 ? dataset.saySignedOut : status ? dataset.sayRefused : dataset.sayDown;
  if (status === 401) state.append(" ", work.signInLink());
}

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.formData.set("csrfmiddlewaretoken", cookie("csrftoken"));
  event.detail.headers["X-CSRFToken"] = cookie("csrftoken");
  if (isSubmit(event)) work.beforeSubmit(event.detail.formData);
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { status } = event.detail.xhr;
  if (isProblem(event) && status !== 422) document.getElementById("problem").close();
  if (!isSubmit(event)) return;
  if (status === 200) work.submitted();
  if (status === 422) work.submitRefused();
});
document.addEventListener("htmx:sendError", (event) => {
  if (isSubmit(event)) work.submitFailed(0);
  if (isProblem(event)) sayInProblem(event);
});
document.addEventListener("htmx:responseError", (event) => {
  const isSwapped = [409, 422].includes(event.detail.xhr.status);
  if (isSubmit(event) && !isSwapped) work.submitFailed(event.detail.xhr.status);
  if (isProblem(event) && !isSwapped) sayInProblem(event);
});
document.addEventListener("htmx:afterSettle", (event) => {
  start();
  const { target } = event.detail;
  const stored = target?.id === "notice" && target.querySelector("[data-number]");
  if (stored) work?.overtaken(Number(stored.dataset.number));
  if (target?.id === "notice" && target.querySelector("[data-gone]")) work?.placeGone();
  if (target?.id === "item") focusOn(document.getElementById("reply-text") ?? document.querySelector("#item h2"));
});
for (const [target, name] of [[window, "focus"], [window, "online"], [document, "visibilitychange"]]) {
  target.addEventListener(name, () => work?.resume());
}
window.addEventListener("pagehide", () => { if (work && work.changes !== work.savedChanges) work.save({ leaving: true }); });
start();
