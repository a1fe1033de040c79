/** What the reader chose; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** Every choice, in the order of the button. */
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const KEY = 'coxswain-theme';
const CHANGED = 'coxswain-theme-changed';
const system = matchMedia('(prefers-color-scheme: dark)');

system.addEventListener('change', () => applyTheme(storedTheme()));

/** The choice of before; `auto` where there is none or nothing can be stored. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}

/** Shows the page in a theme and remembers the choice. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme === 'auto' ? (system.matches ? 'dark' : 'light') : theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A browser that stores nothing asks again next time.
  }
  dispatchEvent(new Event(CHANGED));
}

/** Calls back whenever the colours are others. @returns what ends it */
export function onThemeChange(listener: () => void): () => void {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}
