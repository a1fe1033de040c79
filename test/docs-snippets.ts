/** A `ts` block of a documentation page. */
export interface Snippet {
  /** Where it stands: `docs/feedback.md:12`, the line of its opening fence. */
  readonly place: string;
  readonly code: string;
  /** Declarations of names that the block uses and does not declare; such a block is checked but not run. */
  readonly given?: string;
  /** Why it is not checked. */
  readonly noCheck?: string;
  /** The expected output of the program. */
  readonly prints?: string;
}

/** The snippets of a page, and what is wrong with how they are written. */
export interface PageSnippets {
  readonly snippets: readonly Snippet[];
  readonly problems: readonly string[];
}

interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

interface Directive {
  readonly line: number;
  readonly name: string;
  readonly value: string;
}

type Part = { readonly block: Block } | { readonly directive: Directive } | { readonly prose: number };

const FENCE = /^ {0,3}(`{3,}|~{3,}) *(\S*)/;
const COMMENT = /^ {0,3}<!--(.*)-->\s*$/;
const OTHER_NAMES: ReadonlySet<string> = new Set(['typescript', 'tsx', 'js', 'javascript', 'mjs', 'mts']);

/**
 * Takes the `ts` blocks out of a page. Directly before a block may stand `<!-- given: declarations -->` or
 * `<!-- no-check: reason -->`; directly after it, `<!-- prints -->` and a `text` block with its output. Blank lines do not
 * matter. Whatever could make a block slip through unchecked is a problem.
 */
export function extractSnippets(page: string, markdown: string): PageSnippets {
  const problems: string[] = [];
  const parts = partsOf(page, markdown, problems);
  const snippets: Snippet[] = [];
  const used = new Set<Part>();
  for (const [at, part] of parts.entries()) {
    if (!('block' in part)) continue;
    const { line, language, text } = part.block;
    const place = `${page}:${line}`;
    if (OTHER_NAMES.has(language.toLowerCase()) || (language !== 'ts' && language.toLowerCase() === 'ts')) {
      problems.push(`${place}: a block of code is marked "ts", not "${language}"`);
    }
    if (language !== 'ts') continue;
    const before = parts[at - 1];
    const about =
      before !== undefined && 'directive' in before && before.directive.name !== 'prints' ? before : undefined;
    if (about !== undefined) used.add(about);
    const expected = printsAfter(parts, at, used);
    const { name, value } = about?.directive ?? { name: '', value: '' };
    if (expected !== undefined && name !== '')
      problems.push(`${place}: a block with "${name}" is not run, so it prints nothing`);
    snippets.push({
      place,
      code: text,
      ...(name === 'given' ? { given: value } : {}),
      ...(name === 'no-check' ? { noCheck: value } : {}),
      ...(expected === undefined ? {} : { prints: expected }),
    });
  }
  for (const part of parts) {
    if ('directive' in part && !used.has(part)) {
      problems.push(`${page}:${part.directive.line}: "${part.directive.name}" belongs to no block`);
    }
  }
  return { snippets, problems };
}

/** The output that is stated after a block. */
function printsAfter(parts: readonly Part[], at: number, used: Set<Part>): string | undefined {
  const [note, output] = [parts[at + 1], parts[at + 2]];
  if (note === undefined || !('directive' in note) || note.directive.name !== 'prints') return undefined;
  if (output === undefined || !('block' in output) || output.block.language !== 'text') return undefined;
  used.add(note);
  return output.block.text;
}

function partsOf(page: string, markdown: string, problems: string[]): readonly Part[] {
  const parts: Part[] = [];
  let open:
    | { readonly fence: string; readonly line: number; readonly language: string; readonly lines: string[] }
    | undefined;
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const line = index + 1;
    if (open !== undefined) {
      if (closes(text, open.fence)) {
        parts.push({
          block: { line: open.line, language: open.language, text: open.lines.map((one) => `${one}\n`).join('') },
        });
        open = undefined;
      } else {
        open.lines.push(text);
      }
      continue;
    }
    const fence = FENCE.exec(text);
    if (fence !== null) open = { fence: fence[1] ?? '', line, language: fence[2] ?? '', lines: [] };
    else if (/^\s+(`{3,}|~{3,})/.test(text)) problems.push(`${page}:${line}: a block of code is not indented`);
    else if (text.trim() !== '') parts.push(directiveOf(page, text, line, problems));
  }
  if (open !== undefined) problems.push(`${page}:${open.line}: the block is not closed`);
  return parts;
}

function closes(text: string, fence: string): boolean {
  const trimmed = text.trim();
  return trimmed.length >= fence.length && trimmed === fence.charAt(0).repeat(trimmed.length);
}

/** A comment on a separate line is a directive; a misspelt one is a problem, not a remark. */
function directiveOf(page: string, text: string, line: number, problems: string[]): Part {
  const comment = COMMENT.exec(text)?.[1]?.trim();
  // Generated text is between `<!-- NAME: written by SCRIPT -->` and `<!-- /NAME -->`.
  if (comment === undefined || /^\w+: written by \S+$|^\/\w+$/.test(comment)) return { prose: line };
  const [, name = '', value = ''] = /^([\w-]+)(?::\s*(.*))?$/s.exec(comment) ?? [];
  const isKnown = (name === 'prints' && value === '') || ((name === 'given' || name === 'no-check') && value !== '');
  if (isKnown) return { directive: { line, name, value } };
  problems.push(`${page}:${line}: expected "prints", "given: declarations" or "no-check: reason", got "${comment}"`);
  return { prose: line };
}

const IMPORT = /(\bfrom\s+|\bimport\s+|\bimport\()(['"])(coxswain(?:\/[\w/.-]+)?)\2/g;

/**
 * The snippet as a module, with what it imports from the package taken from elsewhere.
 *
 * @param sources  where each import name leads
 * @throws Error when the package has no such import name
 */
export function moduleOf(snippet: Snippet, sources: Readonly<Record<string, string>>): string {
  return `${snippet.given ?? ''}\n${snippet.code}`.replace(IMPORT, (_all, before: string, _quote, name: string) => {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source === undefined) throw new Error(`${snippet.place}: the package has no "${name}"`);
    return `${before}${JSON.stringify(source)}`;
  });
}
