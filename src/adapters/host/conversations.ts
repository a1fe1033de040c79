import { hashText } from '../../core/base/hash.ts';
import type { Run } from '../../core/run/run.ts';
import type { RefusalOptions } from './adapter-options.ts';
import { Conversation } from './conversation.ts';
import type { IssuedCall } from './issued-call.ts';

export type Followed<State> = State & { readonly conversation: Conversation };

/** The conversations of a run: its own, and those of loops that ran beside it, by the hash of their first message. */
interface Loops<State> {
  readonly own: Followed<State>;
  opening: string | undefined;
  readonly beside: Map<string, readonly Followed<State>[]>;
}

/** A run has one conversation at a time: a loop that begins while another waits gets a child run, which ends with the run. */
export class Conversations<State extends object> {
  readonly #options: RefusalOptions;
  readonly #start: () => State;
  readonly #byRun = new WeakMap<Run, Loops<State>>();

  constructor(options: RefusalOptions, start: () => State) {
    this.#options = options;
    this.#start = start;
  }

  of(run: Run): Followed<State> {
    return this.#loops(run).own;
  }

  /**
   * Returns the conversation of a request.
   *
   * @param firstMessage  the first message of the user in the request, as JSON
   * @param resultIds  ids of the calls whose results the request contains
   */
  asking(run: Run, firstMessage: unknown, resultIds: () => readonly string[]): Followed<State> {
    const loops = this.#loops(run);
    const { own, beside } = loops;
    const opening = hashText(JSON.stringify(firstMessage) ?? '');
    loops.opening ??= opening;
    const alike = [...(loops.opening === opening ? [own] : []), ...(beside.get(opening) ?? [])];
    const [first, ...others] = alike;
    // The usual request needs no reading of its history.
    if (first !== undefined && others.length === 0 && !first.conversation.isBusy) return first;
    const ids = resultIds();
    const found = alike.find(({ conversation }) =>
      ids.length === 0 ? !conversation.isBusy : conversation.hasOpen(ids),
    );
    if (found !== undefined) return found;
    // The request goes on a history whose calls are not open, or begins while nothing is under way.
    if (first !== undefined && ids.length > 0) return first;
    if (!own.conversation.isBusy || own.conversation.hasOpen(ids)) {
      loops.opening = opening;
      return own;
    }
    const child = run.child();
    const created = this.of(child);
    beside.set(opening, [...(beside.get(opening) ?? []), created]);
    run.beforeEnd(() => {
      if (!child.isEnded) child.emit({ type: 'agent_end' });
      return undefined;
    });
    return created;
  }

  /** Returns the conversation whose last answer contains the call, else the run's own. */
  calling(run: Run, call: IssuedCall | undefined): Followed<State> {
    const { own, beside } = this.#loops(run);
    if (call === undefined || beside.size === 0) return own;
    return [own, ...[...beside.values()].flat()].find(({ conversation }) => conversation.waitsFor(call)) ?? own;
  }

  #loops(run: Run): Loops<State> {
    const known = this.#byRun.get(run);
    if (known !== undefined) return known;
    const own = { ...this.#start(), conversation: new Conversation(run, this.#options) };
    const loops: Loops<State> = { own, opening: undefined, beside: new Map() };
    this.#byRun.set(run, loops);
    return loops;
  }
}
