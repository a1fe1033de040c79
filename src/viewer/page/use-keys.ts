import { useEffect, useRef } from 'react';

/** Handles the shortcuts of a page. `onKey` returns false for a key without a shortcut. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!isTyping(event) && latest.current(event)) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** Returns true if a key press belongs to its target: a field, a select, an open dialog or the browser. */
function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  const { key, target } = event;
  if (!(target instanceof HTMLElement)) return false;
  // On buttons and links, this key has its usual effect.
  if (key === 'Enter' && target.matches('a, button, summary')) return true;
  return target.matches('input:not([type=checkbox]), textarea, select');
}
