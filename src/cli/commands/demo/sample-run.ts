import { present } from '../../../core/base/json.ts';
import { isDeepStrictEqual } from 'node:util';
import { CoxswainError } from '../../../core/base/error.ts';
import { createCoxswain, type Health } from '../../../core/run/coxswain.ts';
import type { AgentEvent } from '../../../core/records/agent-event.ts';
import type {
  AgentMessage,
  ContentBlock,
  MessageContent,
  StoredContent,
  StoredMessage,
} from '../../../core/records/agent-message.ts';
import { toStoredRecord } from '../../../core/records/decode-record.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { Run } from '../../../core/run/run.ts';
import { standardSteering } from '../../../core/steering/standard-steering.ts';
import { memoryStore } from '../../../core/store/memory-store.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import { callEventOf, type LiveEvent, type PatternEvent } from '../../runs/live-event.ts';
import type { PatternLevel, TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';

export class PatternChanges {
  readonly #seen = new Map<string, { readonly level: PatternLevel; readonly cleared: boolean }>();

  take(patterns: readonly TrajectoryPattern[]): readonly PatternEvent[] {
    return patterns.flatMap((pattern) => {
      const { identity, flaggedAt, level, clearedAt } = pattern;
      if (flaggedAt === null) return [];
      // A pattern that returns after it was cleared is flagged at a different call.
      const key = `${flaggedAt} ${identity}`;
      const seenBefore = this.#seen.get(key);
      const isCleared = clearedAt !== undefined;
      if (seenBefore?.level === level && seenBefore.cleared === isCleared) return [];
      this.#seen.set(key, { level, cleared: isCleared });
      const change = isCleared ? 'cleared' : seenBefore === undefined ? 'flagged' : 'raised';
      return [{ type: 'pattern', change, pattern }];
    });
  }
}

/** The last calls of the six-minute sample reach the warning threshold of this deadline. */
const DEADLINE = { minutes: 8 };
const CHANNEL = 'demo';

interface PlayOptions {
  readonly store: TrajectoryStore;
  readonly runId: string;
  readonly onEvent: (event: LiveEvent) => Promise<void>;
  /** Called when the agent follows the advice. `saved`: number of recorded calls that the agent skips. */
  readonly onListening?: (saved: number) => Promise<void>;
  readonly ignoresAdvice?: true;
}

/** The file that contains the error. The recorded agent read it 22 calls later. */
const WAY_OUT = 'tax.mjs';

/** Plays records at their times, the same each time. After the first advice about a pattern it skips to the turn that reads the error. */
export async function playSample(
  records: readonly TrajectoryRecord[],
  options: PlayOptions,
): Promise<{ readonly health: Health; readonly isStored: boolean }> {
  let nowMs = records[0]?.recorded_at_unix_ms ?? 0;
  const cox = createCoxswain({
    ...standardSteering(),
    store: options.store,
    clock: { nowMs: () => nowMs },
    // Sets measured durations to 0, because records must not depend on the speed of the machine.
    measureMs: () => 0,
  });
  const startedPayload = records.find(({ payload }) => payload.kind === 'run_started')?.payload;
  const task = startedPayload?.kind === 'run_started' ? startedPayload.task : undefined;
  const run = cox.startRun({
    runId: options.runId,
    agentName: 'scripted sample',
    deadline: DEADLINE,
    ...present({ task }),
  });
  const player = new Player(run, options.onEvent);
  const wayOut = wayOutOf(records);
  let skippedMs = 0;
  for (let at = 0; at < records.length; at += 1) {
    if (options.ignoresAdvice !== true && player.wasAdvised && at < wayOut) {
      const skipped = records.slice(at, wayOut);
      skippedMs = timeOf(records[wayOut]) - timeOf(records[at]);
      await options.onListening?.(skipped.filter(({ payload }) => payload.kind === 'tool_started').length);
      at = wayOut;
    }
    const record = records[at];
    if (record === undefined) break;
    const { payload } = record;
    // At the time of the previous record, the model is about to be called.
    if (payload.kind === 'turn_started' && run.analysis.turns > 0) await player.advise('pre_tool_selection');
    nowMs = timeOf(record) - skippedMs;
    await player.play(record);
    if (payload.kind === 'tool_ended') await player.advise('post_tool_result');
  }
  const isStored = (await run.flush()) === 'stored';
  return { health: cox.health(), isStored };
}

function wayOutOf(records: readonly TrajectoryRecord[]): number {
  const readIndex = records.findIndex(
    ({ payload }) => payload.kind === 'tool_started' && isDeepStrictEqual(payload.args, { path: WAY_OUT }),
  );
  return Math.max(
    0,
    records.slice(0, Math.max(0, readIndex)).findLastIndex(({ payload }) => payload.kind === 'turn_started'),
  );
}

function timeOf(record: TrajectoryRecord | undefined): number {
  return record?.recorded_at_unix_ms ?? 0;
}

class Player {
  readonly #run: Run;
  readonly #onEvent: PlayOptions['onEvent'];
  readonly #view = new RunView();
  readonly #patterns = new PatternChanges();
  wasAdvised = false;

  constructor(run: Run, onEvent: PlayOptions['onEvent']) {
    this.#run = run;
    this.#onEvent = onEvent;
  }

  async play(record: TrajectoryRecord): Promise<void> {
    const event = eventOf(record.payload);
    if (event === undefined) return;
    this.#run.emit(event);
    const call = callEventOf(this.#view.fold(record), record);
    if (call !== undefined) await this.#onEvent(call);
    for (const change of this.#patterns.take(this.#run.analysis.patterns())) await this.#onEvent(change);
  }

  async advise(point: 'pre_tool_selection' | 'post_tool_result'): Promise<void> {
    for (const advice of this.#run.advise(point)) {
      const { source, provider, severity, text } = advice;
      await this.#onEvent({ type: 'advice', source, provider, severity, point, text });
      advice.delivered(CHANNEL);
      this.wasAdvised ||= provider === 'Pattern';
    }
  }
}

/** Returns the first of `name`, `name-2` … that is unused or belongs to a complete or partial run with the same records. */
export async function freeRunId(
  name: string,
  records: readonly TrajectoryRecord[],
  store: TrajectoryStore,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const runId = attempt === 1 ? name : `${name}-${attempt}`;
    const rehearsal = memoryStore();
    await playSample(records, { store: rehearsal, runId, onEvent: async () => {} });
    if (await holdsNothingElse(store, rehearsal, runId)) return runId;
  }
}

async function holdsNothingElse(store: TrajectoryStore, expected: TrajectoryStore, runId: string): Promise<boolean> {
  const rest = expected.readRun(runId)[Symbol.asyncIterator]();
  try {
    for await (const record of store.readRun(runId)) {
      const next = await rest.next();
      if (next.done === true || !isDeepStrictEqual(toStoredRecord(record), toStoredRecord(next.value))) return false;
    }
    return true;
  } catch (error) {
    // A record that this version cannot read does not belong to this run.
    if (error instanceof CoxswainError && (error.code === 'invalid-record' || error.code === 'schema-version')) {
      return false;
    }
    throw error;
  }
}

function eventOf(payload: TrajectoryPayload): AgentEvent | undefined {
  switch (payload.kind) {
    case 'turn_started':
      return { type: 'turn_start' };
    case 'message_appended':
      return { type: 'message_end', message: messageOf(payload.message) };
    case 'tool_started': {
      const { tool_call_id: toolCallId, tool_name: toolName, args } = payload;
      return { type: 'tool_execution_start', toolCallId, toolName, args };
    }
    case 'tool_ended': {
      const { tool_call_id: toolCallId, tool_name: toolName, result, is_error: isError } = payload;
      return { type: 'tool_execution_end', toolCallId, toolName, result, isError };
    }
    case 'run_ended': {
      const { outcome, success } = payload;
      return { type: 'agent_end', outcome, ...present({ success }) };
    }
    default:
      return undefined;
  }
}

function messageOf(message: StoredMessage): AgentMessage {
  const content = contentOf(message.content);
  if (message.role !== 'tool_result') return { role: message.role, content };
  return { role: 'tool_result', toolCallId: message.tool_call_id, content };
}

function contentOf(content: StoredContent): MessageContent {
  if (typeof content === 'string') return content;
  return content.flatMap((block): readonly ContentBlock[] =>
    block.type === 'image' || block.type === 'other' ? [] : [block],
  );
}
