import type { Wasted } from './api-shapes.ts';

/** Joins the parts. A tab in a part becomes a space. */
const SEPARATOR = '\t';

/** The pattern, the tool and the error line of a first warning. Runs with the same three parts form a cluster. */
type WarningParts = Pick<Wasted, 'kind' | 'tool' | 'line'>;

/** Returns the value of the filter `stuck` for a first warning. */
export function warningKey({ kind, line = '', tool = '' }: WarningParts): string {
  return [kind, tool, line].map((part) => part.replaceAll(SEPARATOR, ' ')).join(SEPARATOR);
}

/** Parses a value of the filter. This is the inverse of `warningKey`. */
export function warningParts(key: string): WarningParts {
  const [kind = '', tool = '', line = ''] = key.split(SEPARATOR);
  return { kind, ...(tool === '' ? {} : { tool }), ...(line === '' ? {} : { line }) };
}
