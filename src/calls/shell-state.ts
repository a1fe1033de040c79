import type { Command } from 'unbash';

import { patchedFile } from './patch-text.ts';

/** The state in which a command leaves a file, as far as its text tells. */
export interface ShellState {
  readonly target: string;
  /** The whole content. */
  readonly content?: string;
  /** Or what is replaced by what. */
  readonly replaces?: { readonly before: string; readonly after: string };
}

const PRINTERS = new Set(['cat', 'tee', 'echo', 'printf']);
/** `s/before/after/g` with any mark that is no letter, digit or backslash. */
const SUBSTITUTION = /^s([^\w\s\\])((?:(?!\1).)*)\1((?:(?!\1).)*)\1[gimI]*$/s;

/**
 * The state of the file that a command writes: of a patch, of a here-document, `echo` or `printf` sent into it, or of a plain
 * substitution by `sed -i`. Undefined for whatever else, and for text that is added to a file.
 */
export function stateWrittenBy(node: Command, program: string, args: readonly string[]): ShellState | undefined {
  if (program === 'sed') return substitutionOf(args);
  if (program === 'apply_patch') return patchedFile(args[0] ?? hereTextOf(node) ?? '');
  if (!PRINTERS.has(program)) return undefined;
  let target: string | undefined;
  let body: string | undefined;
  for (const redirect of node.redirects) {
    if (redirect.operator === '>>') return undefined;
    if (redirect.type === 'Redirect' && redirect.operator.startsWith('>')) target = redirect.target?.value;
    if (redirect.type === 'HereDoc') body = redirect.body?.text;
    if (redirect.type === 'HereString') body = redirect.target?.value;
  }
  if (program === 'tee' && !args.some((word) => word.startsWith('-'))) target ??= args[0];
  const content = program === 'cat' || program === 'tee' ? body : args.join(' ');
  return target === undefined || content === undefined ? undefined : { target, content };
}

function hereTextOf(node: Command): string | undefined {
  for (const redirect of node.redirects) if (redirect.type === 'HereDoc') return redirect.body?.text;
  return undefined;
}

function substitutionOf(args: readonly string[]): ShellState | undefined {
  if (!args.some((word) => /^-\w*i/.test(word))) return undefined;
  const words = args.filter((word) => !word.startsWith('-') && word !== '');
  const [expression = '', target] = words;
  const found = SUBSTITUTION.exec(expression);
  if (found === null || target === undefined || words.length !== 2) return undefined;
  const [, , before = '', after = ''] = found;
  return { target, replaces: { before: plainText(before.replace(/^\^|\$$/g, '')), after: plainText(after) } };
}

/** What an expression stands for where it is a text: without the marks that keep signs from meaning something. */
function plainText(expression: string): string {
  return expression.replace(/\\([^\w\s])/g, '$1');
}
