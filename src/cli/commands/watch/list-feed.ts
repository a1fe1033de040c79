import { countOf } from '../../../core/base/number-text.ts';
import { hostTitle } from '../../../formats/find-sessions.ts';
import { inWords } from '../../../core/records/words.ts';
import { outcomeText } from '../../runs/run-blocks.ts';
import { terminalText } from '../../document/write-document.ts';
import { printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { MachineFeed } from './watch-output.ts';
import type { RunAlert } from '../../../core/facts/run-alert.ts';
import { standsAs, type Standing } from '../../runs/run-standing.ts';
import type { WatchedEvent } from './watched-item.ts';
import { taskTitle, withoutNumber } from '../../../core/facts/task-title.ts';

const TASK_CHARS = 76;
const STATE_CHARS = 46;
const WIDE = 110;
const MAX_ROWS = 1_000;
const DRAW_MS = 500;

interface Row {
  readonly label: string;
  readonly format: string;
  readonly task: string;
  calls: number;
  errors: number;
  atMs: number;
  doing: string;
  /** Pattern kinds of its open stuck patterns. */
  readonly stuck: Set<string>;
  /** Outcome of the run; empty while it is active. */
  outcome: string;
  /** How it ended, if its process is gone. */
  closed: string;
  /** What the clock found since the last record. */
  alert: RunAlert | undefined;
}

/** Shows runs on a terminal, one per line. Stuck and waiting runs come first, then the most recently active runs. */
export class ListFeed implements MachineFeed {
  readonly #terminal: Terminal;
  readonly #sinceMs: number;
  readonly #rows = new Map<string, Row>();
  #standing: Standing | undefined;
  #hasScanned = false;
  #drawnLines = 0;
  #drawnAtMs = 0;
  #calls = 0;

  constructor(terminal: Terminal, sinceMs: number) {
    this.#terminal = terminal;
    this.#sinceMs = sinceMs;
  }

  called(count: number): void {
    this.#calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    const row = this.#rowOf(event);
    if (event.type === 'alert') {
      if (event.kind !== 'failing') row.alert = { ...event, kind: event.kind };
      return;
    }
    row.atMs = Math.max(row.atMs, event.atMs ?? 0);
    row.alert = undefined;
    if (event.type === 'run_ended') row.outcome = event.evidence ?? outcomeText(event);
    else if (event.type !== 'run_started') row.outcome = '';
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
    if (this.#hasScanned && Date.now() - this.#drawnAtMs >= DRAW_MS) await this.#drawList();
  }

  closed(run: string, how: string): void {
    const row = this.#rows.get(run);
    if (row !== undefined) row.closed = how;
  }

  async scanned(standing: Standing | undefined): Promise<void> {
    this.#hasScanned = true;
    this.#standing = standing;
    await this.#drawList();
  }

  drop(run: string): void {
    this.#rows.delete(run);
  }

  async finish(): Promise<void> {
    await this.#terminal.write(`watched ${countOf(this.#rows.size, 'run')}, ${countOf(this.#calls, 'call')}\n`);
  }

  #rowOf(event: WatchedEvent): Row {
    const knownRow = this.#rows.get(event.run);
    // A run that starts again comes from a different source.
    if (knownRow !== undefined && event.type !== 'run_started') return knownRow;
    const { format = '', parentRun = '', task = '' } = event.type === 'run_started' ? event : {};
    const parent = this.#rows.get(parentRun)?.task ?? '';
    const row: Row = {
      label: event.label,
      format,
      task: taskTitle(task) ?? (parent === '' ? '' : `subagent of ${parent}`),
      calls: 0,
      errors: 0,
      atMs: 0,
      doing: '',
      outcome: '',
      closed: 'closed: its process has ended',
      alert: undefined,
      stuck: new Set(),
    };
    this.#rows.set(event.run, row);
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > MAX_ROWS && oldest !== undefined) this.#rows.delete(oldest);
    return row;
  }

  async #drawList(): Promise<void> {
    const { paint, rows: height, width } = this.#terminal;
    this.#drawnAtMs = Date.now();
    const shownRows = [...this.#rows]
      .filter(([, row]) => row.atMs === 0 || row.atMs >= this.#sinceMs)
      .map(([run, row]) => ({ row, state: this.#stateOf(run, row) }))
      .toSorted((a, b) => a.state.rank - b.state.rank || b.row.atMs - a.row.atMs);
    // Excludes the header, the line about further runs, and the cursor line.
    const maxLines = Math.max(1, height - 3);
    const isWide = width >= WIDE;
    const cells = shownRows.slice(0, maxLines).map(({ row, state }) => {
      const work = [agoText(row), countOf(row.calls, 'call'), countOf(row.errors, 'error')];
      const program = isWide ? [printableCut(row.format === '' ? '' : hostTitle(row.format), 12)] : [];
      const texts = [printableCut(state.text, STATE_CHARS), printableCut(row.task, TASK_CHARS)];
      return [`${state.mark} ${printableCut(row.label, 20)}`].concat(program, work, texts);
    });
    const table = { type: 'table', rows: cells, left: isWide ? [1, 5, 6] : [4, 5] } as const;
    const rows = terminalText({ blocks: [table] }, { paint: (_style, text) => text, width }).split('\n');
    const lines = rows.slice(0, cells.length).map((line, at) => {
      const shortened = printableCut(line, width - 1);
      const { style } = shownRows[at]?.state ?? {};
      return style === undefined ? shortened : paint(style, shortened);
    });
    const hiddenCount = shownRows.length - lines.length;
    const head = shownRows.length === 0 ? 'No active agent; waiting for one' : countOf(shownRows.length, 'run');
    const text = [
      paint('bold', printableCut(`${head}. Ctrl-C ends it; nothing reaches the agents.`, width - 1)),
      ...lines,
      ...(hiddenCount > 0 ? [paint('dim', `and ${countOf(hiddenCount, 'more run')}`)] : []),
    ];
    const cursorUp = this.#drawnLines === 0 ? '' : `\u001b[${this.#drawnLines}A`;
    this.#drawnLines = text.length;
    await this.#terminal.write(`${cursorUp}\r\u001b[J${text.join('\n')}\n`);
  }

  #stateOf(run: string, row: Row) {
    const id = withoutNumber(run);
    const session = this.#standing?.open.get(id);
    if (session?.waitingFor !== undefined) {
      return { rank: 0, mark: '?', style: 'yellow', text: `waits for ${session.waitingFor}` } as const;
    }
    const isClaude = row.format === 'claude-code' && !run.includes('/');
    const isClosed = isClaude && standsAs(id, this.#standing) === 'killed';
    if (row.alert !== undefined && !isClosed) {
      const { kind, text } = row.alert;
      if (kind === 'waiting') return { rank: 0, mark: '?', style: 'yellow', text } as const;
      return { rank: 0, mark: '…', style: 'yellow', text: text.replace(/^[^:]*: /, 'silent: ') } as const;
    }
    if (row.outcome !== '') return { rank: 2, mark: '■', style: 'dim', text: row.outcome } as const;
    if (isClosed) return { rank: 2, mark: '■', style: 'dim', text: row.closed } as const;
    const [kind] = row.stuck;
    if (kind !== undefined) {
      return { rank: 0, mark: '●', style: 'red', text: `stuck: ${inWords('pattern', kind)}` } as const;
    }
    // The start of a call is no event: what the agent does now is not known.
    return { rank: 1, mark: '·', style: undefined, text: row.doing === '' ? '' : `after ${row.doing}` } as const;
  }
}

function agoText({ atMs }: Row): string {
  const seconds = Math.max(0, Math.floor((Date.now() - atMs) / 1_000));
  if (atMs === 0) return '';
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
