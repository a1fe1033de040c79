import { LruMap } from '../base/lru-map.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { RunCall } from './run-call.ts';

const MAX_RUNNING = 50;
const HEAD_CHARS = 2_000;
/** What Codex writes in place of an exit code; `write_stdin` with this number asks what became of it. */
const RUNNING = /^Process running with session ID (\d+)$/m;

/** The commands of Codex that go on after their call, which later calls ask for. */
export class RunningPrograms {
  readonly #calls = new LruMap<RunCall>(MAX_RUNNING);

  /** The call that began the program that one with these arguments asks for. */
  begunBy(args: Json): RunCall | undefined {
    return this.#calls.get(programOf(args) ?? '');
  }

  /** Notes a call whose program runs on. */
  note(call: RunCall, result: string): void {
    const id = call.failed ? undefined : RUNNING.exec(result.slice(0, HEAD_CHARS))?.[1];
    if (id !== undefined) this.#calls.set(id, call.begun ?? call);
  }
}

export function asksForProgram(args: Json): boolean {
  return programOf(args) !== undefined;
}

export function runsOn(result: string): boolean {
  return RUNNING.test(result.slice(0, HEAD_CHARS));
}

function programOf(args: Json): string | undefined {
  const id = isJsonObject(args) ? args['session_id'] : undefined;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined;
}

/** Returns true for keys to a running program that contain Ctrl-C, which ends it as intended. */
export function sendsInterrupt(args: Json): boolean {
  const chars = isJsonObject(args) ? args['chars'] : undefined;
  return typeof chars === 'string' && chars.includes('\u0003');
}
