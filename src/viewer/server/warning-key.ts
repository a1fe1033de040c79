import type { Wasted } from '../../core/facts/run-story.ts';

const SEPARATOR = '\t';

/** Quoted text, or a quotation that the end of the line cuts off. An apostrophe in a word is not a quote. */
const QUOTED = /(?<!\w)(["'`])(?:.*?\1(?!\w)|.*$)/g;

/** The line of a warning is cut before its quotes are masked. The part that is compared ends before that cut. */
const LINE_CHARS = 100;

/** The pattern, the tool and the error line of a first warning. Runs with the same three parts form a cluster. */
type WarningParts = Pick<Wasted, 'kind' | 'tool' | 'line'>;

/** Quoted text becomes `'…'`, because the same failure names another table or file in each run. */
export function warningKey({ kind, line = '', tool = '' }: WarningParts): string {
  return [kind, tool, line.replaceAll(QUOTED, '$1…$1').slice(0, LINE_CHARS).toWellFormed()]
    .map((part) => part.replaceAll(SEPARATOR, ' '))
    .join(SEPARATOR);
}

export function warningParts(key: string): WarningParts {
  const [kind = '', tool = '', line = ''] = key.split(SEPARATOR);
  return { kind, ...(tool === '' ? {} : { tool }), ...(line === '' ? {} : { line }) };
}
