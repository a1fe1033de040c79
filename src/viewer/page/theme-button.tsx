import { useState, type ReactElement } from 'react';

import { applyTheme, storedTheme, THEMES, type Theme } from './theme.ts';

const WORDS: Readonly<Record<Theme, string>> = { auto: 'as the system', light: 'light', dark: 'dark' };

/** A button that switches to the next theme. Its label includes the current theme. */
export function ThemeButton(): ReactElement {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  const label = `Theme: ${WORDS[theme]}`;
  return (
    <button
      type="button"
      className="quiet icon"
      aria-label={label}
      title={`${label} (then ${WORDS[nextTheme]})`}
      onClick={() => {
        setTheme(nextTheme);
        applyTheme(nextTheme);
      }}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor">
        <Picture theme={theme} />
      </svg>
    </button>
  );
}

/** Draws a sun, a moon, or a half-filled disc. */
function Picture({ theme }: { readonly theme: Theme }): ReactElement {
  if (theme === 'dark') return <path d="M13.5 10A6 6 0 0 1 6 2.5a6 6 0 1 0 7.5 7.5Z" fill="currentColor" />;
  if (theme === 'auto') {
    return (
      <>
        <circle cx="8" cy="8" r="5.5" strokeWidth="1.3" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" stroke="none" />
      </>
    );
  }
  return (
    <>
      <circle cx="8" cy="8" r="2.8" fill="currentColor" />
      <path
        d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13"
        strokeWidth="1.3"
        strokeLinecap="round"
      />
    </>
  );
}
