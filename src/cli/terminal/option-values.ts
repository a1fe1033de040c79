import { invalidArgument } from '../../core/base/error.ts';
import { parseDuration } from '../../core/base/number-text.ts';
import { printableCut } from '../../core/base/printable.ts';

const SHOWN_CHARS = 80;

export function wholeOption(option: string, text: string, range: readonly [min: number, max: number]): number;
export function wholeOption(
  option: string,
  text: string | undefined,
  range: readonly [min: number, max: number],
): number | undefined;
export function wholeOption(
  option: string,
  text: string | undefined,
  [min, max]: readonly [min: number, max: number],
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  throw invalidArgument(`${option} ${printableCut(text, SHOWN_CHARS)}: give a whole number from ${min}${upTo}`);
}

export function limitOf(text = '50'): number {
  return wholeOption('--limit', text, [1, 1000]);
}

export function spanOption(option: string, text: string, examples: string): number {
  const spanMs = parseDuration(text);
  if (spanMs !== undefined) return spanMs;
  throw invalidArgument(`${option} ${printableCut(text, SHOWN_CHARS)}: give a span such as ${examples}`);
}

export function choiceOption<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const name = names.find((one) => one === text);
  if (name !== undefined) return name;
  throw invalidArgument(`${option} ${printableCut(text, SHOWN_CHARS)}: give one of ${names.join(', ')}`);
}
