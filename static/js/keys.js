// Whose a key is: the page's, or that of a field, an input method or a dialog.

export const isComposing = (event) => event.isComposing || event.keyCode === 229;

export function isTyping(target) {
  return target instanceof Element && Boolean(target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])"));
}

export const isDialogOpen = () => Boolean(document.querySelector("dialog[open]"));

export function isFree(event) {
  return !event.defaultPrevented && !isComposing(event) && !isTyping(event.target) && !isDialogOpen();
}

export const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;
