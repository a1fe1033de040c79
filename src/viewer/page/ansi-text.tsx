import { parseAnsiSequences } from 'ansi-sequence-parser';
import type { ReactElement } from 'react';

import { safeText } from '../../base/shown-text.ts';

/** Whether a text sets colours of a terminal. */
export function hasColours(text: string): boolean {
  return text.includes('\u001b[');
}

/** A terminal's output with its sixteen colours; every other sequence is left out, as everywhere. */
export function AnsiText({ chars, raw }: { readonly raw: string; readonly chars: number }): ReactElement {
  const parts: ReactElement[] = [];
  let left = chars;
  for (const [at, { decorations, foreground, value }] of parseAnsiSequences(
    raw.slice(0, 4 * chars + 10_000),
  ).entries()) {
    const text = safeText(value).slice(0, left);
    left -= text.length;
    const colour = foreground?.type === 'named' ? `ansi-${foreground.name.toLowerCase().replace('bright', '')}` : '';
    const bold = decorations.has('bold') ? 'ansi-bold' : '';
    parts.push(
      <span key={at} className={`${colour} ${bold}`.trim() || undefined}>
        {text}
      </span>,
    );
    if (left <= 0) break;
  }
  return <>{parts}</>;
}
