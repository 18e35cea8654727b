// A trace that is shown whole: its rows by parts, the one that is looked at in full beside them, and search over all of
// it. Which row that is says a "spine:went" event on the document, which rows are there a "spine:rows" event.
import { isFree, isPlain } from "./keys.js";
import { say } from "./spoken.js";

const BEFORE = 20; // so that the call of a result that follows among others is there too

const get = async (address) => {
  const answer = await fetch(address, { headers: { "HX-Request": "true" }, redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  return Object.assign(document.createElement("template"), { innerHTML: await answer.text() }).content;
};

function grouped(rows) {
  const found = new Map();
  for (const row of rows) found.set(row.dataset.name, [...(found.get(row.dataset.name) ?? []), row]);
  return found;
}

export class Spine {
  constructor(list) {
    this.list = list;
    this.box = list.closest("#item, .item") ?? document.body;
    this.shown = this.box.querySelector("[data-shown]");
    this.current = null;
    list.classList.add("is-walked");
    for (const button of this.box.querySelectorAll("[data-step-back], [data-step-on]")) button.hidden = false;
    this.on("[data-step-back]", "click", () => this.step(-1));
    this.on("[data-step-on]", "click", () => this.step(1));
    this.on("[data-search]", "submit", (event) => this.search(event));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.byName = new Map();
  }

  begin() {
    this.listed();
    this.go(this.rows().find((row) => row.dataset.what === "step") ?? this.rows()[0], { isQuiet: true });
  }

  on(selector, name, action) {
    this.box.querySelector(selector)?.addEventListener(name, action);
  }

  rows() {
    return [...this.list.querySelectorAll("[data-row]")];
  }

  // The rows that are called so: of a step its own, then that of its result.
  named(name) {
    return this.byName.get(name) ?? [];
  }

  row(name) {
    return this.named(name)[0] ?? null;
  }

  // Asked at every key, so it is kept and not looked for among thousands.
  listed() {
    this.byName = grouped(this.rows());
    for (const { dataset } of document.querySelectorAll("[data-names]")) {
      for (const row of this.named(dataset.names)) row.classList.add("is-named");
    }
    document.dispatchEvent(new CustomEvent("spine:rows"));
  }

  // Walking

  go(row, { isQuiet = false } = {}) {
    if (!row) return;
    this.current?.classList.remove("is-current");
    this.current?.removeAttribute("aria-current");
    this.current = row;
    row.classList.add("is-current");
    row.setAttribute("aria-current", "true");
    if (!isQuiet) {
      row.focus({ preventScroll: true });
      row.scrollIntoView({ block: "nearest" });
    }
    this.show(row);
    document.dispatchEvent(new CustomEvent("spine:went", { detail: { row } }));
  }

  show(row) {
    const head = row.querySelector(".entry-head").cloneNode(true);
    head.querySelector("[data-said-of]")?.remove();
    this.shown?.replaceChildren(head, ...row.querySelector(".entry-body").cloneNode(true).childNodes);
    if (this.shown) this.shown.scrollTop = 0;
  }

  // To the next step, or the next row of any sort; what is not loaded yet is.
  async step(by, isAny = false) {
    const from = this.current;
    const found = this.beside(by, isAny);
    if (found) return this.go(found);
    if (await this.more(by > 0 ? "after" : "before") && from === this.current) await this.step(by, isAny);
  }

  beside(by, isAny) {
    let row = this.current;
    do row = by > 0 ? row?.nextElementSibling : row?.previousElementSibling;
    while (row && (!("row" in row.dataset) || !(isAny || row.dataset.what === "step")));
    return row ?? null;
  }

  press(event) {
    if (!isPlain(event) || !isFree(event)) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? (event.repeat && { j: 1, k: -1 }[event.key]);
    if (!by) return;
    event.preventDefault();
    this.step(by, event.key.startsWith("Arrow"));
  }

  click(event) {
    const rest = event.target.closest("[data-rest]");
    const from = event.target.closest("[data-from]");
    if (!rest && !from) {
      const row = event.target.closest("[data-row]");
      if (row && !getSelection().toString()) this.go(row);
      return;
    }
    event.preventDefault();
    if (rest) this.rest(rest);
    else if (from.closest("[data-more]")) this.more(from.closest("[data-more]").dataset.more);
    else this.jump(Number(from.dataset.from));
  }

  // Parts

  async asked(address) {
    try {
      return await get(address);
    } catch {
      say(this.list.dataset.sayDown);
      this.found(this.list.dataset.sayDown);
      return null;
    }
  }

  address(query) {
    return `${this.list.dataset.entries}?${new URLSearchParams(query)}`;
  }

  // The part before or after those that are there; whether there was one.
  more(where) {
    this.loading ??= this.load(where).finally(() => { this.loading = null; });
    return this.loading;
  }

  async load(where) {
    const line = this.list.querySelector(`:scope > [data-more="${where}"]`);
    if (!line) return false;
    const part = await this.asked(this.address({ from: line.querySelector("[data-from]").dataset.from }));
    if (!part || !line.isConnected) return false;
    part.querySelector(`[data-more="${where === "after" ? "before" : "after"}"]`)?.remove();
    const there = new Set(this.rows().map((row) => row.id));
    for (const row of part.querySelectorAll("[data-row]")) if (there.has(row.id)) row.remove();
    const isEmpty = !part.querySelector("[data-row]");
    const height = this.list.scrollHeight;
    line.replaceWith(part);
    if (where === "before") this.list.scrollTop += this.list.scrollHeight - height;
    this.listed();
    return !isEmpty;
  }

  // To the message at an index, wherever it is.
  async jump(index) {
    const row = this.at(index) ?? (await this.replace(index) && this.at(index));
    if (row) this.go(row);
    return row || null;
  }

  at(index) {
    return this.rows().find((row) => Number(row.dataset.at) === index)
      ?? this.rows().find((row) => row.dataset.name.split("-").map(Number).includes(index));
  }

  async replace(index) {
    if (index > Number(this.list.dataset.end)) return false;
    const part = await this.asked(this.address({ from: Math.max(0, index - BEFORE) }));
    if (!part) return false;
    this.list.replaceChildren(part);
    this.listed();
    return true;
  }

  // The rows of a part that need not be shown.
  async peek(index) {
    const part = index <= Number(this.list.dataset.end) ? await this.asked(this.address({ from: Math.max(0, index - BEFORE) })) : null;
    return part ? [...part.querySelectorAll("[data-row]")] : [];
  }

  async rest(link) {
    const part = await this.asked(link.getAttribute("href"));
    const more = part?.querySelector("[data-long]");
    if (more && link.isConnected) link.replaceWith(...more.childNodes);
  }

  // Search

  found(content) {
    this.box.querySelector("[data-found]")?.replaceChildren(content);
  }

  async search(event) {
    event.preventDefault();
    const words = event.target.elements.q.value.trim();
    if (/^\d{1,9}$/.test(words) && Number(words) <= Number(this.list.dataset.end) && await this.jump(Number(words))) return;
    this.found(words ? await this.asked(this.address({ q: words })) ?? "" : "");
    this.box.querySelector("[data-found] [data-from]")?.focus();
  }
}

let spine = null;

export function currentSpine() {
  const list = document.querySelector("[data-spine]");
  if (!list) spine = null;
  else if (spine?.list !== list) {
    spine = new Spine(list);
    spine.begin();
  }
  return spine;
}

// What leads to a message may stand anywhere on the page, such as beside the answers of several people.
document.addEventListener("click", (event) => { if (!event.defaultPrevented) currentSpine()?.click(event); });
document.addEventListener("htmx:afterSettle", currentSpine);
currentSpine();
