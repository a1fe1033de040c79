/** The theme setting. `auto` follows the operating system. */
export type Theme = 'auto' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const KEY = 'coxswain-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

system.addEventListener('change', () => applyTheme(storedTheme()));

export function storedTheme(): Theme {
  try {
    const name = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === name) ?? 'auto';
  } catch {
    return 'auto';
  }
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme === 'auto' ? (system.matches ? 'dark' : 'light') : theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage, the setting lasts until the page is reloaded.
  }
}
