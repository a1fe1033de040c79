import type { StoredUsage } from '../../records/stored-message.ts';
import { listOf, membersOf } from '../parts/json-member.ts';
import { textOrUndefined } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';

/** When something in a sample began and ended, in Unix milliseconds. */
interface InspectSpan {
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly usage?: StoredUsage | undefined;
}

/** What a sample's events lend to its messages. */
export interface InspectTimes {
  /** By the id of the assistant message that the request gave. */
  readonly answers: ReadonlyMap<string, InspectSpan>;
  /** By tool call id; for an id that repeats, one span an execution. */
  readonly calls: ReadonlyMap<string, readonly InspectSpan[]>;
  readonly firstMs?: number | undefined;
  readonly lastMs?: number | undefined;
  readonly compactions: number;
}

/** Reads the times from a sample's events. Calls are never counted here: the messages hold them all. */
export function inspectTimes(events: unknown): InspectTimes {
  const answers = new Map<string, InspectSpan>();
  const calls = new Map<string, InspectSpan[]>();
  let firstMs: number | undefined;
  let lastMs: number | undefined;
  let compactions = 0;
  for (const value of listOf(events)) {
    const event = membersOf(value);
    const startMs = sourceTimeMs(event.timestamp);
    const endMs = sourceTimeMs(event.completed);
    firstMs ??= startMs;
    lastMs = endMs ?? startMs ?? lastMs;
    if (event.event === 'compaction') compactions += 1;
    if (event.event === 'model') {
      const output = membersOf(event.output);
      const id = textOrUndefined(membersOf(membersOf(listOf(output.choices)[0]).message).id);
      if (id !== undefined) answers.set(id, { startMs, endMs, usage: usageOf(output.usage) });
    }
    if (event.event === 'tool') {
      const id = textOrUndefined(event.id);
      if (id === undefined) continue;
      const spans = calls.get(id);
      if (spans === undefined) calls.set(id, [{ startMs, endMs }]);
      else spans.push({ startMs, endMs });
    }
  }
  return { answers, calls, firstMs, lastMs, compactions };
}

/** Inspect names its cache counts in its own way; the rest is as OpenAI's. */
function usageOf(value: unknown): StoredUsage | undefined {
  const usage = membersOf(value);
  return sourceUsage({
    ...usage,
    cache_read_input_tokens: usage.input_tokens_cache_read,
    cache_creation_input_tokens: usage.input_tokens_cache_write,
  });
}
