// Shows a part of the question only where it is asked. Its marks are those of every kind.
import { startMarking } from "../js/marking.js";

function isAsked(box, when) {
  const [part, label] = when.split("/");
  const of = box.querySelector(`[data-part="${CSS.escape(part)}"]`);
  return Boolean(of && !of.disabled && of.querySelector(`[data-label="${CSS.escape(label)}"]:checked`));
}

// In the order of the parts, as one may hang on another that is not asked either. What is not asked is not sent.
function fit() {
  for (const box of document.querySelectorAll("[data-marks][data-kind]")) {
    for (const part of box.querySelectorAll("[data-when]")) {
      const asked = isAsked(box, part.dataset.when);
      part.hidden = part.disabled = !asked;
      part.querySelector("[data-when-words]")?.setAttribute("hidden", "");
    }
  }
}

document.addEventListener("change", fit);
document.addEventListener("label:restored", fit, true);
document.addEventListener("htmx:afterSettle", fit);
fit();
startMarking();
