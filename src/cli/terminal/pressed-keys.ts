/** The characters of Ctrl-C and Ctrl-D on a terminal in raw mode. */
const ENDS = new Set(['\u0003', '\u0004']);

/** The input stream: a terminal or a pipe. */
export type KeyInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
};

/**
 * Yields keys as they are pressed. On a terminal, Enter is not required. In a pipe, each character is a key. Skips white space and
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
