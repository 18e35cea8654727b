// What every page has: theme switch, dialogs, keys. State stays on the server.
import { hasUnsent } from "./unsent.js";

const THEMES = ["", "light", "dark"];

function switchTheme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "") + 1) % THEMES.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  try {
    if (next) localStorage.setItem("sightline:theme", next);
    else localStorage.removeItem("sightline:theme");
  } catch { /* storage is off: the choice lasts as long as the page */ }
}

export function isTyping(target) {
  return target instanceof Element && Boolean(target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])"));
}

function pressKey(event) {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = document.getElementById("label-form");
    if (form && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
}

// Times come from the server; everybody reads them on their own clock.
function setClocks() {
  for (const time of document.querySelectorAll("time[data-clock]:not([data-set])")) {
    const at = new Date(time.dateTime);
    const [hours, minutes] = [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, "0"));
    const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
    time.textContent = time.dataset.clock === "date" ? `${day} ${hours}:${minutes}` : `${hours}:${minutes}`;
    time.dataset.set = "";
  }
}

document.addEventListener("htmx:afterSettle", setClocks);
setClocks();
document.addEventListener("submit", (event) => {
  const question = event.target.dataset?.signOut;
  if (question && hasUnsent() && !confirm(question)) event.preventDefault();
});
document.addEventListener("keydown", pressKey);
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens)?.showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog")?.close();
  if (event.target.closest("[data-theme-switch]")) switchTheme();
});
