import { createInterface } from 'node:readline/promises';

/**
 * Asks a question that is answered by yes or no; everything but yes is no, and so is the end of the input.
 *
 * @returns undefined where nobody is there to answer: standard input is no terminal
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
