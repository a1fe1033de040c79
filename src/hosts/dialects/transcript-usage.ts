import { isJsonObject } from '../../core/base/json.ts';
import { present } from '../../core/base/present.ts';
import { copilotUsage } from '../../formats/copilot/copilot-run.ts';
import { geminiUsage } from '../../formats/gemini/gemini-run.ts';
import { membersOf, textOrUndefined } from '../../core/base/json-member.ts';
import { sourceTimeMs } from '../../formats/parts/source-time.ts';
import { sourceUsage } from '../../formats/parts/source-usage.ts';
import type { StoredUsage } from '../../core/records/stored-message.ts';

/** Tokens of one answer in a transcript, in the format of a hook payload. */
export interface TranscriptUsage {
  /** Unix milliseconds. */
  readonly at_ms: number;
  readonly model?: string;
  readonly usage: StoredUsage;
}

type Entries = readonly Readonly<Record<string, unknown>>[];

/** @param model  the model of the session, which the records of the rollout do not contain */
export function codexUsages(entries: Entries, model: unknown): readonly TranscriptUsage[] {
  return entries.flatMap(({ payload, timestamp, type }) =>
    type === 'token_usage_record' ? usageAt(timestamp, model, sourceUsage(membersOf(payload)['usage'])) : [],
  );
}

export function copilotUsages(entries: Entries): readonly TranscriptUsage[] {
  return entries.flatMap(({ data, timestamp, type }) => {
    if (type !== 'session.usage_record') return [];
    const usage = membersOf(membersOf(data)['usage']);
    return usageAt(timestamp, usage['model'], copilotUsage(usage));
  });
}

/** A growing entry is written again under its id. */
export function geminiUsages(entries: Entries): readonly TranscriptUsage[] {
  const answers = new Map(entries.filter(({ type }) => type === 'gemini').map((entry) => [entry['id'], entry]));
  return [...answers.values()].flatMap(({ model, timestamp, tokens }) =>
    usageAt(timestamp, model, isJsonObject(tokens) ? geminiUsage(tokens) : undefined),
  );
}

function usageAt(timestamp: unknown, model: unknown, usage: StoredUsage | undefined): readonly TranscriptUsage[] {
  const at_ms = sourceTimeMs(timestamp);
  if (usage === undefined || at_ms === undefined) return [];
  return [{ at_ms, usage, ...present({ model: textOrUndefined(model) }) }];
}
