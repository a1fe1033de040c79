export interface PatchedFile {
  readonly target: string;
  readonly replaces: { readonly before: string; readonly after: string };
}

const FILE_HEAD = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm;
/** In a string of a script. */
const BEGIN_IN_STRING = '*** Begin Patch\\n';

export function filesOfPatch(text: string): readonly string[] {
  if (!text.includes('*** Begin Patch')) return [];
  const lines = text.includes(BEGIN_IN_STRING) ? text.replaceAll('\\n', '\n') : text;
  return Array.from(lines.matchAll(FILE_HEAD), ([, file = '']) => file.trim());
}

/** `*** Begin Patch`. Undefined for any other text and for a patch of several files. */
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
