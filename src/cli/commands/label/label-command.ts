import { stat } from 'node:fs/promises';

import { formatLabels, readLabels, type Label, type LabelTarget } from '../../../backtest/labels.ts';
import { callNumber } from '../../../base/call-number.ts';
import { CoxswainError } from '../../../base/error.ts';
import { checkOutput } from '../../../base/guarded-file.ts';
import { replaceFile } from '../../../hosts/claude-code/written-file.ts';
import { labelMoments, MOMENT_SOURCES, type LabelMoment, type MomentSource } from './label-moments.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { pressedKeys, type KeyInput } from '../../terminal/pressed-keys.ts';
import { printable, printableCut } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain label`, as the command line gives them. */
export interface LabelOptions {
  readonly out: string;
  readonly from?: string;
  readonly count?: string;
}

const KEYS: Readonly<Record<string, LabelTarget>> = { y: 'stuck', n: 'ok', s: 'skip' };
const HELP = 'y stuck  n fine  s skip  b back  q quit';
const DEFAULT_COUNT = 3;
const MAX_COUNT = 100;
const TASK_CHARS = 300;
const CALL_CHARS = 160;
const ERROR_CHARS = 200;

/**
 * `coxswain label`: shows moments of runs and stores what a person says of each, after every key. What is labelled already
 * is not shown again.
 *
 * @param input  where keys come from; a pipe will do
 * @returns the exit code: 1 when something could not be read
 * @throws CoxswainError `invalid-argument`, `input-io` where the labels cannot be read or written, `unsafe-path` as
 *   `checkOutput`, and as the stores
 */
export async function labelCommand(
  paths: readonly string[],
  options: LabelOptions,
  terminal: Terminal,
  input: KeyInput = process.stdin,
): Promise<number> {
  const from = sourceOf(options.from);
  const count = countOfMoments(options.count);
  if (paths.includes('-')) throw invalid('standard input is where the keys come from; give the runs as a file');
  checkOutput(options.out);
  const labels = new Map((await existing(options.out)).map((label) => [label.id, label]));
  const problems = new Problems(terminal);
  let path = '';
  const moments = labelMoments(paths, {
    from,
    count,
    onProblem: (problem) => {
      if (problem.path !== path) problems.source((path = problem.path));
      problems.fault(problem);
    },
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
  /** Moments shown in this session, so that one can go back. */
  readonly #shown: LabelMoment[] = [];
  #at = 0;
  #given = 0;
  #isDone = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async run(keys: AsyncIterable<string>): Promise<void> {
    let moment = await this.#show();
    if (moment === undefined) return;
    for await (const pressed of keys) {
      const key = pressed.toLowerCase();
      const target = KEYS[key];
      if (key === 'q') return;
      if (target !== undefined) {
        this.#give(moment, target);
        this.#at += 1;
      } else if (key === 'b') {
        if (this.#at > 0) this.#at -= 1;
      } else {
        await this.#parts.terminal.write(`${HELP}\n`);
        continue;
      }
      moment = await this.#show();
      if (moment === undefined) return;
    }
  }

  summary(): string {
    const { labels, out } = this.#parts;
    const all = [...labels.values()];
    const of = (target: LabelTarget): string => countText(all.filter((label) => label.target === target).length);
    const end = this.#isDone ? (this.#shown.length === 0 ? 'nothing left to label; ' : 'that was the last one; ') : '';
    const counts = `${of('stuck')} stuck, ${of('ok')} fine, ${of('skip')} skipped`;
    return `${end}${countOf(this.#given, 'key')} stored; ${printable(out)} has ${countOf(all.length, 'label')}: ${counts}\n`;
  }

  /** Shows the moment that is next, or the one that was gone back to. */
  async #show(): Promise<LabelMoment | undefined> {
    const moment = this.#shown[this.#at] ?? (await this.#next());
    if (moment === undefined) this.#isDone = true;
    else await this.#parts.terminal.write(this.#text(moment));
    return moment;
  }

  async #next(): Promise<LabelMoment | undefined> {
    const { labels, moments } = this.#parts;
    for (;;) {
      const { done, value } = await moments.next();
      if (done === true || value === undefined) return undefined;
      if (labels.has(value.id)) continue;
      this.#shown.push(value);
      return value;
    }
  }

  #give(moment: LabelMoment, target: LabelTarget): void {
    const { labels, out } = this.#parts;
    const { note = '', split = '' } = labels.get(moment.id) ?? {};
    labels.set(moment.id, { id: moment.id, target, split, note });
    // Written whole and renamed, so that an interruption costs no label.
    replaceFile(out, Buffer.from(formatLabels([...labels.values()])));
    this.#given += 1;
  }

  /** What a detector thinks of it is not shown: labels are to judge detectors. */
  #text({ around, call, calls, id, run, task }: LabelMoment): string {
    const { labels, terminal } = this.#parts;
    const { paint } = terminal;
    const before = labels.get(id);
    const head = `${paint('bold', printableCut(run, CALL_CHARS))}  call ${callNumber(call)} of ${countText(calls)}`;
    const lines = around.flatMap((one) => {
      const mark = one.index === call ? '>' : ' ';
      const shown = `${mark} ${String(callNumber(one.index)).padStart(5)}  ${printableCut(one.call, CALL_CHARS)}`;
      const line = one.index > call ? paint('dim', shown) : one.index === call ? paint('bold', shown) : shown;
      if (!one.failed) return [line];
      const error = one.error === undefined ? 'failed' : printableCut(one.error, ERROR_CHARS);
      return [line, `         ${paint('red', error)}`];
    });
    return [
      '',
      head,
      ...(task === '' ? [] : [paint('dim', printableCut(task, TASK_CHARS))]),
      ...lines,
      `Is the agent stuck here?  ${HELP}${before === undefined ? '' : `  (now ${before.target})`}`,
      '',
    ].join('\n');
  }
}

async function existing(file: string): Promise<readonly Label[]> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  );
  return isThere ? readLabels(file) : [];
}

function sourceOf(text = 'patterns'): MomentSource {
  const source = MOMENT_SOURCES.find((known) => known === text);
  if (source === undefined) throw invalid(`--from ${text}: give ${MOMENT_SOURCES.join(', ')}`);
  return source;
}

function countOfMoments(text: string | undefined): number {
  if (text === undefined) return DEFAULT_COUNT;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_COUNT) return count;
  throw invalid(`--count ${text}: give a whole number from 1 to ${MAX_COUNT}`);
}

function invalid(message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message);
}
