import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** Applies a style to a text. Returns the text unchanged if colours are disabled. */
export type Paint = (style: Style, text: string) => string;

/**
 * Returns the paint function for a stream. Colours are enabled on a terminal unless `NO_COLOR` is set, and always with
 * `FORCE_COLOR`.
 */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}
