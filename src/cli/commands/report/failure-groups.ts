import type { FailedCall } from '../../../core/facts/failed-calls.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import { present } from '../../../core/base/json.ts';
import { countOf, countText, durationText, usdText } from '../../../core/base/number-text.ts';
import { printableCut } from '../../../core/base/printable.ts';
import { styled, type Document } from '../../document/document.ts';
import { localTimeText } from '../../terminal/time-text.ts';

const MAX_GROUPS = 2_000;
const MAX_COMMANDS = 20_000;
const EXAMPLES = 2;
const SHOWN = 15;
/** A cause still happens if one of this number of latest sessions of its project has it. */
const LATEST_SESSIONS = 5;

interface Example {
  readonly runId: string;
  readonly call: number;
  readonly command: string;
}

/** Failed calls of one cause. Plain JSON. */
export interface FailureGroup {
  readonly tool: string;
  readonly command: string;
  readonly cause: string;
  readonly project: string;
  readonly times: number;
  readonly sessions: number;
  /** Calls until something of the same tool worked. */
  readonly calls: number;
  readonly ms: number;
  readonly costUsd: number;
  /** What worked after it most often. */
  readonly worked?: string;
  readonly lastAtMs: number;
  /**
   * False if the command worked in the last session that ran it. For a tool without commands: if none of the last five sessions of the
   * project has the failure.
   */
  readonly stillHappens: boolean;
  /** Number of sessions that ran the command; absent for a tool without commands. */
  readonly ranIn?: number;
  readonly examples: readonly Example[];
}

interface Draft extends Omit<FailureGroup, 'sessions' | 'worked' | 'stillHappens' | 'ranIn' | 'examples'> {
  readonly runs: Set<string>;
  readonly worked: Map<string, number>;
  readonly examples: Example[];
}

/** The sessions of a project that ran a command. */
interface Ran {
  readonly sessions: Set<string>;
  lastAtMs: number;
  worked: boolean;
}

/** Groups the failed calls of runs by project, tool and cause. Memory: 2,000 groups and 20,000 commands. */
export class FailureGroups {
  readonly #drafts = new Map<string, Draft>();
  /** Sessions of each project, with the time of their last record. */
  readonly #sessions = new Map<string, { readonly id: string; readonly lastAtMs: number }[]>();
  readonly #ran = new Map<string, Ran>();
  readonly #commandOf: (runId: string, call: number, source: string) => string;

  /** @param commandOf  returns the command that opens a call, by its index */
  constructor(commandOf: (runId: string, call: number, source: string) => string) {
    this.#commandOf = commandOf;
  }

  add({ commands, failures, id, lastAtMs, parentId = id, project, source }: RunFacts): void {
    const place = project ?? '';
    for (const [command, worked] of Object.entries(commands))
      this.#addCommand(place, command, { parentId, lastAtMs, worked });
    const sessions = this.#sessions.get(place) ?? [];
    this.#sessions.set(
      place,
      [...sessions, { id, lastAtMs }].toSorted((a, b) => b.lastAtMs - a.lastAtMs).slice(0, LATEST_SESSIONS),
    );
    for (const failure of failures) this.#addFailure(failure, id, { place, source });
  }

  /** The causes with the most sessions first, then those that cost the most calls. */
  get groups(): readonly FailureGroup[] {
    const recent = new Set([...this.#sessions.values()].flat().map(({ id }) => id));
    return [...this.#drafts.values()]
      .map(({ runs, worked, ...draft }): FailureGroup => {
        const [most] = [...worked].toSorted(([, a], [, b]) => b - a);
        const ran = draft.command === '' ? undefined : this.#ran.get(keyOf(draft.project, draft.command));
        const stillHappens = ran === undefined ? [...runs].some((id) => recent.has(id)) : !ran.worked;
        const facts = { sessions: runs.size, stillHappens, ...present({ ranIn: ran?.sessions.size }) };
        return Object.assign({}, draft, facts, most === undefined ? {} : { worked: most[0] });
      })
      .toSorted((a, b) => b.sessions - a.sessions || b.calls - a.calls);
  }

  #addCommand(
    place: string,
    command: string,
    { lastAtMs, parentId, worked }: { readonly parentId: string; readonly lastAtMs: number; readonly worked: boolean },
  ): void {
    const key = keyOf(place, command);
    const known = this.#ran.get(key);
    if (known === undefined && this.#ran.size >= MAX_COMMANDS) return;
    const ran = known ?? { sessions: new Set(), lastAtMs, worked };
    ran.sessions.add(parentId);
    if (lastAtMs >= ran.lastAtMs) Object.assign(ran, { lastAtMs, worked });
    this.#ran.set(key, ran);
  }

  #addFailure(
    failure: FailedCall,
    runId: string,
    { place, source }: { readonly place: string; readonly source: string },
  ): void {
    const { atMs, calls, cause, command, costUsd, ms, number, tool, worked } = failure;
    const key = JSON.stringify([place, tool, command, cause]);
    const before = this.#drafts.get(key);
    if (before === undefined && this.#drafts.size >= MAX_GROUPS) return;
    const draft: Draft = before ?? {
      tool,
      command,
      cause,
      project: place,
      times: 0,
      calls: 0,
      ms: 0,
      costUsd: 0,
      lastAtMs: 0,
      runs: new Set(),
      worked: new Map(),
      examples: [],
    };
    if (worked !== undefined) draft.worked.set(worked, (draft.worked.get(worked) ?? 0) + 1);
    if (draft.examples.length < EXAMPLES && !draft.runs.has(runId))
      draft.examples.push({ runId, call: number - 1, command: this.#commandOf(runId, number - 1, source) });
    draft.runs.add(runId);
    this.#drafts.set(key, {
      ...draft,
      times: draft.times + 1,
      calls: draft.calls + calls,
      ms: draft.ms + ms,
      costUsd: draft.costUsd + costUsd,
      lastAtMs: Math.max(draft.lastAtMs, atMs),
    });
  }
}

function keyOf(place: string, command: string): string {
  return JSON.stringify([place, command]);
}

/** Returns the causes that cost most as a document. */
export function failuresDocument({ groups }: FailureGroups): Document {
  const shown = groups.slice(0, SHOWN);
  if (shown.length === 0) return { blocks: [{ type: 'facts', facts: ['No failed call in this time.'] }] };
  const rest = groups.length - shown.length;
  return {
    title: 'What keeps failing',
    blocks: [
      {
        type: 'list',
        isNumbered: true,
        items: shown.map((group) => ({
          head: styled('strong', printableCut(headOf(group), 160)),
          lines: [costText(group), [endText(group)], ...group.examples.map(({ command }) => styled('code', command))],
        })),
      },
      ...(rest > 0
        ? [{ type: 'facts' as const, facts: [`and ${countOf(rest, 'more cause')}; --json lists all`] }]
        : []),
    ],
  };
}

function headOf({ cause, command, tool }: FailureGroup): string {
  return `${command === '' ? tool : command}: ${cause}`;
}

function costText({ calls, costUsd, ms, project, ranIn, sessions, times, worked }: FailureGroup): string {
  const others = ranIn === undefined || ranIn <= sessions ? '' : ` of ${countText(ranIn)} that ran it`;
  const facts = [
    `${countOf(times, 'time')} in ${countOf(sessions, 'session')}${others}`,
    `${countOf(calls, 'call')} ${worked === undefined ? 'without success' : 'until something else worked'}`,
    ...(ms >= 1000 ? [durationText(ms)] : []),
    ...(costUsd >= 0.005 ? [usdText(costUsd)] : []),
    ...(project === '' ? [] : [printableCut(project, 100)]),
  ];
  return facts.join(', ');
}

function endText({ lastAtMs, ranIn, stillHappens, worked }: FailureGroup): string {
  const then = worked === undefined ? 'no similar call worked after it' : `then worked: ${printableCut(worked, 80)}`;
  const last = lastAtMs > 0 ? `, last ${localTimeText(lastAtMs)}` : '';
  const isOver =
    ranIn === undefined
      ? `not in the last ${countText(LATEST_SESSIONS)} sessions of the project`
      : 'the command worked in the last session that ran it';
  return `${then}${last}; ${stillHappens ? 'still happens' : isOver}`;
}
