import { present } from '../../base/present.ts';
import { type Json, isJsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import type { ImportedRun, ImportItem } from '../import-item.ts';
import { type JsonMembers, listOf, membersOf, numberOrUndefined } from '../parts/json-member.ts';
import { OpenHandsRun } from './openhands-run.ts';
import { RunItems } from '../parts/run-items.ts';
import { textOrUndefined } from '../parts/source-content.ts';
import { plainText } from '../parts/plain-text.ts';

const MAX_ERROR_CHARS = 500;

/** The events of a record, whatever it calls them; undefined when it is none. */
export function recordEvents(value: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const events = value.history ?? value.trajectory ?? value.events;
  return Array.isArray(events) ? (events as readonly unknown[]) : undefined;
}

/** The record's own id: `instance_id`, the issue it worked on, or a conversation's id. */
export function recordId(record: JsonMembers): string | undefined {
  const issue = membersOf(record.issue);
  const number = numberOrUndefined(issue.number);
  const issueId = number === undefined ? undefined : `${plainText(issue.owner)}/${plainText(issue.repo)}#${number}`;
  return (
    textOrUndefined(record.instance_id) ??
    issueId ??
    textOrUndefined(record.conversation_id) ??
    textOrUndefined(record.session_id)
  );
}

/** One record `{history, instruction?, metadata?, error?, …}` of an evaluation, or of a trajectory export. */
export function* openHandsRecordItems(record: JsonMembers, id: string): Generator<ImportItem> {
  const metadata = membersOf(record.metadata);
  const task = textOrUndefined(record.instruction);
  const agentName = textOrUndefined(metadata.agent_class);
  const modelId =
    textOrUndefined(membersOf(metadata.llm_config).model) ?? textOrUndefined(membersOf(metadata.llm).model);
  const run: ImportedRun = {
    key: id,
    id,
    format: 'openhands',
    ...present({ task, agentName, modelId }),
  };
  yield { type: 'run', run };
  const items = new RunItems(id);
  const events = new OpenHandsRun(items);
  for (const event of listOf(recordEvents(record))) yield* events.event(event);
  yield* events.end();
  yield* items.finish(openHandsOutcome(record, events.endedAs), events.lastMs);
}

/** How a record says its run ended; `endedAs` is what the events say. Undefined when neither says it. */
export function openHandsOutcome(record: JsonMembers, endedAs: string | undefined): RunEnded | undefined {
  const error = textOrUndefined(record.error);
  const success = successOf(record);
  if (error === undefined && success === undefined && endedAs === undefined) return undefined;
  const cost = numberOrUndefined(membersOf(record.metrics).accumulated_cost);
  const labels: Record<string, Json> = {};
  if (error !== undefined) labels.error = error.slice(0, MAX_ERROR_CHARS);
  if (cost !== undefined) labels.cost_usd = cost;
  return {
    kind: 'run_ended',
    outcome:
      error === undefined ? (endedAs ?? 'ended') : /maximum (?:iteration|budget)/i.test(error) ? 'limit' : 'error',
    new_messages: [],
    ...(success === undefined ? {} : { success, reward: success ? 1 : 0 }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  };
}

function successOf(record: JsonMembers): boolean | undefined {
  const test = membersOf(record.test_result);
  const candidates = [
    record.success,
    membersOf(record.report).resolved,
    membersOf(test.report).resolved,
    test.resolved,
    record.resolved,
  ];
  return candidates.find((value) => typeof value === 'boolean');
}
