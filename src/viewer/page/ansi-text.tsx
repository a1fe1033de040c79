import type { ReactElement } from 'react';

import { safeText } from '../../core/base/printable.ts';

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
/** A sequence that sets colours. No parser package is used: the one that we tried has no licence text. */
const SET_COLOUR = /\u001b\[([\d;]*)m/g;

export function hasColours(text: string): boolean {
  return text.includes('\u001b[');
}

/** Renders terminal output in its named colours. Other escape sequences are removed. */
export function AnsiText({ chars, raw }: { readonly raw: string; readonly chars: number }): ReactElement {
  const parts: ReactElement[] = [];
  let style: Style = PLAIN;
  let segmentStart = 0;
  let remainingChars = chars;
  const addSegment = (until: number): void => {
    const text = safeText(raw.slice(segmentStart, until)).slice(0, remainingChars);
    remainingChars -= text.length;
    const classes = [style.colour, style.isBold ? 'ansi-bold' : ''].filter((name) => name !== '').join(' ');
    if (text !== '')
      parts.push(
        <span key={segmentStart} className={classes === '' ? undefined : classes}>
          {text}
        </span>,
      );
  };
  for (const { 0: sequence, 1: codes = '', index } of raw.matchAll(SET_COLOUR)) {
    addSegment(index);
    if (remainingChars <= 0) break;
    style = styleAfter(style, codes.split(';').map(Number));
    segmentStart = index + sequence.length;
  }
  if (remainingChars > 0) addSegment(raw.length);
  return <>{parts}</>;
}

interface Style {
  readonly colour: string;
  readonly isBold: boolean;
}

const PLAIN: Style = { colour: '', isBold: false };

function styleAfter(before: Style, codes: readonly number[]): Style {
  let style = before;
  for (const code of codes) {
    // This is a palette colour, and its numbers follow.
    if (code === 38 || code === 48) return style;
    const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
    if (code === 0) style = PLAIN;
    else if (code === 1) style = { ...style, isBold: true };
    else if (code === 22) style = { ...style, isBold: false };
    else if (code === 39) style = { ...style, colour: '' };
    else if (colour !== undefined && code < 98) style = { ...style, colour: `ansi-${colour}` };
  }
  return style;
}
