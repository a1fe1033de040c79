import { present } from '../base/present.ts';
import type { RunSummary } from './run-summary.ts';

const MAX_LEVELS = 100;

/**
 * Finds the runs of a store by the ids used in transcripts. A run from OpenTelemetry never stands for a transcript: any program
 * that exports spans chooses the session that they name.
 */
export class StoredNames {
  readonly #runs = new Set<string>();
  readonly #idOfName = new Map<string, string>();
  /** Runs from OpenTelemetry, by id. */
  readonly #telemetry = new Map<string, Pick<RunSummary, 'conversationId' | 'parentRunId'>>();
  readonly #transcripts = new Set<string>();

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  add({ conversationId, format, parentRunId, runId }: RunSummary): void {
    this.#runs.add(runId);
    if (format === 'otlp') {
      this.#telemetry.set(runId, present({ conversationId, parentRunId }));
      return;
    }
    this.#idOfName.set(nameOf(runId), runId);
    const isSession = parentRunId === undefined && conversationId !== undefined;
    if (isSession && !this.#idOfName.has(conversationId)) this.#idOfName.set(conversationId, runId);
  }

  /** Returns the id in the store for a run of a transcript; undefined if the store does not contain the run. */
  idOf(transcriptRunId: string): string | undefined {
    return this.#idOfName.get(nameOf(transcriptRunId));
  }

  addTranscript(runId: string): void {
    this.#transcripts.add(nameOf(runId));
  }

  /** Returns true for a run from OpenTelemetry whose session is recorded itself, so that its calls would count twice. */
  repeatsSession(runId: string): boolean {
    let run = this.#telemetry.get(runId);
    // A child run may not name the session. The parents may form a cycle.
    for (let level = 0; level < MAX_LEVELS && run !== undefined && run.conversationId === undefined; level += 1) {
      run = this.#telemetry.get(run.parentRunId ?? '');
    }
    if (run?.conversationId === undefined) return false;
    const session = nameOf(run.conversationId);
    return this.#idOfName.has(session) || this.#transcripts.has(session);
  }
}

/**
 * Normalises a run id. Hooks name a subagent `SESSION/ID`, and transcripts name it `SESSION/agent-ID`. A session in several files
 * has a number after its id.
 */
function nameOf(runId: string): string {
  return runId.replace(/#\d+$/, '').replace('/agent-', '/');
}
