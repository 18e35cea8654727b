// What a screen reader hears beside what it reads: a live region that outlives every swap. Each sentence is a line of
// its own, so that the same words said twice are heard twice.
const KEPT = 3;
const CALM = 1200;  // no word on saving before typing has paused for so long
const MOST = 160;

const region = () => document.getElementById("spoken");

let timer = null;

export function say(words) {
  clearTimeout(timer);
  const home = region();
  if (!home || !words) return;
  home.append(Object.assign(document.createElement("span"), { textContent: words }));
  while (home.childElementCount > KEPT) home.firstElementChild.remove();
}

// Of the page's own phrases, in the interface language.
export const phrase = (name) => region()?.dataset[`say${name[0].toUpperCase()}${name.slice(1)}`] ?? "";

// The last of what is said in quick succession: a held key speaks when it is let go.
export function sayLast(words, after = 150) {
  clearTimeout(timer);
  timer = setTimeout(() => say(words), after);
}

// How saving stands: once while it stays the same, in a pause; that something is not saved, at once.
let told = "";
let calm = null;
export function saySaving(words, isUnsaved) {
  clearTimeout(calm);
  const tell = () => {
    if (words !== told) say(words);
    told = words;
  };
  if (isUnsaved) tell();
  else calm = setTimeout(tell, CALM);
}

// A long passage by its beginning and end.
export function shortened(words, most = MOST) {
  const characters = [...words];
  if (characters.length <= most) return words;
  const part = Math.floor(most / 2);
  return `${characters.slice(0, part).join("")} … ${characters.slice(-part).join("")}`;
}

// The text of a piece as one would read it out: without what is hidden from readers, a stop after each block.
function textOf(element) {
  const copy = element?.cloneNode(true);
  if (!copy) return "";
  for (const hidden of copy.querySelectorAll("[aria-hidden=true]")) hidden.remove();
  for (const block of copy.querySelectorAll("p, li, div, dt, dd")) block.append(". ");
  return copy.textContent.replace(/\s+/g, " ").replace(/\s*([.。]\s*)+/g, "$1").trim();
}

let arrival = null;

// The next item has come: what became of the last one, and where one is now. After the focus, which would cut it off.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "item") return;
  told = textOf(document.getElementById("save-state"));
  const states = [...document.querySelectorAll("#item [role=status]")].map(textOf);
  const where = document.getElementById(document.getElementById("reply-text") ? "where" : "item");
  const said = [...states, textOf(where.querySelector("h2") ?? where)].filter(Boolean);
  clearTimeout(arrival);
  arrival = setTimeout(() => say(said.join(". ").replace(/([.。])\. /g, "$1 ")), 200);
});
