import { textOrUndefined } from '../../base/json-member.ts';
import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource } from '../importer.ts';
import { atifStepItems } from './atif-steps.ts';
import { atifOutcome } from './atif-outcome.ts';
import { RunItems } from '../parts/run-items.ts';
import { sourceContent } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { textOfContent } from '../../records/stored-message.ts';
import { UniqueNames } from '../parts/unique-names.ts';

type JsonMembers = Readonly<Record<string, unknown>>;

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
    const waiting: { readonly trajectory: unknown; readonly parent?: string }[] = [{ trajectory: document }];
    // A list replaces recursion, because the source determines the nesting depth.
    for (const { trajectory, parent } of waiting) {
      if (!isJsonObject(trajectory)) {
        const message = 'a subagent trajectory is not an object';
        yield { type: 'diagnostic', diagnostic: { severity: 'error', message, ...runKeyOf(parent) } };
        continue;
      }
      const key = ids.take(runIdOf(trajectory, parent, source));
      yield* trajectoryItems(trajectory, key, parent);
      const children = Array.isArray(trajectory.subagent_trajectories) ? trajectory.subagent_trajectories : [];
      for (const child of children as readonly unknown[]) waiting.push({ trajectory: child, parent: key });
    }
  },
};

function runKeyOf(runKey: string | undefined): { readonly runKey?: string } {
  return runKey === undefined ? {} : { runKey };
}

function* trajectoryItems(trajectory: JsonMembers, key: string, parentId: string | undefined): Generator<ImportItem> {
  const steps: readonly unknown[] = Array.isArray(trajectory.steps) ? trajectory.steps : [];
  const agent = isJsonObject(trajectory.agent) ? trajectory.agent : {};
  const conversationId = textOrUndefined(trajectory.session_id);
  const agentName = textOrUndefined(agent.name);
  const modelId = textOrUndefined(agent.model_name);
  const task = taskOf(steps);
  const first = steps[0];
  const startedAtMs = isJsonObject(first) ? sourceTimeMs(first.timestamp) : undefined;
  yield {
    type: 'run',
    run: {
      key,
      id: key,
      format: 'atif',
      ...present({ task, parentId, conversationId, agentName, modelId, startedAtMs }),
    },
  };
  const writer = new RunItems(key);
  if (!Array.isArray(trajectory.steps)) writer.lost.add('trajectories without a list of steps');
  yield* atifStepItems(writer, steps);
  const next = textOrUndefined(trajectory.continued_trajectory_ref);
  if (next !== undefined) {
    const message = `the run goes on in another file: ${JSON.stringify(next.slice(0, 200))}`;
    yield { type: 'diagnostic', diagnostic: { severity: 'note', message, runKey: key } };
  }
  yield* writer.finish(atifOutcome(trajectory));
}

function runIdOf(trajectory: JsonMembers, parent: string | undefined, source: ImportSource): string {
  const own = textOrUndefined(trajectory.trajectory_id);
  if (own !== undefined) return own;
  const session = textOrUndefined(trajectory.session_id);
  const base = session ?? (parent === undefined ? sourceStem(source.name) : `${parent}/subagent`);
  if (parent !== undefined && base === parent) return `${parent}/subagent`;
  // The files of a continued run share the session id. Here each file is a separate run.
  const continuation = continuationOf(trajectory);
  return continuation === undefined ? base : `${base}/cont-${continuation}`;
}

function continuationOf(trajectory: JsonMembers): number | undefined {
  const agent = isJsonObject(trajectory.agent) ? trajectory.agent : {};
  for (const extra of [agent.extra, trajectory.extra]) {
    if (isJsonObject(extra) && typeof extra.continuation_index === 'number') return extra.continuation_index;
  }
  return undefined;
}

function taskOf(steps: readonly unknown[]): string | undefined {
  const first = steps.find((step) => isJsonObject(step) && step.source === 'user');
  return isJsonObject(first) ? textOrUndefined(textOfContent(sourceContent(first.message))) : undefined;
}
