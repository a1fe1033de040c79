import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isJsonObject } from '../../src/core/base/json.ts';
import { defaultDetectors } from '../../src/core/detect/detectors/default-detectors.ts';
import type { TrajectoryPattern } from '../../src/core/records/trajectory-pattern.ts';
import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import { callsImporter } from '../../src/formats/neutral/calls.ts';
import { TrajectoryAnalysis } from '../../src/core/detect/patterns/trajectory-analysis.ts';

/** How one scenario went. `late` counts as found. */
export type Verdict = 'right' | 'late' | 'missed' | 'premature' | 'false';

/** One scenario with what was seen in it. */
export interface ScenarioScore {
  readonly id: string;
  readonly debatable: boolean;
  readonly expectedKind: string | null;
  readonly stuckAt: number | null;
  readonly verdict: Verdict;
  /** The first call at which a stuck pattern was flagged. */
  readonly firstFlag: number | null;
  readonly flaggedKinds: readonly string[];
}

/** A count of verdicts. */
export interface ScoreTotal {
  readonly stuck: number;
  readonly found: number;
  readonly legitimate: number;
  readonly falseAlarms: number;
  readonly premature: number;
  /** First flag minus the labelled call, over what was found; null when nothing was. */
  readonly meanDelay: number | null;
}

/** How a case is changed before it is scored. */
export interface ScoreOptions {
  /** Renames tools to names without meaning. */
  readonly opaque?: boolean;
  /** Drops `isError`, as in a source without a flag for failures: the result alone says whether a call failed. */
  readonly flagless?: boolean;
}

/** A labelled run as its file holds it. */
export interface LabelledCase {
  /** The line's theme and id, or the file's name: for messages. */
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * Reads labelled runs: each line of `*.jsonl` is one, and each `*.json` file is one.
 *
 * @param path  such a file, or a folder of them; a folder is read in order of names
 * @throws Error for a line or file that is not a JSON object
 */
export function readCases(path: string): readonly LabelledCase[] {
  if (statSync(path).isDirectory()) {
    const names = readdirSync(path).filter((name) => /\.jsonl?$/.test(name));
    return names.sort().flatMap((name) => readCases(join(path, name)));
  }
  const text = readFileSync(path, 'utf8');
  const documents = path.endsWith('.jsonl') ? text.split('\n').filter((line) => line !== '') : [text];
  return documents.map((json, index) => {
    const name = `${basename(path)}${documents.length > 1 ? `:${index + 1}` : ''}`;
    const document: unknown = JSON.parse(json);
    if (!isJsonObject(document)) throw new Error(`${name} is not a JSON object`);
    return { name, document };
  });
}

/** Scores labelled runs with all built-in detectors, in their order. */
export function scoreCases(cases: readonly LabelledCase[], options: ScoreOptions = {}): readonly ScenarioScore[] {
  return cases.map(({ name, document }) => scoreScenario(document, { ...options, name }));
}

/** Adds verdicts up. */
export function totalOf(scores: readonly ScenarioScore[]): ScoreTotal {
  const positives = scores.filter((score) => score.stuckAt !== null);
  const found = positives.filter((score) => score.verdict === 'right' || score.verdict === 'late');
  const delays = found.map((score) => (score.firstFlag ?? 0) - (score.stuckAt ?? 0));
  return {
    stuck: positives.length,
    found: found.length,
    legitimate: scores.length - positives.length,
    falseAlarms: scores.filter((score) => score.verdict === 'false').length,
    premature: scores.filter((score) => score.verdict === 'premature').length,
    meanDelay: delays.length === 0 ? null : delays.reduce((sum, delay) => sum + delay, 0) / delays.length,
  };
}

/**
 * Scores one scenario by its first flag of a stuck pattern: from `onset` on it is found, before it premature; any flag
 * in a legitimate one is false.
 *
 * @throws Error when the document has no `calls` or no `expect`
 */
export function scoreScenario(document: unknown, options: ScoreOptions & { readonly name: string }): ScenarioScore {
  if (!isJsonObject(document) || !isJsonObject(document['expect'])) {
    throw new Error(`${options.name} is no scenario: it has no \`expect\``);
  }
  const expected = document['expect'];
  const stuckAt = numberOr(expected['stuckAt'], null);
  const onset = numberOr(expected['onset'], stuckAt);
  const flagged = stuckPatterns(document, options);
  const firstFlag = flagged.length === 0 ? null : Math.min(...flagged.map((pattern) => pattern.flaggedAt ?? Infinity));
  const kinds = flagged.filter((pattern) => pattern.flaggedAt === firstFlag).map((pattern) => pattern.kind);
  return {
    id: typeof document['id'] === 'string' ? document['id'] : options.name,
    debatable: document['debatable'] === true,
    expectedKind: typeof expected['kind'] === 'string' ? expected['kind'] : null,
    stuckAt,
    verdict: verdictOf(firstFlag, stuckAt, onset),
    firstFlag,
    flaggedKinds: [...new Set(kinds)],
  };
}

function verdictOf(firstFlag: number | null, stuckAt: number | null, onset: number | null): Verdict {
  if (stuckAt === null) return firstFlag === null ? 'right' : 'false';
  if (firstFlag === null) return 'missed';
  if (onset !== null && firstFlag < onset) return 'premature';
  return firstFlag > stuckAt ? 'late' : 'right';
}

function stuckPatterns(
  document: unknown,
  options: ScoreOptions & { readonly name: string },
): readonly TrajectoryPattern[] {
  const source = options.flagless === true ? withoutFlags(document) : document;
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  const names = new Map<string, string>();
  let seq = 0;
  for (const item of callsImporter.read(source, { path: options.name, name: options.name })) {
    if (item.type === 'diagnostic') throw new Error(`${options.name}: ${item.diagnostic.message}`);
    if (item.type !== 'record') continue;
    const payload = options.opaque === true ? withOpaqueName(item.payload, names) : item.payload;
    analysis.fold({ schema_version: 1, seq, depth: 0, recorded_at_unix_ms: item.atMs ?? 0, payload });
    seq += 1;
  }
  const [fault] = analysis.faults;
  if (fault !== undefined) throw new Error(`${options.name}: ${fault.detector} threw ${fault.message}`);
  return analysis.patterns().filter((pattern) => pattern.stuck && pattern.flaggedAt !== null);
}

function withoutFlags(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document, (key, value: unknown) => (key === 'isError' ? undefined : value)));
}

function withOpaqueName(payload: TrajectoryPayload, names: Map<string, string>): TrajectoryPayload {
  if (payload.kind !== 'tool_started' && payload.kind !== 'tool_ended') return payload;
  const name = names.get(payload.tool_name) ?? `mcp__srv__op${1_000 + names.size * 37}`;
  names.set(payload.tool_name, name);
  return { ...payload, tool_name: name };
}

function numberOr(value: unknown, fallback: number | null): number | null {
  return typeof value === 'number' ? value : fallback;
}
