import { present } from '../../../core/base/json.ts';
import { liveLines, type LiveTextOptions } from '../../runs/live-text.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printable, printableCut, outputLine } from '../../../core/base/printable.ts';
import { outcomeText } from '../../runs/run-blocks.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { WatchCounts, WatchedEvent, WatchedItem } from './watched-item.ts';

const ID_CHARS = 80;
const TASK_CHARS = 76;
const MESSAGE_CHARS = 500;
const MIN_CHARS = 40;

export interface WatchOutput {
  write(item: WatchedItem): Promise<void>;
}

/** Writes one line of JSON per item. */
export class JsonWatchOutput implements WatchOutput {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async write(item: WatchedItem): Promise<void> {
    await this.#terminal.write(outputLine(item));
  }
}

/** Writes lines of text. Adds the label of the run if there are several runs. */
export class TextWatchOutput implements WatchOutput {
  readonly #terminal: Terminal;
  readonly #labels = new Set<string>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async write(item: WatchedItem): Promise<void> {
    await this.#terminal.write(
      this.#lines(item)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }

  #lines(item: WatchedItem): readonly string[] {
    const { paint } = this.#terminal;
    switch (item.type) {
      case 'note':
        return [paint('dim', `— ${printableCut(item.message, MESSAGE_CHARS)}`)];
      case 'caught_up':
        return [paint('dim', `— ${caughtUpText(item)}`)];
      case 'summary':
        return [`watched ${countsText(item)}`];
      default:
        return this.#eventLines(item);
    }
  }

  #eventLines(event: WatchedEvent): readonly string[] {
    this.#labels.add(event.label);
    const { paint, width, isWatched } = this.#terminal;
    const prefix = this.#labels.size > 1 ? `${printable(event.label)} ` : '';
    const options = { paint, width: width - prefix.length, wrap: isWatched };
    return linesOf(event, options).map((line) => `${paint('cyan', prefix)}${line}`);
  }
}

function linesOf(event: WatchedEvent, options: LiveTextOptions): readonly string[] {
  const { paint } = options;
  switch (event.type) {
    case 'run_started': {
      const { run, format, parentRun, task } = event;
      const by = parentRun === undefined ? '' : `, started by ${printableCut(parentRun, ID_CHARS)}`;
      return [
        paint('bold', `● ${task === undefined ? 'a run started' : printableCut(task, TASK_CHARS)}`),
        paint('dim', `  ${printable(format)}, run ${printableCut(run, ID_CHARS)}${by}`),
      ];
    }
    case 'run_ended':
      return [endLine(event, paint)];
    case 'alert':
      return [`  ${paint('yellow', '?')} ${printableCut(`it ${event.text}`, Math.max(MIN_CHARS, options.width - 4))}`];
    default:
      return liveLines(event, options);
  }
}

function endLine(event: WatchedEvent & { readonly type: 'run_ended' }, paint: Paint): string {
  const { run, outcome, success } = event;
  const how = outcomeText({ outcome, ...present({ success }) });
  return `${paint('bold', `■ ${how}`)}${paint('dim', `, run ${printableCut(run, ID_CHARS)}`)}`;
}

function caughtUpText(item: WatchCounts & { readonly shown: number }): string {
  if (item.runs === 0) return 'no records yet; waiting';
  return `read ${countsText(item)}; the last ones:`;
}

function countsText({ runs, calls, patterns, advice }: WatchCounts): string {
  const pieces = advice === 1 ? '1 piece of advice' : `${countText(advice)} pieces of advice`;
  return `${countOf(runs, 'run')}, ${countOf(calls, 'call')}, ${countOf(patterns, 'pattern')}, ${pieces}`;
}
