import { type JsonMembers, membersOf, textOrUndefined } from '../../base/json-member.ts';
import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter } from '../importer.ts';
import { chatMessageItems, firstUserText } from '../openai-chat/openai-chat-messages.ts';
import { RunItems } from '../parts/run-items.ts';
import { UniqueNames } from '../parts/unique-names.ts';

const LOOKED_AT = 8;

/**
 * Reads tau-bench results: a list of `{task_id, trial, reward, info, traj}`, or one such object. Each object is a run
 * `task-<task_id>-trial-<trial>` with its reward. A run with reward 1 succeeded.
 */
export const tauBenchImporter: DocumentImporter = {
  shape: 'document',
  format: 'tau-bench',
  recognise(document) {
    const entries = (Array.isArray(document) ? (document as readonly unknown[]) : [document]).slice(0, LOOKED_AT);
    if (!isEpisode(entries[0])) return 0;
    const share = entries.filter((entry) => isEpisode(entry)).length / entries.length;
    return share * (Array.isArray(document) ? 0.97 : 0.9);
  },
  *read(document) {
    const ids = new UniqueNames();
    let unusable = 0;
    for (const episode of Array.isArray(document) ? (document as readonly unknown[]) : [document]) {
      if (isEpisode(episode)) yield* episodeItems(episode, ids);
      else unusable += 1;
    }
    if (unusable > 0) {
      const message = `not usable: ${unusable} entries without a traj list`;
      yield { type: 'diagnostic', diagnostic: { severity: 'error', message } };
    }
  },
};

function isEpisode(value: unknown): value is JsonMembers & { readonly traj: readonly unknown[] } {
  return isJsonObject(value) && Array.isArray(value.traj) && ('reward' in value || 'task_id' in value);
}

function* episodeItems(
  episode: JsonMembers & { readonly traj: readonly unknown[] },
  ids: UniqueNames,
): Generator<ImportItem> {
  const id = ids.take(`task-${numberText(episode.task_id)}-trial-${numberText(episode.trial)}`);
  const info = membersOf(episode.info);
  const instruction = isJsonObject(info.task) ? textOrUndefined(info.task.instruction) : undefined;
  const task = instruction ?? firstUserText(episode.traj);
  yield { type: 'run', run: { key: id, id, format: 'tau-bench', ...present({ task }) } };
  const writer = new RunItems(id);
  for (const message of episode.traj) yield* chatMessageItems(writer, message, { readsAsError: beginsWithError });
  yield* writer.finish(outcomeOf(episode, info));
}

/** Returns true for a failed call. tau-bench's tools have no error flag, but the result of a failed call begins with `Error`. */
function beginsWithError(message: JsonMembers): boolean {
  return typeof message.content === 'string' && message.content.startsWith('Error');
}

function outcomeOf(episode: JsonMembers, info: JsonMembers): RunEnded | undefined {
  const { reward } = episode;
  if (typeof reward !== 'number') return undefined;
  // An episode that crashed has the exception in `info.error` and an empty `traj`.
  const outcome = typeof info.error === 'string' ? 'error' : 'ended';
  return { kind: 'run_ended', outcome, new_messages: [], success: reward === 1, reward };
}

function numberText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '0';
}
