import { isJsonObject, type Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import { commandLineOf } from '../detect/calls/check-command.ts';
import { filesOfPatch } from '../detect/calls/patch-text.ts';
import { readCall } from '../detect/calls/tool-semantics.ts';
import { textOfContent } from '../records/stored-message.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import type { RunCall } from './run-call.ts';

/** The changes that a run made to its project. Plain JSON. */
export interface RunWork {
  /** Files that its calls changed, with the paths used by the calls, at most 50. Temporary files are last. */
  readonly filesChanged: readonly string[];
  /** Number of successful `git commit` commands. */
  readonly commits: number;
  /** The beginning of the agent's last message. */
  readonly lastMessage?: string;
}

const MAX_FILES = 50;
const MESSAGE_CHARS = 300;
/** A file name in a shell variable, whose value is not recorded. */
const VARIABLE = /^["']?\$\{?\w+\}?["']?$/;
const TEMPORARY = /^(?:\/private)?\/tmp\//;
const COMMIT = /\bgit (?:-\S+ \S+ )*commit\b/;

/** Collects the work of one run. Cost: reads the arguments of each call whose kind is unknown. */
export class WorkFold {
  readonly #files = new Set<string>();
  #commits = 0;
  #lastMessage: string | undefined;

  /** @param call  the call that the record ended */
  fold(payload: TrajectoryPayload, call: RunCall | undefined): void {
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant') {
      const text = textOfContent(payload.message.content).trim();
      if (text !== '') this.#lastMessage = text.slice(0, MESSAGE_CHARS).toWellFormed();
    }
    if (call?.endSeq === undefined || call.failed || call.resultMissing) return;
    const { args, kind, tool } = call;
    if (COMMIT.test(commandLineOf(args) ?? '')) this.#commits += 1;
    if (kind !== undefined && kind !== 'write') return;
    const patchedFiles = filesOfPatch(patchOf(args));
    for (const file of patchedFiles) this.#addFile(file);
    if (patchedFiles.length > 0) return;
    const reading = readCall(tool, args, {});
    const { target } = reading;
    if (reading.kind !== 'write' || target === undefined || VARIABLE.test(target)) return;
    this.#addFile(target);
  }

  #addFile(file: string): void {
    if (this.#files.size < MAX_FILES) this.#files.add(file);
  }

  get work(): RunWork {
    const files = [...this.#files].toSorted((a, b) => Number(TEMPORARY.test(a)) - Number(TEMPORARY.test(b)));
    return { filesChanged: files, commits: this.#commits, ...present({ lastMessage: this.#lastMessage }) };
  }
}

/** Returns the text of a patch: the argument itself, as Codex stores it, or its only member. */
function patchOf(args: Json): string {
  const [text] = isJsonObject(args) ? Object.values(args) : [args];
  return typeof text === 'string' ? text : '';
}
