import { type JsonMembers, membersOf, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter } from '../importer.ts';
import { chatMessageItems, firstUserText } from '../openai-chat/openai-chat-messages.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
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
    const skipCounts = new SkipCounts();
    for (const episode of Array.isArray(document) ? (document as readonly unknown[]) : [document]) {
      if (isEpisode(episode)) yield* episodeItems(episode, ids);
      else skipCounts.add('entries without a traj list');
    }
    yield* skipCounts.report('error');
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
  const writer = new RunItems(id);
  const instruction = textOrUndefined(membersOf(info.task).instruction);
  yield writer.begin('tau-bench', { task: instruction ?? firstUserText(episode.traj) });
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
  return runEnded(typeof info.error === 'string' ? 'error' : 'ended', { success: reward === 1, reward });
}

function numberText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '0';
}
