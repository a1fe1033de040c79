import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

import { isJsonObject, jsonOf } from '../../core/base/json.ts';
import { LINE_MARK, LINES_ARGUMENT } from '../claude-code/hook-lines.ts';
import { HOOK_MARK } from '../claude-code/init-hooks.ts';

/** Absolute paths of Node and the bundled hook. They come from the plugin file that `init` wrote. */
export interface PluginProgram {
  readonly node: string;
  readonly hook: string;
}

/** How often one event is sent: once more if the process ended before it answered. */
const MAX_SENDS = 2;
/** Number of processes in a row that answered nothing, after which none is started until the next prompt. */
const MAX_FAILURES = 3;

/** A line per event and answer, in pipes of its own. Starts with the first event, again after its end, and ends with the agent. */
export class EventProcess {
  readonly #program: PluginProgram;
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  #failures = 0;
  #settle: (answer: object | undefined) => void = () => undefined;

  constructor(program: PluginProgram, cwd: string) {
    this.#program = program;
    this.#cwd = cwd;
  }

  /** True if the last processes answered nothing, so that events are no longer sent. */
  get hasGivenUp(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /** Lets one more process be tried. */
  tryAgain(): void {
    this.#failures = Math.min(this.#failures, MAX_FAILURES - 1);
  }

  /** After the answer to the previous event. Undefined without an answer, or if it took `limitMs`: the process is killed. */
  async take(line: string, limitMs: number): Promise<object | undefined> {
    for (let sends = 0; sends < MAX_SENDS && !this.hasGivenUp; sends += 1) {
      const answer = await this.#ask(line, limitMs);
      if (answer !== undefined) {
        this.#failures = 0;
        return answer;
      }
      this.#failures += 1;
      this.#child?.kill('SIGKILL');
      this.#child = undefined;
    }
    return undefined;
  }

  /** Ends the process after its last answer. The next event starts another one. */
  close(): void {
    this.#child?.stdin?.end();
    this.#child = undefined;
  }

  async #ask(line: string, limitMs: number): Promise<object | undefined> {
    const { promise, resolve } = Promise.withResolvers<object | undefined>();
    this.#settle = resolve;
    const timer = setTimeout(() => resolve(undefined), limitMs);
    timer.unref();
    const child = (this.#child ??= this.#start());
    child.stdin?.write(`${line}\n`);
    const answer = await promise;
    clearTimeout(timer);
    return answer;
  }

  #start(): ChildProcess {
    const { hook, node } = this.#program;
    const child = spawn(node, [hook, LINES_ARGUMENT, HOOK_MARK], {
      cwd: this.#cwd,
      env: process.env,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const settle = (answer: object | undefined): void => {
      if (this.#child === child) this.#settle(answer);
    };
    const end = (): void => {
      settle(undefined);
      if (this.#child === child) this.#child = undefined;
    };
    child.on('error', end);
    child.on('close', end);
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (text) => {
      const answer = answerIn(text);
      if (answer !== undefined) settle(answer);
    });
    // The agent may end while the process waits for events.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) if ('unref' in stream) unref(stream);
    return child;
  }
}

/** Returns the answer in a line. Undefined for a line that code of a configuration printed. */
function answerIn(text: string): object | undefined {
  const json = jsonOf(text);
  const answer = isJsonObject(json) ? json[LINE_MARK] : undefined;
  return isJsonObject(answer) ? answer : undefined;
}

/** Pipes of Node have this method, those of other runtimes may not. */
function unref(stream: { readonly unref: unknown }): void {
  if (typeof stream.unref === 'function') stream.unref();
}
