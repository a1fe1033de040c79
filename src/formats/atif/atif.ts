import { isJsonObject, type JsonObject } from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource } from '../importer.ts';
import { atifStepItems } from './atif-steps.ts';
import { type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json-member.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { sourceContent } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { textOfContent } from '../../core/records/stored-message.ts';
import { UniqueNames } from '../parts/unique-names.ts';

/**
 * Reads ATIF 1.0 to 1.8, leniently. Unknown fields are skipped, and missing fields are derived if possible. Embedded subagent
 * trajectories are child runs. A continuation file has its own run id and the conversation id of the first file. The format
 * has no error flag. Errors are inferred from the text, unless `extra.coxswain` or `extra.is_error` of a result sets the flag.
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
  const writer = new RunItems(key);
  yield writer.begin('atif', {
    task: taskOf(steps),
    parentId,
    conversationId: textOrUndefined(trajectory.session_id),
    agentName: textOrUndefined(agent.name),
    modelId: textOrUndefined(agent.model_name),
    startedAtMs: sourceTimeMs(membersOf(steps[0]).timestamp),
  });
  if (!Array.isArray(trajectory.steps)) writer.lost.add('trajectories without a list of steps');
  yield* atifStepItems(writer, steps);
  const next = textOrUndefined(trajectory.continued_trajectory_ref);
  if (next !== undefined) {
    const message = `the run goes on in another file: ${JSON.stringify(next.slice(0, 200))}`;
    yield diagnosticItem('note', message, { runKey: key });
  }
  yield* writer.finish(atifOutcome(trajectory));
}

function runIdOf(trajectory: JsonMembers, parent: string | undefined, source: ImportSource): string {
  const ownId = textOrUndefined(trajectory.trajectory_id);
  if (ownId !== undefined) return ownId;
  const session = textOrUndefined(trajectory.session_id);
  const base = session ?? (parent === undefined ? sourceStem(source.name) : `${parent}/subagent`);
  if (parent !== undefined && base === parent) return `${parent}/subagent`;
  // The files of a continued run share the session id. Here each file is a separate run.
  const continuation = continuationOf(trajectory);
  return continuation === undefined ? base : `${base}/cont-${continuation}`;
}

function continuationOf(trajectory: JsonMembers): number | undefined {
  const extras = [membersOf(trajectory.agent).extra, trajectory.extra];
  return extras.map((extra) => membersOf(extra).continuation_index).find((index) => typeof index === 'number');
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
