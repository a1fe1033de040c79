export interface PatchedFile {
  readonly target: string;
  /** The lines removed and the lines added, without context. */
  readonly replaces: { readonly before: string; readonly after: string };
}

const FILE_HEAD = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm;

/** Returns the files of a patch in the format of `apply_patch`; none for any other text. */
export function filesOfPatch(text: string): readonly string[] {
  if (!text.includes('*** Begin Patch')) return [];
  return Array.from(text.matchAll(FILE_HEAD), ([, file = '']) => file.trim());
}

/**
 * Parses a patch in the format of `apply_patch` (`*** Begin Patch`). Returns undefined for any other text and for a patch of
 * several files.
 *
 * Cost: one pass over a text that contains this header.
 */
export function patchedFile(text: string): PatchedFile | undefined {
  const [target, secondFile] = filesOfPatch(text);
  if (target === undefined || secondFile !== undefined) return undefined;
  const linesWithSign = (sign: string): string =>
    text
      .split('\n')
      .flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : []))
      .join('\n');
  return { target, replaces: { before: linesWithSign('-'), after: linesWithSign('+') } };
}
