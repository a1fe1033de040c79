import { statSync } from 'node:fs';

import { projectFolderOf } from '../../base/project-folder.ts';
import type { RunSummary } from '../../store/run-summary.ts';

/** Finds the runs of a store by the ids used in transcripts. */
export class StoredNames {
  readonly #runs = new Set<string>();
  readonly #idOfName = new Map<string, string>();

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  add({ conversationId, parentRunId, runId }: RunSummary): void {
    this.#runs.add(runId);
    this.#idOfName.set(nameOf(runId), runId);
    const isSession = parentRunId === undefined && conversationId !== undefined;
    if (isSession && !this.#idOfName.has(conversationId)) this.#idOfName.set(conversationId, runId);
  }

  /** Returns the id in the store for a run of a transcript; undefined if the store does not contain the run. */
  idOf(transcriptRunId: string): string | undefined {
    return this.#idOfName.get(nameOf(transcriptRunId));
  }
}

/**
 * Normalises a run id. Hooks name a subagent `SESSION/ID`, and transcripts name it `SESSION/agent-ID`. A session in several files
 * has a number after its id.
 */
function nameOf(runId: string): string {
  return runId.replace(/#\d+$/, '').replace('/agent-', '/');
}

/** Returns the project of a folder, or the folder itself if it no longer exists. */
export function projectAt(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const exists = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return exists ? projectFolderOf({ projectDir: undefined, cwd: folder }) : folder;
}
