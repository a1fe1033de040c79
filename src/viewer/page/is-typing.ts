/** Whether a key belongs to a field, a list of choices or an open dialog, or comes with a modifier: then it is no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input:not([type=checkbox]), textarea, select');
}
