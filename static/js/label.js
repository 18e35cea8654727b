// Keeps an annotator's work: drafts on the server, an unsent copy here, sending again when line or session come back.
// The kind's own script changes fields and says so by a "label:changed" event on the form.
import { Clock } from "./clock.js";

const SAVE_AFTER = 400;
const RETRY = [2000, 4000, 8000, 15000, 30000];
const FINAL = [400, 404, 413];  // the same answer would be refused again

const cookie = (name) => document.cookie.split("; ").find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) || "";
const clockTime = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

class Work {
  constructor(form) {
    this.form = form;
    this.number = Number(form.dataset.number);
    this.draftNumber = Number(form.dataset.draftNumber);
    this.place = `sightline:unsent:${form.dataset.person}:${form.dataset.item}:${this.number}`;
    this.clock = new Clock(form);
    this.failures = 0;
    this.changes = 0;
    this.isSubmitting = false;
    this.restore();
    for (const name of ["input", "change", "label:changed"]) form.addEventListener(name, () => this.changed());
  }

  fields() {
    this.clock.write();
    const fields = Object.fromEntries(new FormData(this.form));
    delete fields.csrfmiddlewaretoken;
    return fields;
  }

  changed() {
    this.changes += 1;
    this.keep();
    this.say("saving");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_AFTER);
  }

  keep() {
    try { localStorage.setItem(this.place, JSON.stringify(this.fields())); } catch { /* storage is off or full: the page still has it */ }
  }

  forget() {
    try { localStorage.removeItem(this.place); } catch { /* nothing was kept */ }
  }

  restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(this.place)); } catch { /* unreadable: nothing to restore */ }
    if (!kept) return;
    for (const [name, value] of Object.entries(kept)) {
      if (["protocol", "number", "draft_number"].includes(name)) continue;
      for (const field of this.form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (field.type === "radio" || field.type === "checkbox") field.checked = field.type === "radio" ? field.value === value : true;
        else field.value = value;
      }
    }
    this.clock.read();
    this.form.dispatchEvent(new CustomEvent("label:restored"));
    this.notice(this.form.dataset.sayRestored);
    this.changed();
  }

  async save({ leaving = false } = {}) {
    clearTimeout(this.timer);
    if (this.isSubmitting || !this.form.isConnected) return;
    const changes = this.changes;
    this.draftNumber += 1;
    const draft = { number: this.number, draft_number: this.draftNumber, fields: this.fields() };
    const body = new URLSearchParams({ draft: JSON.stringify(draft) });
    let answer = null;
    try {
      answer = await fetch(this.form.dataset.draftUrl, {
        method: "POST", body, keepalive: leaving, redirect: "error",
        headers: { "X-CSRFToken": cookie("csrftoken"), "HX-Request": "true" },
      });
    } catch { /* the line is down */ }
    if (!answer) return this.failed("down");
    if (answer.ok) return this.saved(changes);
    if (answer.status === 401) return this.signedOut();
    if (answer.status === 409) return this.say("elsewhere");
    if (FINAL.includes(answer.status)) return this.say("refused");
    this.failed("refused");
  }

  saved(changes) {
    this.failures = 0;
    if (changes !== this.changes) return;
    this.forget();
    this.notice("");
    this.say("saved", clockTime());
  }

  failed(what, again = () => this.save()) {
    this.say(what);
    const wait = RETRY[Math.min(this.failures, RETRY.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(again, wait);
  }

  signedOut() {
    this.say("signedOut");
    const link = document.createElement("a");
    link.href = this.form.dataset.signInUrl;
    link.target = "_blank";
    link.textContent = this.form.dataset.saySignIn;
    this.notice(this.form.dataset.saySignedOut, link);
    this.waitsForSession = true;
  }

  async resume() {
    if (!this.waitsForSession) return;
    let answer = null;
    try {
      answer = await fetch(this.form.dataset.aliveUrl, { method: "POST", headers: { "X-CSRFToken": cookie("csrftoken"), "HX-Request": "true" } });
    } catch { return; }
    if (!answer.ok) return;
    this.waitsForSession = false;
    this.notice("");
    if (this.submitAgain) this.form.requestSubmit();
    else this.save();
  }

  say(what, more = "") {
    const state = document.getElementById("save-state");
    if (!state) return;
    state.classList.toggle("is-unsaved", !["saved", "saving"].includes(what));
    state.textContent = `${this.form.dataset[`say${what[0].toUpperCase()}${what.slice(1)}`] || ""} ${more}`.trim();
  }

  notice(text, link = null) {
    const notice = document.getElementById("notice");
    notice.replaceChildren(text, ...(link ? [" ", link] : []));
    notice.hidden = !text;
  }

  // Sending the answer itself is htmx's; these are its ends.

  beforeSubmit(parameters) {
    this.isSubmitting = true;
    clearTimeout(this.timer);
    this.draftNumber += 1;
    this.keep();
    const fields = this.fields();
    for (const name of ["raw_ms", "active_ms", "hidden_ms"]) parameters.set(name, fields[name]);
    parameters.set("draft_number", this.draftNumber);
    this.say("saving");
  }

  submitFailed(status) {
    this.isSubmitting = false;
    this.submitAgain = true;
    if (status === 401) return this.signedOut();
    if (FINAL.includes(status)) return this.say("refused");
    this.failed(status ? "refused" : "down", () => this.form.isConnected && this.form.requestSubmit());
  }
}

let work = null;

function start() {
  const form = document.getElementById("label-form");
  if (form && work?.form !== form) work = new Work(form);
  if (!form) work = null;
  const seen = document.querySelector("[data-scroll-to-end]");
  if (seen && !seen.dataset.scrolled) {
    seen.dataset.scrolled = "1";
    seen.scrollTop = seen.scrollHeight;
  }
}

const isSubmit = (event) => work && event.detail.elt === work.form;

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.parameters.set?.("csrfmiddlewaretoken", cookie("csrftoken"));
  event.detail.headers["X-CSRFToken"] = cookie("csrftoken");
  if (isSubmit(event)) work.beforeSubmit(event.detail.formData);
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!work || !event.detail.requestConfig) return;
  const { status } = event.detail.xhr;
  if (isSubmit(event)) {
    work.isSubmitting = false;
    if (status === 200) {
      work.forget();
      work.notice("");
    }
    if (status === 422) work.save();
  }
  if (status === 409) {
    document.getElementById("notice").hidden = false;
    work.say("elsewhere");
  }
});
document.addEventListener("htmx:sendError", (event) => { if (isSubmit(event)) work.submitFailed(0); });
document.addEventListener("htmx:responseError", (event) => {
  if (isSubmit(event) && event.detail.xhr.status !== 409) work.submitFailed(event.detail.xhr.status);
});
document.addEventListener("htmx:afterSettle", (event) => {
  start();
  if (event.detail.target?.id === "item" || event.detail.elt?.id === "item") document.getElementById("reply-text")?.focus({ preventScroll: true });
});
for (const [target, name] of [[window, "focus"], [window, "online"], [document, "visibilitychange"]]) {
  target.addEventListener(name, () => work?.resume());
}
window.addEventListener("pagehide", () => { if (work?.timer && work.changes) work.save({ leaving: true }); });
start();
