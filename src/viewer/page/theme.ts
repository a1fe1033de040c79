/** The theme setting; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** All settings, in the order of the button. */
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const KEY = 'coxswain-theme';
const CHANGED = 'coxswain-theme-changed';
const system = matchMedia('(prefers-color-scheme: dark)');

system.addEventListener('change', () => applyTheme(storedTheme()));

/** The stored setting; `auto` by default. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}

/** Applies a theme and stores it. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme === 'auto' ? (system.matches ? 'dark' : 'light') : theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage, the setting lasts until reload.
  }
  dispatchEvent(new Event(CHANGED));
}

/** Calls back when the colours change. @returns stops it */
export function onThemeChange(listener: () => void): () => void {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}
