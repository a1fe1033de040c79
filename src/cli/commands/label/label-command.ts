import { existsSync } from 'node:fs';

import { formatLabels, readLabels, type Label, type LabelTarget } from '../../../backtest/labels.ts';
import { callNumber } from '../../../base/call-number.ts';
import { invalidArgument } from '../../../base/error.ts';
import { checkOutput } from '../../../base/guarded-file.ts';
import { replaceFile } from '../../../hosts/claude-code/written-file.ts';
import { labelMoments, MOMENT_SOURCES, type LabelMoment } from './label-moments.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { pressedKeys, type KeyInput } from '../../terminal/pressed-keys.ts';
import { choiceOption, wholeOption } from '../../terminal/option-values.ts';
import { printable, printableCut } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface LabelOptions {
  readonly out: string;
  readonly from?: string;
  readonly count?: string;
}

const KEYS: Readonly<Record<string, LabelTarget>> = { y: 'stuck', n: 'ok', s: 'skip' };
const HELP = 'y stuck  n fine  s skip  b back  q quit';

const TASK_CHARS = 300;
const CALL_CHARS = 160;
const ERROR_CHARS = 200;

/**
 * Runs `coxswain label`: shows moments of runs and saves a label for each key pressed. Skips labelled moments.
 *
 * @param input  the source of key presses: a terminal or a pipe
 * @returns the exit code: 1 if a run could not be read
 * @throws CoxswainError `invalid-argument`, `input-io` if the labels cannot be read or written, `unsafe-path` from `checkOutput`,
 *   and the errors of the stores
 */
export async function labelCommand(
  paths: readonly string[],
  options: LabelOptions,
  terminal: Terminal,
  input: KeyInput = process.stdin,
): Promise<number> {
  const momentSource = choiceOption('--from', options.from ?? 'patterns', MOMENT_SOURCES);
  const count = wholeOption('--count', options.count ?? '3', [1, 100]);
  if (paths.includes('-')) throw invalidArgument('keys are read from standard input; give the runs as a file');
  checkOutput(options.out);
  const savedLabels = existsSync(options.out) ? await readLabels(options.out) : [];
  const labels = new Map(savedLabels.map((label) => [label.id, label]));
  const problems = new Problems(terminal);
  const moments = labelMoments(paths, {
    from: momentSource,
    count,
    onProblem: (problem) => problems.faultIn(problem),
  });
  const session = new LabelSession({ labels, moments, out: options.out, terminal });
  const keys = pressedKeys(input);
  try {
    await session.run(keys);
  } finally {
    await keys.return();
    await moments.return();
  }
  problems.endSource();
  await terminal.write(session.summary());
  return problems.any ? 1 : 0;
}

interface SessionParts {
  readonly labels: Map<string, Label>;
  readonly moments: AsyncGenerator<LabelMoment, void, void>;
  readonly out: string;
  readonly terminal: Terminal;
}

class LabelSession {
  readonly #parts: SessionParts;
  /** Moments shown since the start of the command, for the key `b` (back). */
  readonly #shownMoments: LabelMoment[] = [];
  #position = 0;
  #keys = 0;
  #isDone = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async run(keys: AsyncIterable<string>): Promise<void> {
    let moment = await this.#showMoment();
    if (moment === undefined) return;
    for await (const pressed of keys) {
      const key = pressed.toLowerCase();
      const target = KEYS[key];
      if (key === 'q') return;
      if (target !== undefined) {
        this.#saveLabel(moment, target);
        this.#position += 1;
      } else if (key === 'b') {
        if (this.#position > 0) this.#position -= 1;
      } else {
        await this.#parts.terminal.write(`${HELP}\n`);
        continue;
      }
      moment = await this.#showMoment();
      if (moment === undefined) return;
    }
  }

  summary(): string {
    const { labels, out } = this.#parts;
    const allLabels = [...labels.values()];
    const countWith = (target: LabelTarget): string =>
      countText(allLabels.filter((label) => label.target === target).length);
    const end = this.#isDone
      ? this.#shownMoments.length === 0
        ? 'nothing left to label; '
        : 'that was the last one; '
      : '';
    const counts = `${countWith('stuck')} stuck, ${countWith('ok')} fine, ${countWith('skip')} skipped`;
    return `${end}${countOf(this.#keys, 'key')} saved; ${printable(out)} has ${countOf(allLabels.length, 'label')}: ${counts}\n`;
  }

  /** Shows the next moment, or the previous one after `b`. */
  async #showMoment(): Promise<LabelMoment | undefined> {
    const moment = this.#shownMoments[this.#position] ?? (await this.#nextMoment());
    if (moment === undefined) this.#isDone = true;
    else await this.#parts.terminal.write(this.#momentText(moment));
    return moment;
  }

  async #nextMoment(): Promise<LabelMoment | undefined> {
    const { labels, moments } = this.#parts;
    for (;;) {
      const { done, value } = await moments.next();
      if (done === true || value === undefined) return undefined;
      if (labels.has(value.id)) continue;
      this.#shownMoments.push(value);
      return value;
    }
  }

  #saveLabel({ id }: LabelMoment, target: LabelTarget): void {
    const { labels, out } = this.#parts;
    const { note = '', split = '' } = labels.get(id) ?? {};
    labels.set(id, { id, target, split, note });
    // Replaces the whole file atomically, so that an interruption loses no label.
    replaceFile(out, Buffer.from(formatLabels([...labels.values()])));
    this.#keys += 1;
  }

  /** Omits the findings of detectors, because labels are used to evaluate detectors. */
  #momentText({ around, call, calls, id, run, task }: LabelMoment): string {
    const { labels, terminal } = this.#parts;
    const { paint } = terminal;
    const label = labels.get(id);
    const head = `${paint('bold', printableCut(run, CALL_CHARS))}  call ${callNumber(call)} of ${countText(calls)}`;
    const lines = around.flatMap((one) => {
      const mark = one.index === call ? '>' : ' ';
      const shownCall = `${mark} ${String(callNumber(one.index)).padStart(5)}  ${printableCut(one.call, CALL_CHARS)}`;
      const line =
        one.index > call ? paint('dim', shownCall) : one.index === call ? paint('bold', shownCall) : shownCall;
      if (!one.failed) return [line];
      const error = one.error === undefined ? 'failed' : printableCut(one.error, ERROR_CHARS);
      return [line, `         ${paint('red', error)}`];
    });
    return [
      '',
      head,
      ...(task === '' ? [] : [paint('dim', printableCut(task, TASK_CHARS))]),
      ...lines,
      `Is the agent stuck here?  ${HELP}${label === undefined ? '' : `  (now ${label.target})`}`,
      '',
    ].join('\n');
  }
}
