// Shows how far an upload is, and stops it. Without this script the form is posted like any other.
let sending = null;

const language = document.documentElement.lang;
const megabytes = new Intl.NumberFormat(language, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
const size = (bytes) => megabytes.format(bytes / 1024 / 1024);
const formOf = (event) => event.target.closest?.("[data-upload]");
const part = (form, name) => form.querySelector(`[data-upload-${name}]`);

function say(form, words) {
  part(form, "said").textContent = words;
}

function begin(form) {
  sending = form;
  say(form, "");
  part(form, "progress").hidden = false;
  show(form, 0, form.elements.file.files[0]?.size || 0);
}

function show(form, loaded, total) {
  const percent = total ? Math.floor((100 * loaded) / total) : 0;
  part(form, "progress").querySelector("progress").value = percent;
  part(form, "words").textContent = form.dataset.saySent
    .replace("{sent}", size(loaded)).replace("{total}", size(total));
}

function end(form, words) {
  sending = null;
  part(form, "progress").hidden = true;
  if (words) say(form, words);
}

function refuseLarge(form, input) {
  const isLarge = (input.files[0]?.size || 0) > Number(form.dataset.maxBytes);
  input.setCustomValidity(isLarge ? form.dataset.sayLarge : "");
  if (isLarge) input.reportValidity();
}

document.addEventListener("change", (event) => {
  const form = formOf(event);
  if (form && event.target.name === "file") refuseLarge(form, event.target);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-upload-stop]") && sending) window.htmx.trigger(sending, "htmx:abort");
});
document.addEventListener("htmx:beforeSend", (event) => {
  const form = formOf(event);
  if (form) begin(form);
});
document.addEventListener("htmx:xhr:progress", (event) => {
  const form = formOf(event);
  const { loaded, total, lengthComputable } = event.detail;
  if (!form || form !== sending || !lengthComputable || total < form.elements.file.files[0]?.size) return; // the answer's
  show(form, loaded, total);
  if (loaded === total) say(form, form.dataset.sayAll);
});
document.addEventListener("htmx:sendAbort", (event) => {
  const form = formOf(event);
  if (form && form === sending) end(form, form.dataset.sayStopped);
});
document.addEventListener("htmx:sendError", (event) => {
  const form = formOf(event);
  if (form && form === sending) end(form, form.dataset.sayDown);
});
document.addEventListener("htmx:responseError", (event) => {
  const form = formOf(event);
  if (form) end(form, event.detail.xhr.status === 401 ? form.dataset.sayOut : form.dataset.sayRefused);
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (formOf(event)) sending = null; // answered: the page may be left, and is by a redirect
});
addEventListener("beforeunload", (event) => {
  if (sending) event.preventDefault();
});
