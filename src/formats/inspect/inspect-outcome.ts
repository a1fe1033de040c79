import { present } from '../../base/present.ts';
import { type Json, isJsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import { type JsonMembers, membersOf } from '../parts/json-member.ts';
import { asJson, textOrUndefined } from '../parts/source-content.ts';

const MAX_ERROR_CHARS = 500;

/** Inspect's letter grades and the words its own `value_to_float` knows, as rewards. */
const GRADES: ReadonlyMap<string, number> = new Map([
  ['C', 1],
  ['P', 0.5],
  ['I', 0],
  ['N', 0],
  ['yes', 1],
  ['true', 1],
  ['no', 0],
  ['false', 0],
]);

/**
 * How a sample ended: by its `error`, its `limit` or its scores; undefined when it has none of them. Reward is
 * the first score, where it is a number or a grade; success is a full grade, or a number that is exactly 1 or 0.
 * All scores are kept as labels.
 */
export function inspectOutcome(sample: JsonMembers): RunEnded | undefined {
  const error = isJsonObject(sample.error) ? sample.error : undefined;
  const limit = isJsonObject(sample.limit) ? sample.limit : undefined;
  // Early versions wrote one `score` without a name.
  const scores = Object.entries(isJsonObject(sample.score) ? { score: sample.score } : membersOf(sample.scores));
  if (error === undefined && limit === undefined && scores.length === 0) return undefined;
  const values: Record<string, Json> = {};
  for (const [name, score] of scores) values[name] = asJson(membersOf(score).value);
  const labels: Record<string, Json> = {};
  if (scores.length > 0) labels.scores = values;
  if (error !== undefined) labels.error = (textOrUndefined(error.message) ?? 'unknown').slice(0, MAX_ERROR_CHARS);
  if (limit !== undefined) labels.limit = textOrUndefined(limit.type) ?? 'unknown';
  const [first] = scores;
  const reward = first === undefined ? undefined : rewardOf(membersOf(first[1]).value);
  return {
    kind: 'run_ended',
    outcome: error !== undefined ? 'error' : limit !== undefined ? 'limit' : 'ended',
    new_messages: [],
    ...present({ reward }),
    ...(reward === 1 || reward === 0 ? { success: reward === 1 } : {}),
    labels,
  };
}

function rewardOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const grade = GRADES.get(value) ?? GRADES.get(value.toLowerCase());
  if (grade !== undefined) return grade;
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}
