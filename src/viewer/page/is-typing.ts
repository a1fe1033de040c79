/** Returns true if a key belongs to a field, a select or an open dialog, or has a modifier, and so is no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input:not([type=checkbox]), textarea, select');
}
