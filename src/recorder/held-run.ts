import type { AgentIdentity } from '../records/agent-event.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import type { EmitAnswer } from './recorder-answers.ts';
import type { RunLog } from './run-log.ts';
import { toStoredIdentity } from './to-payload.ts';

interface Held {
  readonly payload: TrajectoryPayload;
  readonly atMs: number;
}

/** One run of a stream: holds what happens until it is known whose it is, then records it. */
export class HeldRun {
  #held: Held[] = [];
  #log: RunLog | undefined;
  #isAnonymous = false;

  /** Undefined while it is not known. */
  get runId(): string | undefined {
    return this.#log?.identity.runId;
  }

  /** True when its identity never became known and records have an id that was made up. */
  get isAnonymous(): boolean {
    return this.#isAnonymous;
  }

  get heldCount(): number {
    return this.#held.length;
  }

  take(payload: TrajectoryPayload, atMs: number): EmitAnswer {
    if (this.#log !== undefined) return write(this.#log, payload, atMs);
    this.#held.push({ payload, atMs });
    return 'accepted';
  }

  /** From now on records belong to a run: it begins with `run_started`, at the time of the first thing held. */
  identify(log: RunLog, identity: AgentIdentity, atMs: number): EmitAnswer {
    const started: TrajectoryPayload = { kind: 'run_started', identity: toStoredIdentity(identity) };
    return this.#begin(log, [{ payload: started, atMs: Math.min(atMs, this.#held[0]?.atMs ?? atMs) }, ...this.#held]);
  }

  /** Nobody says whose it is: what is held is recorded under the id of `log`. */
  giveUp(log: RunLog): void {
    this.#isAnonymous = true;
    this.#begin(log, this.#held);
  }

  #begin(log: RunLog, items: readonly Held[]): EmitAnswer {
    this.#log = log;
    this.#held = [];
    let answer: EmitAnswer = 'accepted';
    for (const { payload, atMs } of items) if (write(log, payload, atMs) === 'dropped') answer = 'dropped';
    return answer;
  }
}

function write(log: RunLog, payload: TrajectoryPayload, atMs: number): EmitAnswer {
  return log.write(log.stamp(payload, atMs));
}
