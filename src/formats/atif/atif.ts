import {
  isJsonObject,
  type JsonObject,
  type Json,
  type JsonMembers,
  listOf,
  membersOf,
  textOrUndefined,
} from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem, type DocumentImporter, type ImportSource } from '../importer.ts';
import { runEnded, RunItems, type AnswerPart } from '../parts/run-items.ts';
import {
  sourceContent,
  asJson,
  sourceBlocks,
  sourceResult,
  sourceStem,
  sourceTimeMs,
  sourceCall,
  sourceUsage,
} from '../parts/source-content.ts';
import { textOfContent } from '../../core/records/agent-message.ts';
import { UniqueNames } from '../parts/skip-counts.ts';
import type { CallShape } from '../parts/call-ids.ts';

/**
 * ATIF 1.0 to 1.8, leniently. Embedded subagent trajectories are child runs. A continuation file has its own run id and
 * the conversation id of the first file. Errors are inferred from the text, unless `extra.coxswain` or `extra.is_error`
 * sets the flag.
 */
export const atifImporter: DocumentImporter = {
  shape: 'document',
  format: 'atif',
  recognise(document) {
    if (!isJsonObject(document)) return 0;
    if (typeof document.schema_version === 'string' && document.schema_version.startsWith('ATIF')) return 1;
    const first: unknown = Array.isArray(document.steps) ? document.steps[0] : undefined;
    const looksLikeStep = isJsonObject(first) && 'step_id' in first && 'source' in first;
    return looksLikeStep && isJsonObject(document.agent) ? 0.7 : 0;
  },
  *read(document, source) {
    const ids = new UniqueNames();
    const queue: { readonly trajectory: unknown; readonly parent?: string }[] = [{ trajectory: document }];
    // A list replaces recursion, because the source determines the nesting depth.
    for (const { trajectory, parent } of queue) {
      if (!isJsonObject(trajectory)) {
        yield diagnosticItem('error', 'a subagent trajectory is not an object', { runKey: parent });
        continue;
      }
      const key = ids.take(runIdOf(trajectory, parent, source));
      yield* trajectoryItems(trajectory, key, parent);
      for (const child of listOf(trajectory.subagent_trajectories)) queue.push({ trajectory: child, parent: key });
    }
  },
};

function* trajectoryItems(trajectory: JsonMembers, key: string, parentId: string | undefined): Generator<ImportItem> {
  const steps = listOf(trajectory.steps);
  const agent = membersOf(trajectory.agent);
  const modelId = textOrUndefined(agent.model_name);
  const writer = new RunItems(key);
  yield writer.begin('atif', {
    task: taskOf(steps),
    parentId,
    conversationId: textOrUndefined(trajectory.session_id),
    agentName: textOrUndefined(agent.name),
    modelId,
    startedAtMs: earliestMs(steps),
  });
  if (!Array.isArray(trajectory.steps)) writer.lost.add('trajectories without a list of steps');
  yield* atifStepItems(writer, steps, modelId);
  const next = textOrUndefined(trajectory.continued_trajectory_ref);
  if (next !== undefined) {
    const message = `the run goes on in another file: ${JSON.stringify(next.slice(0, 200))}`;
    yield diagnosticItem('note', message, { runKey: key });
  }
  yield* writer.finish(atifOutcome(trajectory) ?? terminusOutcome(steps));
}

/** Some converters write the steps of subagents first. */
function earliestMs(steps: readonly unknown[]): number | undefined {
  const times = steps.flatMap((step) => sourceTimeMs(membersOf(step).timestamp) ?? []);
  return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
}

function runIdOf(trajectory: JsonMembers, parent: string | undefined, source: ImportSource): string {
  const ownId = textOrUndefined(trajectory.trajectory_id);
  if (ownId !== undefined) return ownId;
  const session = textOrUndefined(trajectory.session_id);
  const base = session ?? (parent === undefined ? sourceStem(source.name) : `${parent}/subagent`);
  if (parent !== undefined && base === parent) return `${parent}/subagent`;
  // The files of a continued run share the session id. Here each file is a separate run.
  const extras = [membersOf(trajectory.agent).extra, trajectory.extra];
  const continuation = extras
    .map((extra) => membersOf(extra).continuation_index)
    .find((index) => typeof index === 'number');
  return continuation === undefined ? base : `${base}/cont-${continuation}`;
}

function taskOf(steps: readonly unknown[]): string | undefined {
  const first = steps.find((step) => isJsonObject(step) && step.source === 'user');
  return isJsonObject(first) ? textOrUndefined(textOfContent(sourceContent(first.message))) : undefined;
}

/** Returns how the run ended, from `extra.coxswain` `{outcome, success?, reward?, labels?}`. ATIF itself has no such field. */
function atifOutcome(trajectory: JsonMembers): RunEnded | undefined {
  const coxswainFields = membersOf(membersOf(trajectory.extra).coxswain);
  const outcome = textOrUndefined(coxswainFields.outcome);
  const success = typeof coxswainFields.success === 'boolean' ? coxswainFields.success : undefined;
  const reward = typeof coxswainFields.reward === 'number' ? coxswainFields.reward : undefined;
  if (outcome === undefined && success === undefined && reward === undefined) return undefined;
  // An object in decoded JSON is a JSON object.
  const labels = isJsonObject(coxswainFields.labels) ? (coxswainFields.labels as JsonObject) : undefined;
  return runEnded(outcome ?? 'ended', { success, reward, labels });
}

/** Returns the end that Terminus writes into the text of its last step. */
function terminusOutcome(steps: readonly unknown[]): RunEnded | undefined {
  const last = membersOf(steps.findLast((step) => membersOf(step).source === 'agent'));
  const isComplete = /"task_complete"\s*:\s*true/.test(textOfContent(sourceContent(last.message)));
  return isComplete ? runEnded('ended', { reason: 'answered' }) : undefined;
}

function* atifStepItems(
  writer: RunItems,
  steps: readonly unknown[],
  modelId: string | undefined,
): Generator<ImportItem> {
  for (const step of steps) {
    if (!isJsonObject(step)) {
      writer.lost.add('steps that are not objects');
      continue;
    }
    if (step.is_copied_context === true) writer.skipped.add('marks of steps copied from an earlier trajectory');
    yield* stepItems(writer, step, textOrUndefined(step.model_name) ?? modelId);
  }
}

function* stepItems(writer: RunItems, step: JsonMembers, modelId: string | undefined): Generator<ImportItem> {
  const atMs = sourceTimeMs(step.timestamp);
  const trigger = compactionOf(step);
  if (trigger !== undefined) yield writer.record({ kind: 'compaction', trigger }, atMs);
  if (step.source === 'agent') yield* agentStepItems(writer, { step, modelId }, atMs);
  else if (step.source === 'user' || step.source === 'system') {
    yield writer.message(step.source, sourceContent(step.message), atMs);
    for (const result of resultsOf(step)) yield* resultItems(writer, result, atMs);
  } else writer.lost.add('steps of unknown source');
}

function* agentStepItems(
  writer: RunItems,
  { modelId, step }: { readonly step: JsonMembers; readonly modelId: string | undefined },
  atMs: number | undefined,
): Generator<ImportItem> {
  const reasoning = textOrUndefined(step.reasoning_content);
  const calls = listOf(step.tool_calls).map(callOf);
  const parts: readonly AnswerPart[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...sourceBlocks(step.message),
    ...calls.map((call) => ({ type: 'call', call }) as const),
  ];
  // Some converters put a result on the step after its call. Such results are read first, because the next turn ends open calls.
  const ownIds = new Set(calls.map((call) => call.sourceId));
  const isLate = (result: unknown): boolean => {
    const sourceId = textOrUndefined(membersOf(result).source_call_id);
    return sourceId !== undefined && !ownIds.has(sourceId) && writer.calls.isOpen(sourceId);
  };
  const ownResults: unknown[] = [];
  for (const result of resultsOf(step)) {
    if (isLate(result)) yield* resultItems(writer, result, atMs);
    else ownResults.push(result);
  }
  const answerModel = textOrUndefined(step.model_name);
  yield* writer.answer({ parts, modelId: answerModel, usage: sourceUsage(step.metrics, modelId) }, atMs);
  // Harbor's converter for Claude Code writes one call per step, and what is known of its result beside the step.
  const metadata = membersOf(step.extra).tool_result_metadata;
  const stepFlag = calls.length === 1 && isJsonObject(metadata) ? metadata.is_error === true : undefined;
  for (const result of ownResults) yield* resultItems(writer, result, atMs, stepFlag);
}

function resultsOf(step: JsonMembers): readonly unknown[] {
  return listOf(membersOf(step.observation).results);
}

function* resultItems(
  writer: RunItems,
  result: unknown,
  atMs: number | undefined,
  stepFlag?: boolean,
): Generator<ImportItem> {
  if (!isJsonObject(result)) {
    writer.lost.add('observations that are not objects');
    return;
  }
  const sourceId = textOrUndefined(result.source_call_id);
  if (sourceId !== undefined || writer.calls.openCount > 0) {
    yield* writer.result({ sourceId, result: contentOf(result), isError: errorFlag(result) ?? stepFlag }, atMs);
    return;
  }
  // Agents that write actions as text have observations without calls. The agent reads those observations as messages.
  const content = sourceContent(result.content);
  if (content.length > 0) yield writer.message('user', content, atMs);
  writer.skipped.add(
    content.length > 0 ? 'observations without a call, kept as user messages' : 'observations without content',
  );
}

/** Reads a call. ATIF arguments must be objects, so other arguments are in `extra.coxswain`. */
function callOf(value: unknown): CallShape {
  const coxswainFields = coxswainExtra(membersOf(value));
  return 'arguments' in coxswainFields
    ? { ...sourceCall(value), args: asJson(coxswainFields.arguments) }
    : sourceCall(value);
}

/** Returns the content. If it is empty, returns the references to subagent trajectories. */
function contentOf(result: JsonMembers): Json {
  const coxswainFields = coxswainExtra(result);
  if ('result' in coxswainFields) return asJson(coxswainFields.result);
  const { content } = result;
  return content === undefined || content === null
    ? asJson(result.subagent_trajectory_ref ?? '')
    : sourceResult(content);
}

function errorFlag(result: JsonMembers): boolean | undefined {
  const flags = [coxswainExtra(result).is_error, membersOf(result.extra).is_error];
  return flags.find((flag) => typeof flag === 'boolean');
}

function coxswainExtra({ extra }: JsonMembers): JsonMembers {
  return membersOf(membersOf(extra).coxswain);
}

function compactionOf(step: JsonMembers): string | undefined {
  const management = membersOf(membersOf(step.extra).context_management);
  if (management.type !== 'compaction') return undefined;
  return textOrUndefined(management.trigger) ?? textOrUndefined(management.boundary) ?? 'unspecified';
}
