import { LruMap } from '../base/lru-map.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { RunCall } from './run-call.ts';

const MAX_RUNNING = 50;
const HEAD_CHARS = 2_000;
const FRAME_CHARS = 500;
/** What Codex writes in place of an exit code; `write_stdin` with this number asks what became of it. */
const RUNNING = /^Process running with session ID (\d+)$/m;
/** What other hosts say of a command that goes on in the background, with the id under which its output is asked for. */
const BACKGROUNDED = /\bbackground(?:ed)?\b[^\n]{0,40}?\bID: ?([\w-]{4,})/i;
/** Copilot CLI: `<command with shellId: 44 is still running after 30 seconds. …>` */
const STILL_RUNS = /<command with shellId: (\S+) is still running\b/;
/** Codex' code mode: the result of a command without an exit code. */
const OPEN_SESSION = /^\{(?![^]*"exit_code":)[^{}]*?"session_id":(\d+)/;
/** Codex' code mode: a script that goes on, and the name of its member that asks for it. */
const OPEN_CELL = /^Script running with cell ID (\S+)/;
const CELL = 'cell_id ';

/** The id under which Codex' code mode is asked for the rest of a result. */
export function openIdIn(result: string): string | undefined {
  const cell = OPEN_CELL.exec(result)?.[1];
  return cell === undefined ? OPEN_SESSION.exec(result)?.[1] : `${CELL}${cell}`;
}

const IS_RUNNING = /<status>(?:running|pending)<|<retrieval_status>(?:timeout|not_ready)</;
const EXIT_CODE = /<exit_code>(-?\d+)<|\b(?:exit|exited with) code:? (-?\d+)/i;

export function backgroundIdIn(result: string): string | undefined {
  const begin = result.slice(0, FRAME_CHARS);
  return (RUNNING.exec(begin) ?? BACKGROUNDED.exec(begin))?.[1];
}

/** The id under which the output of a command that goes on is asked for. */
export function idIn(result: string): string | undefined {
  return openIdIn(result) ?? backgroundIdIn(result) ?? STILL_RUNS.exec(result.slice(-FRAME_CHARS))?.[1];
}

export function isCell(id: string): boolean {
  return id.startsWith(CELL);
}

/** Codex: the input for a command could not be written. That says nothing of the command. */
export function isNotWritten(result: string): boolean {
  return result.startsWith('write_stdin failed');
}

export function isRunning(result: string): boolean {
  const frame = frameOf(result);
  return IS_RUNNING.test(frame) || STILL_RUNS.test(frame) || RUNNING.test(result.slice(0, HEAD_CHARS));
}

export function exitCodeIn(result: string): string | undefined {
  const [, tagged, plain] = EXIT_CODE.exec(frameOf(result)) ?? [];
  return tagged ?? plain;
}

function frameOf(result: string): string {
  return result.length > 2 * FRAME_CHARS ? `${result.slice(0, FRAME_CHARS)}\n${result.slice(-FRAME_CHARS)}` : result;
}

/** Returns true if an argument is the id of the output, or a command or path with it. */
export function isAskedFor(args: Json, id: string): boolean {
  if (isCell(id)) return isJsonObject(args) && args['cell_id'] === id.slice(CELL.length);
  return (
    isJsonObject(args) &&
    Object.values(args).some((value) =>
      typeof value === 'string'
        ? value === id || (id.length > 3 && value.includes(id))
        : typeof value === 'number' && String(value) === id,
    )
  );
}

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

function programOf(args: Json): string | undefined {
  const id = isJsonObject(args) ? args['session_id'] : undefined;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined;
}

/** Returns true for keys to a running program that contain Ctrl-C, which ends it as intended. */
export function sendsInterrupt(args: Json): boolean {
  const chars = isJsonObject(args) ? args['chars'] : undefined;
  return typeof chars === 'string' && chars.includes('\u0003');
}
