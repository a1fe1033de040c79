/** Ends a raw terminal's line: what Ctrl-C and Ctrl-D send. */
const ENDS = new Set(['\u0003', '\u0004']);

/** Where keys come from: a terminal, or a pipe. */
export type KeyInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
};

/**
 * Keys as they are pressed, without Enter where the input is a terminal; from a pipe each character is one. Line breaks and
 * blanks are passed over, and arrow keys and their like too. Ctrl-C and Ctrl-D end it, as the end of the input does.
 */
export async function* pressedKeys(input: KeyInput): AsyncGenerator<string, void, void> {
  const raw = input.isTTY === true ? input.setRawMode?.bind(input) : undefined;
  raw?.(true);
  try {
    input.setEncoding('utf8');
    for await (const chunk of input) {
      // With an encoding set chunks are texts.
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
