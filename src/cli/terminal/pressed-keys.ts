/** Ctrl-C and Ctrl-D of a terminal in raw mode. */
const ENDS = new Set(['\u0003', '\u0004']);

/** A terminal or a pipe. */
export type KeyInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
};

/**
 * Keys as they are pressed, without waiting for Enter on a terminal; each character of a pipe is a key. Skips white space and
 * arrow keys. Ends at Ctrl-C, Ctrl-D or the end of the input.
 */
export async function* pressedKeys(input: KeyInput): AsyncGenerator<string, void, void> {
  const raw = input.isTTY === true ? input.setRawMode?.bind(input) : undefined;
  raw?.(true);
  try {
    input.setEncoding('utf8');
    for await (const chunk of input) {
      const text = String(chunk);
      if (text.startsWith('\u001b')) continue;
      for (const key of text) {
        if (ENDS.has(key)) return;
        if (key.trim() !== '') yield key;
      }
    }
  } finally {
    raw?.(false);
  }
}
