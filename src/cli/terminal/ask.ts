import { createInterface } from 'node:readline/promises';

/**
 * Asks a yes/no question. Any other input than yes, including the end of the input, means no.
 *
 * @returns undefined if standard input is not a terminal
 */
export async function askYesNo(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
