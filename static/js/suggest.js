// A field that follows another one as long as nobody has typed into it: the name of a project, from its title.
function suggestion(title, longest) {
  const plain = title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9\s_-]/g, "");
  return plain.trim().replace(/[\s-]+/g, "-").slice(0, longest).replace(/^[-_]+|[-_]+$/g, "");
}

for (const field of document.querySelectorAll("[data-suggested-from]")) {
  const source = document.getElementById(field.dataset.suggestedFrom);
  let follows = !field.value;
  field.addEventListener("input", () => { follows = !field.value; });
  source?.addEventListener("input", () => {
    if (follows) field.value = suggestion(source.value, field.maxLength);
  });
}
