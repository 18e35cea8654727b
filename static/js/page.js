// What every page has: theme switch, dialogs, keys. State stays on the server.
import { isComposing, isDialogOpen, isFree, isPlain } from "./keys.js";
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

function pressKey(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return submitLabel(event);
  if (event.repeat || !isPlain(event) || !isFree(event)) return;
  const key = event.getModifierState?.("CapsLock") ? event.key[event.shiftKey ? "toUpperCase" : "toLowerCase"]() : event.key;
  const button = document.querySelector(`[data-key="${CSS.escape(key)}"]:not([hidden])`);
  if (!button) return;
  event.preventDefault();
  button.click();
}

// From the note too; not by the Enter that takes a candidate of an input method.
function submitLabel(event) {
  const form = event.target.closest?.("form[data-post]") ?? document.getElementById("label-form");
  if (!form || isComposing(event) || (isDialogOpen() && !form.closest("dialog"))) return;
  event.preventDefault();
  form.requestSubmit();
}

// A dialog without a field is there to be read, so the focus is on itself and not on the button at its end.
function open(dialog) {
  dialog.showModal();
  if (dialog.querySelector("input, textarea")) return;
  dialog.tabIndex = -1;
  dialog.focus();
  dialog.scrollTop = 0;
}

// Times come from the server in the zone that the person has chosen; who has chosen none reads them on their own clock.
function setClocks() {
  if (document.documentElement.dataset.zone) return;
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
  if (opener) open(document.getElementById(opener.dataset.opens));
  if (event.target.closest("[data-closes]")) event.target.closest("dialog")?.close();
  if (event.target.closest("[data-theme-switch]")) switchTheme();
});
