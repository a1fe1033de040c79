import { LruMap } from '../../core/base/lru-map.ts';
import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import type { CallResult, IssuedCall } from './issued-call.ts';

export interface OpenCall extends IssuedCall {
  /** Id that is unique in the run: the host's id, or an id derived from it. */
  readonly callId: string;
  isStarted: boolean;
  /** Outcome, if it is known before the next request contains it. */
  returned?: CallResult;
  /** Advice requested before the call ran. It is delivered with the result. */
  before: readonly AdviceHandle[];
}

/** Number of recent ids that are remembered to detect reuse. */
const REMEMBERED_IDS = 4_096;

/** Creates unique ids for recorded calls, because a model may reuse an id. */
export class CallIds {
  readonly #uses = new LruMap<number>(REMEMBERED_IDS);

  /** Returns the id to record. It is the host's id; repeated ids get a number, such as `call_1#2`. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    return uses === 1 ? id : `${id}#${uses}`;
  }

  /** Returns true if the id is among the remembered ones. */
  isUsed(id: string): boolean {
    return this.#uses.has(id);
  }
}

export class UnansweredCalls {
  readonly #open = new Map<string, OpenCall>();
  readonly #ids = new CallIds();

  /** Opens a call. A reused id gets a number. A missing id is derived from the tool's name. */
  add(call: IssuedCall): OpenCall {
    const name = call.id === '' ? `${call.name}-call` : call.id;
    const callId = this.#ids.next(name);
    const open: OpenCall = { ...call, id: call.id === '' ? callId : call.id, callId, isStarted: false, before: [] };
    this.#open.set(open.id, open);
    return open;
  }

  get(id: string): OpenCall | undefined {
    return this.#open.get(id);
  }

  firstOf(name: string | undefined): OpenCall | undefined {
    return this.all().find((call) => call.name === name);
  }

  /** Returns true if the run has an open or ended call with this id. */
  isKnown(id: string): boolean {
    return this.#open.has(id) || this.#ids.isUsed(id);
  }

  all(): readonly OpenCall[] {
    return [...this.#open.values()];
  }

  notStarted(): readonly OpenCall[] {
    return this.all().filter((call) => !call.isStarted);
  }

  /** By id; a call without an id by tool and arguments, else by tool. Without a match, a new call is created. */
  find(called: IssuedCall): OpenCall {
    const openCall = this.#open.get(called.id);
    if (openCall !== undefined) return openCall;
    if (called.id !== '') return this.add(called);
    const waitingCalls = this.notStarted().filter((call) => call.name === called.name);
    return waitingCalls.find((call) => call.argsText === called.argsText) ?? waitingCalls[0] ?? this.add(called);
  }

  close(call: OpenCall): void {
    this.#open.delete(call.id);
  }
}
