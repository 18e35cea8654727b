// Copies what a read-only field holds. Where the browser lets no script do it, the text is selected and stays to be copied.
function offer() {
  for (const button of document.querySelectorAll("[data-copies][hidden]")) button.hidden = false;
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copies);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    if (!document.execCommand("copy")) return;
  }
  button.textContent = button.dataset.done;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copies]");
  if (button) copy(button);
});
document.addEventListener("htmx:afterSettle", offer);
offer();
