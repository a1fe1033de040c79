import { statSync } from 'node:fs';

import { projectFolderOf } from '../../hosts/claude-code/project-folder.ts';
import type { RunSummary } from '../../store/run-summary.ts';

/** The runs of a store by the names that transcripts have for them. */
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

  /** The stored run that a run of a transcript is; undefined where the store does not have it. */
  idOf(transcriptRunId: string): string | undefined {
    return this.#idOfName.get(nameOf(transcriptRunId));
  }
}

/** Hooks name a subagent `SESSION/ID`, transcripts `SESSION/agent-ID`; a session in several files has a number behind its id. */
function nameOf(runId: string): string {
  return runId.replace(/#\d+$/, '').replace('/agent-', '/');
}

/** The project of a folder; one that is no longer there stands for itself. */
export function projectAt(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isThere ? projectFolderOf({ projectDir: undefined, cwd: folder }) : folder;
}
