/** Returns true if a key press is not a shortcut: its target is a field, a select or an open dialog, or a modifier key is pressed. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input:not([type=checkbox]), textarea, select');
}
