import { KnownLessons, LessonsKnown, type KnownLesson } from '../../core/steering/guidance/lesson-guidance.ts';
import { present } from '../../core/base/json.ts';
import { callCutOff, callEnded, callStarted, answerEvent } from '../../adapters/claude/to-events.ts';
import { LIMIT_USED } from '../../core/records/words.ts';
import { channelOf } from '../../adapters/claude/to-output.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import { unrunOutcome } from '../../core/facts/host-refusals.ts';
import type {
  AnswerUsage,
  EndedCall,
  HostCall,
  HostEvent,
  PromptEvent,
  SessionAnswer,
  TranscriptCall,
} from '../../adapters/host/host-event.ts';
import type { AgentEnding } from '../../core/records/agent-event.ts';
import { answerAcknowledgement } from '../../adapters/host/answer-acknowledgement.ts';
import {
  byEnd,
  settleAll,
  withoutEnd,
  type HostThread,
  type UnreadAnswer,
  type UnreadSession,
} from '../../adapters/host/interpret-event.ts';
import { deliverAdvice, type AdviceHandle } from '../../core/run/advice-handle.ts';
import type { Run } from '../../core/run/run.ts';
import type { ClaudeState } from './claude-state.ts';

export interface RecordedThreadOptions {
  readonly run: Run;
  readonly state: () => ClaudeState;
  readonly deadline: TimeSpan | undefined;
  readonly deadlineFrom: 'session' | 'prompt';
  /** Returns the id under which a call is stored. */
  readonly storedId: (id: string) => string;
  /** For a host without call ids: returns the id prefix for calls with this tool and these arguments. */
  readonly pairKey: (call: HostCall) => string;
  readonly lessons?: (() => readonly KnownLesson[]) | undefined;
  /** Why advice cannot be delivered, for example because the event is late. Undefined if advice can be delivered. */
  readonly undeliverable?: string | undefined;
  /** Answers after this time are not read, because the event was earlier. Unix milliseconds; default: none are left out. */
  readonly untilMs?: number | undefined;
}

/** Hosts name the tool of `coxswain mcp` in several ways, and that server does not know which run a call belongs to. */
const ACKNOWLEDGES = /(?:^|[^a-z])coxswain[^a-z]+acknowledge_advice$/;

/** The state is computed from the records, because each event may be handled by a separate process. */
export class RecordedThread implements HostThread {
  readonly run: Run;
  readonly known = {};
  readonly #options: RecordedThreadOptions;
  #hasFile = false;
  #answerCalls: readonly TranscriptCall[] | undefined;

  constructor(options: RecordedThreadOptions) {
    this.run = options.run;
    this.#options = options;
  }

  get hasForcedTurn(): boolean {
    return this.#state.forcedTurn;
  }

  get isForcing(): boolean {
    return this.#state.isForcing === true;
  }

  get hasAnswered(): boolean {
    return this.#state.hasAnswered === true;
  }

  get isTurnOpen(): boolean {
    return this.#state.turnOpen;
  }

  get hasUnheardCall(): boolean {
    return this.#state.hasUnheardCall === true;
  }

  get hasUnfinished(): boolean {
    const { closedCalls, openCalls } = this.#state;
    return (
      this.#answerCalls?.some(({ id }) => !closedCalls.includes(this.#options.storedId(id))) ?? openCalls.length > 0
    );
  }

  unread(event: HostEvent): UnreadSession {
    const isOfCall = event.kind === 'call_issued' || event.kind === 'call_ended';
    // The event at the end of the turn says more.
    const isEarly = isOfCall && event.hasNoBatches !== true && this.#state.hasBatches === true;
    if (event.session === undefined || isEarly) return { past: [] };
    const { lastUsageAtMs = -1 } = this.#state;
    const { untilMs = Infinity } = this.#options;
    // A call while another one is open may be of the same answer, or of one that the host has not yet written.
    const waits = event.kind !== 'call_issued' || this.#state.openCalls.length > 0;
    const part = event.session(({ atMs }) => atMs <= lastUsageAtMs, waits);
    const answers = this.#identified(part.answers, untilMs);
    this.#hasFile = answers.length > 0;
    const at = this.#currentIn(answers, event);
    const isOver = WHOLE_AT.has(event.kind);
    const lastKnown = answers.findLastIndex(
      ({ atMs, calls }) => atMs <= lastUsageAtMs || calls.some((call) => this.#isKnown(call)),
    );
    const unread = answers.map((answer, index): UnreadAnswer => {
      const isNewUsage = answer.atMs > lastUsageAtMs;
      const isTurnKnown =
        answer.hasFailed === true ||
        index < lastKnown ||
        !isNewUsage ||
        answer.calls.some((call) => this.#isKnown(call));
      const calls = answer.calls.filter((call) => {
        const state = this.#lookUp(call);
        return state === 'open' || (state === 'new' && index >= lastKnown);
      });
      return { ...answer, calls, isTurnKnown, hasNewUsage: answer.usage !== undefined && isNewUsage };
    });
    const past = (at === undefined ? unread : unread.slice(0, at)).filter(
      ({ calls, hasNewUsage, isWhole }, index) =>
        (calls.length > 0 || hasNewUsage) &&
        // The host may still write the last answer.
        (isOver ||
          index < answers.length - 1 ||
          (isWhole && calls.every((call) => call.ended !== undefined || this.#lookUp(call) === 'open'))),
    );
    const own = event.kind === 'call_ended' ? this.#ownCall(answers[at ?? -1], event.call) : undefined;
    const found = at === undefined ? undefined : unread[at];
    // The event says how its own call ended.
    const current = found && { ...found, calls: found.calls.filter(({ id }) => id !== own?.id) };
    const { costUsd, ending, hasEnded } = part;
    this.#answerCalls = at === undefined ? undefined : answers[at]?.calls;
    return { past, ...present({ current, costUsd, ending, hasEnded, call: this.#callIn(answers[at ?? -1], event) }) };
  }

  recordAnswer({ atMs, calls, compaction, hasNewUsage, isTurnKnown, limit, modelId, text, usage }: UnreadAnswer): void {
    if (hasNewUsage && compaction !== undefined) this.compact(compaction);
    if (!isTurnKnown) {
      this.#cutOffOpenCalls();
      this.run.emit({ type: 'turn_start', ...(atMs === 0 ? {} : { atMs }) });
    }
    if (hasNewUsage) this.run.emit(answerEvent(text, { atMs, ...present({ modelId, usage }) }));
    if (hasNewUsage && limit !== undefined) this.run.dispatch({ type: LIMIT_USED, data: limit });
    for (const call of calls) if (this.#expect(call, false)) this.startCall(call);
    for (const call of calls.flatMap(({ ended = [] }) => ended).toSorted(byEnd)) this.endCall(call);
  }

  beginPrompt({ isTask }: PromptEvent): void {
    const { deadline, deadlineFrom, lessons } = this.#options;
    // The lessons are an input of the run, so that a replay has them.
    if (isTask && lessons !== undefined && this.run.session.slice(KnownLessons).latest() === undefined) {
      const known = lessons();
      if (known.length > 0) this.run.dispatch(LessonsKnown({ lessons: known }));
    }
    if (deadline === undefined || !isTask) return;
    if (deadlineFrom === 'prompt' || !this.#state.deadlineSet) this.run.setDeadline(deadline);
  }

  compact(trigger: string): void {
    this.run.emit({ type: 'compaction', trigger });
  }

  expectCall(issued: HostCall): boolean {
    const { endedInTurn, hasBatches, openCalls } = this.#state;
    // Unless an event ends each turn, or the session file has its answer, a call that begins after another one has ended was not issued with it.
    const isLater = endedInTurn === true && openCalls.length === 0 && hasBatches !== true;
    return this.#expect(issued, isLater && this.#answerCalls === undefined);
  }

  #expect(issued: HostCall, beginsTurn: boolean): boolean {
    const call = this.#withIdentity(issued);
    if (this.#lookUp(call) !== 'new') return false;
    const isIssuedWithKnown = this.#answerCalls?.some((one) => this.#isKnown(one)) === true;
    if (beginsTurn || (!this.#state.turnOpen && !isIssuedWithKnown)) this.run.emit({ type: 'turn_start' });
    return true;
  }

  startCall(call: HostCall): void {
    this.run.emit(callStarted(this.#withIdentity(call)));
  }

  endCall(ended: EndedCall): boolean {
    const call = this.#pairCall(ended);
    if (this.#lookUp(call) === 'closed') return false;
    if (this.#expect(call, false)) this.startCall(call);
    const openCall = this.#state.openCalls.find(([id]) => id === this.#options.storedId(call.id));
    // A transcript may use a different name for the tool.
    const name = openCall?.[1] ?? call.name;
    this.run.emit(callEnded({ ...call, name }));
    if (ACKNOWLEDGES.test(name) && !call.isError) answerAcknowledgement(this.run, call.args);
    return true;
  }

  unreported(calls: readonly EndedCall[], answer?: UnreadAnswer): readonly EndedCall[] {
    return calls.flatMap((call) => {
      const state = this.#lookUp(call);
      if (state === 'closed') return [];
      // `PreToolUse` reported the call, and no event reported its end.
      const isUnrun = state === 'open' && answer === undefined;
      return [isUnrun ? { ...call, outcome: unrunOutcome(call.result) } : call];
    });
  }

  endBatch(usages: readonly AnswerUsage[] = []): void {
    this.#cutOffOpenCalls();
    for (const usage of this.#unrecordedUsages(usages)) this.run.emit(answerEvent('', usage));
  }

  stop(text: string | undefined, usages: readonly AnswerUsage[] = [], answer?: UnreadAnswer): void {
    this.#cutOffOpenCalls();
    if (answer?.usage !== undefined) {
      if (answer.hasNewUsage)
        this.recordAnswer({ ...answer, text: text ?? answer.text, isTurnKnown: answer.hasFailed === true });
      return;
    }
    const newUsages = this.#unrecordedUsages(usages);
    const last = text === undefined ? undefined : newUsages.at(-1);
    for (const usage of newUsages) if (usage !== last) this.run.emit(answerEvent('', usage));
    if (text === undefined) return;
    this.run.emit({ type: 'turn_start' });
    this.run.emit(answerEvent(text, last));
  }

  /** Nothing to do: the records already contain the delivery of the advice. */
  forced(): void {}

  end(ending: AgentEnding = { outcome: 'ended' }, usages?: readonly AnswerUsage[]): void {
    this.endBatch(usages);
    this.run.emit({ type: 'agent_end', ...ending });
  }

  say(advice: readonly AdviceHandle[], name: string): string | undefined {
    const { undeliverable } = this.#options;
    if (undeliverable === undefined) return deliverAdvice(advice, { channel: channelOf(name) });
    settleAll(advice, undeliverable);
    return undefined;
  }

  /** The answers until a time. A call without an id is the first with its tool and arguments, which a host may date too early. */
  #identified(all: readonly SessionAnswer[], untilMs: number): readonly SessionAnswer[] {
    const answers = all.filter(({ atMs }) => atMs <= untilMs);
    const { closedCalls, openCalls } = this.#state;
    const paired = [...openCalls.map(([id]) => id), ...closedCalls]
      .flatMap((id) => {
        const [, key, atMs] = PAIRED.exec(id) ?? [];
        return key === undefined ? [] : [{ key, atMs: Number(atMs) }];
      })
      .toSorted((a, b) => a.atMs - b.atMs);
    /** Calls of an answer that has none in the file, because the host writes a call when it ends. */
    const openIn = (fromMs: number, toMs: number): readonly TranscriptCall[] => {
      const names = new Map(openCalls);
      const own = paired.filter((one) => one.atMs >= fromMs && one.atMs < toMs && names.has(`${one.key}${one.atMs}`));
      return own.map(({ key, atMs }) => {
        const id = `${key}${atMs}`;
        return { id, name: names.get(id) ?? '', args: {} };
      });
    };
    const identify = (answer: SessionAnswer, index: number): SessionAnswer => {
      const nextAtMs = answers[index + 1]?.atMs ?? Infinity;
      const fromMs = answers[index - 1]?.atMs ?? answer.atMs - MAX_LEAD_MS;
      const calls = answer.calls.map((call): TranscriptCall => {
        const known = call.ended !== undefined && (call.ended.endedAtMs ?? 0) > untilMs ? withoutEnd(call) : call;
        const key = paired.length === 0 ? '' : this.#options.pairKey(call);
        const found = paired.findIndex((one) => one.key === key && one.atMs >= fromMs && one.atMs < nextAtMs);
        const [own] = found === -1 ? [] : paired.splice(found, 1);
        if (own === undefined) return known;
        const id = `${own.key}${own.atMs}`;
        return { ...known, id, ...present({ ended: known.ended && { ...known.ended, id } }) };
      });
      return { ...answer, calls: calls.length === 0 && answer.text === '' ? openIn(fromMs, nextAtMs) : calls };
    };
    return answers.map(identify);
  }

  /** Index of the answer that an event ends, or of the answer with the call of the event. */
  #currentIn(answers: readonly SessionAnswer[], event: HostEvent): number | undefined {
    const last = answers.length - 1;
    const lastWith = (isIt: (call: TranscriptCall) => boolean): number | undefined => {
      const at = answers.findLastIndex(({ calls }) => calls.some(isIt));
      return at === -1 ? undefined : at;
    };
    switch (event.kind) {
      case 'batch_ended': {
        const ids = new Set(event.calls.map(({ id }) => id));
        return ids.size > 0 ? lastWith(({ id }) => ids.has(id)) : lastWith(() => true) === last ? last : undefined;
      }
      case 'call_issued':
      case 'call_ended':
        return lastWith((call) => this.#isOf(call, event.call));
      case 'stopped':
        return answers[last]?.calls.length === 0 ? last : undefined;
      default:
        return undefined;
    }
  }

  /** The call of an event under the name that the session file gives its tool. */
  #callIn(answer: SessionAnswer | undefined, event: HostEvent): HostCall | undefined {
    if ((event.kind !== 'call_issued' && event.kind !== 'call_ended') || event.call.isPairedByArguments === true)
      return undefined;
    return answer?.calls.find(({ id }) => id === event.call.id);
  }

  #pairedId(call: HostCall): string | undefined {
    return 'result' in call
      ? this.#state.openCalls.find(([id]) => id.startsWith(this.#options.pairKey(call)))?.[0]
      : undefined;
  }

  /** The call of an event that ends it, in the answer of the session file. */
  #ownCall(answer: SessionAnswer | undefined, ended: EndedCall): TranscriptCall | undefined {
    const { id: recordedId } = this.#pairCall(ended);
    const calls = answer?.calls ?? [];
    return calls.find(({ id }) => id === recordedId) ?? calls.find((call) => this.#isOf(call, ended));
  }

  /** Whether a call of the session file is the call of an event. */
  #isOf(call: TranscriptCall, of: HostCall): boolean {
    if (of.isPairedByArguments !== true) return call.id === of.id;
    const key = this.#options.pairKey(of);
    // An equal call of an earlier answer is another one.
    return call.id === this.#pairedId(of) || (this.#lookUp(call) === 'new' && this.#options.pairKey(call) === key);
  }

  #unrecordedUsages(usages: readonly AnswerUsage[]): readonly AnswerUsage[] {
    // The session file has them too.
    if (this.#hasFile) return [];
    const { usedAtMs } = this.#state;
    return usages.filter(({ atMs }) => atMs > usedAtMs);
  }

  get #state(): ClaudeState {
    return this.#options.state();
  }

  /** Adds an id to a call if the host provides none. The end of the call is matched by the id's prefix. */
  #withIdentity<Call extends HostCall>(call: Call): Call {
    if (call.isPairedByArguments !== true) return call;
    const { isPairedByArguments: _none, ...identified } = { ...call, id: `${this.#options.pairKey(call)}${call.id}` };
    // The omitted member is optional.
    return identified as Call;
  }

  /** If no call with this prefix is open, the id of an ended one, because the hook may be configured twice. */
  #pairCall(call: EndedCall): EndedCall {
    if (call.isPairedByArguments !== true) return call;
    const { openCalls, closedCalls } = this.#state;
    const key = this.#options.pairKey(call);
    const id = [...openCalls.map(([open]) => open), ...closedCalls].find((one) => one.startsWith(key));
    const identifiedCall = this.#withIdentity(call);
    return id === undefined ? identifiedCall : { ...identifiedCall, id };
  }

  #isKnown(call: HostCall): boolean {
    return this.#lookUp(call) !== 'new';
  }

  #lookUp({ id }: HostCall): 'new' | 'open' | 'closed' {
    const storedId = this.#options.storedId(id);
    const { openCalls, closedCalls } = this.#state;
    if (openCalls.some(([open]) => open === storedId)) return 'open';
    return closedCalls.includes(storedId) ? 'closed' : 'new';
  }

  #cutOffOpenCalls(): void {
    for (const [id, name] of this.#state.openCalls) this.run.emit(callCutOff({ id, name }));
  }
}

/** Events at which the host has written all of its last answer. */
const WHOLE_AT: ReadonlySet<HostEvent['kind']> = new Set(['session_ended', 'failed', 'stopped', 'seen']);

/** A call may be dated before its answer by this time. The longest measured one is 20 ms, in Copilot CLI. */
const MAX_LEAD_MS = 500;

/** Matches an id that the host did not give; see `pairKey`. */
const PAIRED = /^(call-[^@]+@)(\d+)$/;
