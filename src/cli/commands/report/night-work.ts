import { isJsonObject } from '../../../base/json.ts';
import { present } from '../../../base/present.ts';
import { readCall } from '../../../calls/tool-semantics.ts';
import { textOfContent } from '../../../records/stored-message.ts';
import type { TrajectoryPayload } from '../../../records/trajectory-record.ts';
import type { RunCall } from '../../../run-view/run-call.ts';

/** The changes that a run made to its project. Plain JSON. */
export interface RunWork {
  /** Files that its calls changed, with the paths used by the calls, at most 50. */
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
    const command = isJsonObject(args) ? args['command'] : undefined;
    if (typeof command === 'string' && COMMIT.test(command)) this.#commits += 1;
    if (kind !== undefined && kind !== 'write') return;
    const reading = readCall(tool, args, {});
    const { target } = reading;
    if (reading.kind !== 'write' || target === undefined || VARIABLE.test(target)) return;
    if (this.#files.size < MAX_FILES) this.#files.add(target);
  }

  get work(): RunWork {
    return { filesChanged: [...this.#files], commits: this.#commits, ...present({ lastMessage: this.#lastMessage }) };
  }
}
