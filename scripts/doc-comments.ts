import { readFileSync } from 'node:fs';

/**
 * Reads the doc comments of a file of definitions, keyed by the path of the member that follows, such as
 * `LIFE.run_ended.outcome` (without `fields`). Relies on formatting: each member is on its own line, and indentation gives the
 * nesting level.
 *
 * @param file  below the checkout's root, such as `src/core/records/kinds.ts`
 */
export function docComments(file: string): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  const path: string[] = [];
  let comment: string[] | undefined;
  let isOpen = false;
  for (const line of readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').split('\n')) {
    if (line.trimStart().startsWith('/**')) {
      comment = [];
      isOpen = true;
    }
    if (isOpen) {
      comment?.push(line.replaceAll(/^\s*(?:\/\*\*|\*(?!\/))|\*\/\s*$/g, '').trim());
      isOpen = !line.trimEnd().endsWith('*/');
      continue;
    }
    const [, indent = '', name] = /^( *)(?:export const )?(\w+)(?:: | = )/.exec(line) ?? [];
    if (name !== undefined) {
      path.splice(indent.length / 2, Infinity, name);
      if (comment !== undefined)
        comments.set(path.filter((step) => step !== 'fields').join('.'), comment.join(' ').trim());
    }
    comment = undefined;
  }
  return comments;
}
