import { present } from '../../base/present.ts';
import type { StoredContentBlock } from '../../records/stored-message.ts';
import type { ImportedRun, ImportItem } from '../import-item.ts';
import { attachmentResolver, type Resolve } from './inspect-attachments.ts';
import { inspectBlocks, inspectContent } from './inspect-content.ts';
import { inspectOutcome } from './inspect-outcome.ts';
import { inspectTimes, type InspectTimes } from './inspect-times.ts';
import { type JsonMembers, listOf, membersOf } from '../parts/json-member.ts';
import { withDuration } from '../parts/result-duration.ts';
import { RunItems } from '../parts/run-items.ts';
import { callArguments } from '../parts/source-call.ts';
import { asJson, sourceResult, textOrUndefined } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import type { UniqueNames } from '../parts/unique-names.ts';

/** What the log says of all its samples. */
export interface InspectLog {
  /** `eval` of the log's header. */
  readonly spec: JsonMembers;
  /** Names the runs of a log without any id. */
  readonly stem: string;
  readonly ids: UniqueNames;
}

/** The state of one sample while its messages are read. */
interface Reading {
  readonly items: RunItems;
  readonly resolve: Resolve;
  readonly times: InspectTimes;
  /** Executions seen so far, by call id, for ids that repeat. */
  readonly seen: Map<string, number>;
}

/**
 * One sample of an Inspect log as a run, `<eval id>/<sample id>/epoch-<n>`.
 *
 * Counting rule: every entry of an assistant message's `tool_calls` is one call, its result the `tool` message
 * with its id, and nothing else: events lend times and token counts only, because they repeat the messages and
 * hold the scorers' own requests too. A `tool` message whose call is in no message (a shortened log) is a call
 * with null args. `is_error` is the tool message's `error`.
 */
export function* inspectSampleItems(value: unknown, log: InspectLog): Generator<ImportItem> {
  const sample = membersOf(value);
  const times = inspectTimes(sample.events);
  const run = runOf(sample, log, times);
  const items = new RunItems(run.key);
  const resolve = attachmentResolver(sample.attachments, () => items.lost.add('attachments the log does not hold'));
  const task = taskOf(sample, resolve);
  yield { type: 'run', run: task === undefined ? run : { ...run, task } };
  if (!Array.isArray(sample.messages)) items.lost.add('samples without a list of messages');
  const reading: Reading = { items, resolve, times, seen: new Map() };
  for (const message of listOf(sample.messages)) yield* messageItems(reading, membersOf(message));
  for (let count = 0; count < times.compactions; count += 1) items.skipped.add('compactions, whose place is not known');
  yield* items.finish(inspectOutcome(sample), sourceTimeMs(sample.completed_at) ?? times.lastMs);
}

function runOf(sample: JsonMembers, log: InspectLog, times: InspectTimes): ImportedRun {
  const { spec } = log;
  const base = textOrUndefined(spec.eval_id) ?? textOrUndefined(spec.task_id) ?? textOrUndefined(spec.run_id);
  const id = log.ids.take(`${base ?? log.stem}/${nameOf(sample.id)}/epoch-${nameOf(sample.epoch)}`);
  const agentName = textOrUndefined(spec.solver);
  const modelId = textOrUndefined(spec.model);
  const startedAtMs = sourceTimeMs(sample.started_at) ?? times.firstMs ?? sourceTimeMs(spec.created);
  return {
    key: id,
    id,
    format: 'inspect',
    ...present({ agentName, modelId, startedAtMs }),
  };
}

function nameOf(value: unknown): string {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : '1';
}

function taskOf(sample: JsonMembers, resolve: Resolve): string | undefined {
  const messages = listOf(Array.isArray(sample.input) ? sample.input : sample.messages).map(membersOf);
  const input = typeof sample.input === 'string' ? sample.input : messages.find(({ role }) => role === 'user')?.content;
  const text = sourceResult(resolve(input ?? ''));
  return typeof text === 'string' ? textOrUndefined(text) : undefined;
}

function* messageItems(reading: Reading, message: JsonMembers): Generator<ImportItem> {
  const { items, resolve } = reading;
  switch (message.role) {
    case 'system':
    case 'user':
      yield items.message(message.role, inspectContent(resolve(message.content)), undefined);
      break;
    case 'assistant':
      yield* answerItems(reading, message);
      break;
    case 'tool':
      yield* toolItems(reading, message);
      break;
    default:
      items.lost.add('messages of unknown role');
  }
}

function answerItems(reading: Reading, message: JsonMembers): readonly ImportItem[] {
  const { items, resolve, times } = reading;
  const span = times.answers.get(textOrUndefined(message.id) ?? '');
  const odd = membersOf(coxswainMembers(message).arguments);
  const calls = listOf(message.tool_calls).map((value) => {
    const call = membersOf(value);
    const name = textOrUndefined(call.function) ?? 'unknown';
    const id = textOrUndefined(call.id) ?? '';
    const args = Object.hasOwn(odd, id) ? asJson(odd[id]) : callArguments(resolve(call.arguments));
    return { type: 'call', call: { sourceId: textOrUndefined(call.id), name, args } } as const;
  });
  const reasoning = textOrUndefined(message.reasoning);
  const before: readonly StoredContentBlock[] = reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }];
  const parts = [...before, ...inspectBlocks(resolve(message.content)), ...calls];
  const modelId = textOrUndefined(message.model);
  return items.answer({ parts, modelId, usage: span?.usage }, span?.endMs ?? span?.startMs);
}

function* toolItems(reading: Reading, message: JsonMembers): Generator<ImportItem> {
  const { items, resolve, times, seen } = reading;
  const sourceId = textOrUndefined(message.tool_call_id);
  if (sourceId === undefined ? items.calls.openCount === 0 : !items.calls.isOpen(sourceId)) {
    items.skipped.add('calls that only their result shows');
    const call = { sourceId, name: textOrUndefined(message.function) ?? 'unknown', args: null };
    yield* items.answer({ parts: [{ type: 'call', call }], sameTurn: items.calls.openCount > 0 }, undefined);
  }
  const execution = seen.get(sourceId ?? '') ?? 0;
  seen.set(sourceId ?? '', execution + 1);
  const span = times.calls.get(sourceId ?? '')?.[execution];
  const error = message.error === undefined || message.error === null ? undefined : membersOf(message.error);
  const ours = coxswainMembers(message);
  const content = 'result' in ours ? asJson(ours.result) : sourceResult(resolve(message.content));
  // The model sees the error's text in the place of an empty content.
  const result = content === '' && error !== undefined ? (textOrUndefined(error.message) ?? content) : content;
  const ended = items.result({ sourceId, result, isError: error !== undefined }, span?.endMs);
  const { startMs, endMs } = span ?? {};
  yield* withDuration(ended, startMs === undefined || endMs === undefined ? undefined : endMs - startMs);
}

/** What an export of coxswain adds to a message: values that Inspect has no place for. */
function coxswainMembers(message: JsonMembers): JsonMembers {
  return membersOf(membersOf(message.metadata).coxswain);
}
