/** What a patch of one file leaves there, as far as its text tells. */
export interface PatchedFile {
  readonly target: string;
  /** What its lines take away, and what they put there instead; context is in neither. */
  readonly replaces: { readonly before: string; readonly after: string };
}

/** How Codex heads the part of each file, and how unified differences do. */
const FILE_HEAD = /^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\+\+\+ (?:b\/)?(\S+)/gm;
const MAY_BE_PATCH = /^\*\*\* Begin Patch|^(?:diff --git |--- )\S/m;

/**
 * Reads a patch as `apply_patch` takes it (`*** Begin Patch`), or a unified difference. Undefined for any other text, and for a
 * patch of several files: what one of them goes back to says nothing of the others.
 *
 * Cost: one pass over the text, where it opens like a patch.
 */
export function patchedFile(text: string): PatchedFile | undefined {
  if (!MAY_BE_PATCH.test(text)) return undefined;
  const heads = [...text.matchAll(FILE_HEAD)];
  const target = heads[0]?.[1] ?? heads[0]?.[2];
  if (target === undefined || heads.length > 1) return undefined;
  const before: string[] = [];
  const after: string[] = [];
  // Of a unified difference the names of the files stand between, with the same signs.
  const start = heads[0]?.[2] === undefined ? 0 : text.indexOf('\n@@');
  for (const line of text.slice(start).split('\n')) {
    if (line.startsWith('-')) before.push(line.slice(1));
    else if (line.startsWith('+')) after.push(line.slice(1));
  }
  return { target: target.trim(), replaces: { before: before.join('\n'), after: after.join('\n') } };
}
