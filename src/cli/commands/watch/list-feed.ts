import { countOf } from '../../../base/number-text.ts';
import { hostTitle } from '../../../formats/find-sessions.ts';
import { inWords } from '../../../records/words.ts';
import { outcomeText } from '../../runs/run-text.ts';
import { columnsText } from '../../terminal/columns-text.ts';
import { printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { MachineFeed, MachineLook } from './lines-feed.ts';
import type { WatchedEvent } from './watched-item.ts';

const TASK_CHARS = 76;
const STATE_CHARS = 46;
/** Narrower terminals do not name the programs. */
const WIDE = 110;
const MAX_ROWS = 1_000;
/** Changes of records are drawn at most so often. */
const DRAW_MS = 500;

interface Row {
  readonly label: string;
  readonly format: string;
  readonly task: string;
  calls: number;
  errors: number;
  atMs: number;
  doing: string;
  /** Kinds of patterns by which it is stuck. */
  readonly stuck: Set<string>;
  over: string;
}

/** A line a run on a terminal, drawn again as runs go on: those that are stuck or wait come first, then the one at work last. */
export class ListFeed implements MachineFeed {
  readonly #terminal: Terminal;
  readonly #sinceMs: number;
  readonly #rows = new Map<string, Row>();
  #look: MachineLook | undefined;
  #drawn = 0;
  #drawnAtMs = 0;
  #count = 0;

  /** @param sinceMs  a run that was not at work since then is not shown; Unix milliseconds */
  constructor(terminal: Terminal, sinceMs: number) {
    this.#terminal = terminal;
    this.#sinceMs = sinceMs;
  }

  called(count: number): void {
    this.#count += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    const row = this.#rowOf(event);
    row.atMs = Math.max(row.atMs, event.atMs ?? 0);
    if (event.type === 'run_ended') row.over = outcomeText(event);
    else if (event.type !== 'run_started') row.over = '';
    if (event.type === 'call') {
      row.calls += 1;
      row.errors += event.failed ? 1 : 0;
      row.doing = event.call;
    }
    if (event.type === 'pattern') {
      const { kind, level, stuck } = event.pattern;
      if (event.change === 'cleared') row.stuck.delete(kind);
      else if (stuck && level !== 'hint') row.stuck.add(kind);
    }
    if (this.#look !== undefined && Date.now() - this.#drawnAtMs >= DRAW_MS) await this.#draw();
  }

  async look(look: MachineLook): Promise<void> {
    this.#look = look;
    await this.#draw();
  }

  drop(run: string): void {
    this.#rows.delete(run);
  }

  async finish(): Promise<void> {
    await this.#terminal.write(`watched ${countOf(this.#rows.size, 'run')}, ${countOf(this.#count, 'call')}\n`);
  }

  #rowOf(event: WatchedEvent): Row {
    const known = this.#rows.get(event.run);
    // One that begins again is read from elsewhere.
    if (known !== undefined && event.type !== 'run_started') return known;
    const { format = '', task = '' } = event.type === 'run_started' ? event : {};
    const row: Row = {
      label: event.label,
      format,
      task,
      calls: 0,
      errors: 0,
      atMs: 0,
      doing: '',
      over: '',
      stuck: new Set(),
    };
    this.#rows.set(event.run, row);
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > MAX_ROWS && oldest !== undefined) this.#rows.delete(oldest);
    return row;
  }

  async #draw(): Promise<void> {
    const { paint, rows: height, width } = this.#terminal;
    this.#drawnAtMs = Date.now();
    const shown = [...this.#rows]
      .filter(([, row]) => row.atMs === 0 || row.atMs >= this.#sinceMs)
      .map(([run, row]) => ({ row, state: this.#stateOf(run, row) }))
      .toSorted((a, b) => a.state.rank - b.state.rank || b.row.atMs - a.row.atMs);
    // The first line, the one about more, and the one of the cursor.
    const most = Math.max(1, height - 3);
    const isWide = width >= WIDE;
    const cells = shown.slice(0, most).map(({ row, state }) => {
      const work = [agoText(row), countOf(row.calls, 'call'), countOf(row.errors, 'error')];
      const program = isWide ? [printableCut(row.format === '' ? '' : hostTitle(row.format), 12)] : [];
      const said = [printableCut(state.text, STATE_CHARS), printableCut(row.task, TASK_CHARS)];
      return [`${state.mark} ${printableCut(row.label, 20)}`].concat(program, work, said);
    });
    const lines = columnsText(cells, isWide ? [1, 5, 6] : [4, 5]).map((line, at) => {
      const cut = printableCut(line, width - 1);
      const { style } = shown[at]?.state ?? {};
      return style === undefined ? cut : paint(style, cut);
    });
    const more = shown.length - lines.length;
    const head = shown.length === 0 ? 'No agent is at work; waiting for one' : countOf(shown.length, 'run');
    const text = [
      paint('bold', printableCut(`${head}. Ctrl-C ends it; nothing reaches the agents.`, width - 1)),
      ...lines,
      ...(more > 0 ? [paint('dim', `and ${countOf(more, 'more run')}`)] : []),
    ];
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    this.#drawn = text.length;
    await this.#terminal.write(`${up}\r\u001b[J${text.join('\n')}\n`);
  }

  #stateOf(run: string, row: Row) {
    const open = this.#look?.open;
    const session = open?.get(run.replace(/#\d+$/, ''));
    if (session?.waitingFor !== undefined) {
      return { rank: 0, mark: '?', style: 'yellow', text: `waits for ${session.waitingFor}` } as const;
    }
    if (row.over !== '') return { rank: 2, mark: '■', style: 'dim', text: row.over } as const;
    const [kind] = row.stuck;
    if (kind !== undefined) {
      return { rank: 0, mark: '●', style: 'red', text: `stuck: ${inWords('pattern', kind)}` } as const;
    }
    const isGone = row.format === 'claude-code' && !run.includes('/') && open !== undefined && session === undefined;
    if (isGone) return { rank: 2, mark: '■', style: 'dim', text: 'closed' } as const;
    return { rank: 1, mark: '·', style: undefined, text: row.doing } as const;
  }
}

/** How long ago it was at work: `5 s`, `12 min`. */
function agoText({ atMs }: Row): string {
  const seconds = Math.max(0, Math.floor((Date.now() - atMs) / 1_000));
  if (atMs === 0) return '';
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
