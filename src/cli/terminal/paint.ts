import { styleText } from 'node:util';

/** The styles that reports use. */
export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** Colours a text, or gives it back as it is where colours are not wanted. */
export type Paint = (style: Style, text: string) => string;

/** Paint for a stream: coloured on a terminal, unless `NO_COLOR` says otherwise; always under `FORCE_COLOR`. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}
