import { isJsonObject, type Json } from '../base/json.ts';
import { BACKGROUNDED } from './check-command.ts';

const FRAME_CHARS = 500;
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

/** Codex: the input for a command could not be written. That says nothing of the command. */
const NOT_WRITTEN = /^write_stdin failed\b/;
const IS_RUNNING =
  /<status>(?:running|pending)<|<retrieval_status>(?:timeout|not_ready)<|^Process running with session ID /m;
const EXIT_CODE = /<exit_code>(-?\d+)<|\b(?:exit|exited with) code:? (-?\d+)/i;

/** The id under which the output of a command that goes on is asked for. */
export function idIn(result: string): string | undefined {
  const [, id] = BACKGROUNDED.exec(result.slice(0, FRAME_CHARS)) ?? STILL_RUNS.exec(result.slice(-FRAME_CHARS)) ?? [];
  return openIdIn(result) ?? id;
}

export function isCell(id: string): boolean {
  return id.startsWith(CELL);
}

export function isNotWritten(result: string): boolean {
  return NOT_WRITTEN.test(result);
}

export function isRunning(result: string): boolean {
  const frame = frameOf(result);
  return IS_RUNNING.test(frame) || STILL_RUNS.test(frame);
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
  if (id.startsWith(CELL)) return isJsonObject(args) && args['cell_id'] === id.slice(CELL.length);
  return (
    isJsonObject(args) &&
    Object.values(args).some((value) =>
      typeof value === 'string'
        ? value === id || (id.length > 3 && value.includes(id))
        : typeof value === 'number' && String(value) === id,
    )
  );
}
