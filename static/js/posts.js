// Words beside an item, in a thread or about the guideline: they are sent once, and never lost with what is sent next to
// them. A form of this kind says so with data-post.
import { randomKey } from "./unsent.js";

const postOf = (event) => {
  const element = event.detail.requestConfig?.elt ?? event.detail.elt;
  return element instanceof Element ? element.closest("form[data-post]") : null;
};
const say = (form, words) => { form.querySelector("[data-post-state]").textContent = words; };

// What was sent and not acknowledged may be stored; what is typed after that is another post.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-post]");
  if (!form || !("wasSent" in form.dataset)) return;
  form.elements.key.value = randomKey();
  delete form.dataset.wasSent;
});
document.addEventListener("htmx:beforeSend", (event) => {
  const form = postOf(event);
  if (form) form.dataset.wasSent = "";
});
for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(name, (event) => {
    const form = postOf(event);
    if (form && event.detail.xhr.status !== 422) say(form, form.dataset.sayFailed);
  });
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const form = postOf(event);
  if (form && event.detail.xhr.status < 400) form.closest("dialog")?.close();
});
// The next item would take the place of what was typed here and not sent.
document.addEventListener("submit", (event) => {
  if (event.target.id !== "label-form") return;
  const form = [...document.querySelectorAll("form[data-post]")].find((one) => one.elements.text.value.trim());
  if (!form) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  say(form, form.dataset.sayUnsent);
  const dialog = form.closest("dialog");
  if (dialog && !dialog.open) dialog.showModal();
  form.elements.text.focus();
}, true);
