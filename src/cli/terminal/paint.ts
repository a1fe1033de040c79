import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** Styles a text, or returns it unchanged if colours are off. */
export type Paint = (style: Style, text: string) => string;

/** Paint for a stream: coloured on a terminal unless `NO_COLOR` is set; always with `FORCE_COLOR`. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}
