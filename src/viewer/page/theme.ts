/** The theme setting. `auto` follows the operating system. */
export type Theme = 'auto' | 'light' | 'dark';

/** All settings, in the order in which the button switches them. */
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const KEY = 'coxswain-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

system.addEventListener('change', () => applyTheme(storedTheme()));

/** Returns the stored setting. Default: `auto`. */
export function storedTheme(): Theme {
  try {
    const name = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === name) ?? 'auto';
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
    // Without storage, the setting lasts until the page is reloaded.
  }
}
