import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type {
  FormatName,
  ArchiveImporter,
  DocumentImporter,
  Importer,
  LineImporter,
  TextImporter,
} from '../importer.ts';

/** Minimum confidence. A lower confidence may be chance; the error then names the format as the closest match. */
export const SURE_ENOUGH = 0.3;
const MAX_KEYS_NAMED = 8;

export interface Candidates {
  readonly lines: readonly LineImporter[];
  readonly documents: readonly DocumentImporter[];
  readonly texts: readonly TextImporter[];
  readonly archives: readonly ArchiveImporter[];
  readonly forced: FormatName | undefined;
}

/** @throws CoxswainError `invalid-argument` if no importer reads that format */
export function candidatesOf(importers: readonly Importer[], format: FormatName | undefined): Candidates {
  const candidates = format === undefined ? importers : importers.filter((importer) => importer.format === format);
  if (candidates.length === 0) {
    const knownFormats = formatNames(importers).join(', ');
    throw invalidArgument(`there is no format ${JSON.stringify(format)}; choose one of ${knownFormats}`);
  }
  return {
    lines: candidates.filter((importer) => importer.shape === 'lines'),
    documents: candidates.filter((importer) => importer.shape === 'document'),
    texts: candidates.filter((importer) => importer.shape === 'text'),
    archives: candidates.filter((importer) => importer.shape === 'archive'),
    forced: format,
  };
}

export interface Recognition<T> {
  readonly importer: T;
  readonly confidence: number;
}

/** Returns the most confident importer, or the earlier one if two are equal. Undefined if the list is empty. */
export function surest<T>(importers: readonly T[], confidenceOf: (importer: T) => number): Recognition<T> | undefined {
  let bestMatch: Recognition<T> | undefined;
  for (const importer of importers) {
    const confidence = confidenceOf(importer);
    if (bestMatch === undefined || confidence > bestMatch.confidence) bestMatch = { importer, confidence };
  }
  return bestMatch;
}

export interface Unrecognised {
  readonly candidates: Candidates;
  readonly content: string;
}

/** Throws CoxswainError `format-unknown` if it is not confident enough, `format-invalid` without such a shape of the format. */
export function accepted<T extends Importer>(bestMatch: Recognition<T> | undefined, source: Unrecognised): T {
  const { candidates, content } = source;
  if (candidates.forced !== undefined) {
    if (bestMatch !== undefined) return bestMatch.importer;
    throw new CoxswainError('format-invalid', `not in the format ${candidates.forced}: it is ${content}`);
  }
  if (bestMatch !== undefined && bestMatch.confidence >= SURE_ENOUGH) return bestMatch.importer;
  const closestText =
    bestMatch !== undefined && bestMatch.confidence > 0 ? `; the closest is ${bestMatch.importer.format}` : '';
  throw new CoxswainError('format-unknown', `${content} is no known format${closestText}`, {
    details: closestText === '' ? {} : { closest: bestMatch?.importer.format },
  });
}

/** Describes a decoded value by its type and its first keys. Does not include its content. */
export function describeJson(value: unknown): string {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (items.length === 0) return 'an empty JSON list';
    return `a JSON list whose first of ${items.length} items is ${describeJson(items[0])}`.slice(0, 300);
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).slice(0, MAX_KEYS_NAMED).map(printableName);
    return keys.length === 0 ? 'an empty JSON object' : `a JSON object with the keys ${keys.join(', ')}`;
  }
  return value === null ? 'JSON null' : `a JSON ${typeof value}`;
}

/** Returns a name that can be printed: shortened and without control characters. */
export function printableName(name: string): string {
  return name.slice(0, 40).replaceAll(/[^\x20-\x7e]/g, '?');
}

export function formatNames(importers: readonly Importer[]): readonly FormatName[] {
  return [...new Set(importers.map((importer) => importer.format))].sort();
}
