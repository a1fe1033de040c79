import type { KnownLesson } from '../../core/steering/guidance/lesson-guidance.ts';
import { present } from '../../core/base/json.ts';
import type { BudgetUsage } from '../../core/base/budget.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import type { Clock } from '../../core/base/clock.ts';
import { hashText } from '../../core/base/hash.ts';
import { toJson } from '../../core/base/to-json.ts';
import { messageOf } from '../../core/base/error.ts';
import type { ResolvedConfig } from '../config/resolve-config.ts';
import type { HostCall, HostEvent } from '../../adapters/host/host-event.ts';
import { completionText, missingForCompletion } from '../../core/run/completion-check.ts';
import { withoutSessionSecrets } from './session-secrets.ts';
import { interpretEvent, stopAt } from '../../adapters/host/interpret-event.ts';
import { inherit, type Heritage } from '../../core/run/inherit.ts';
import type { Run } from '../../core/run/run.ts';
import type { ChildOptions } from '../../core/run/run-options.ts';
import {
  RunStepper,
  UnusableSnapshot,
  type LateInput,
  type RebuiltRun,
  type RunStepResult,
  type RunStepWork,
} from '../../core/run/run-step.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import type { StopRequest } from '../../core/steering/stop-policy.ts';
import type { HookAnswer } from '../dialects/hook-dialect.ts';
import { foldClaudeState, NEW_CLAUDE_STATE, type ClaudeState } from './claude-state.ts';
import { RecordedThread } from './recorded-thread.ts';
import { openAgents, storedSummary, unreportedCalls, withOpenAgent, type SessionAgents } from './session-agents.ts';
import { pricedRedactor, type Redactor } from '../../core/redact/redactor.ts';

export interface ClaudeSessionsOptions {
  readonly store: Pick<TrajectoryStore, 'transact' | 'readRun'>;
  readonly config: Pick<ResolvedConfig, 'steering' | 'deadline' | 'deadlineFrom' | 'budget' | 'completion' | 'prices'>;
  /** If true, advice may force the agent to continue when it wants to stop, at most once per run. Default: false. */
  readonly forceTurnAtStop?: boolean;
  readonly projectFolder: string;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly build: string;
  /** Reads what keeps failing in the project. Default: the agent is told nothing of it. */
  readonly lessons?: (() => readonly KnownLesson[]) | undefined;
  readonly measureMs?: () => number;
}

export interface AnsweredHook {
  readonly answer: HookAnswer;
  readonly faults: readonly string[];
}

interface HookStep {
  readonly text?: string;
  readonly stop?: StopRequest;
}

export interface HookDetails {
  /** True if the session still has work in the background. A stop is then recorded as a pause. */
  readonly hasBackgroundWork: boolean;
  /** Called after the event is stored and before the completion check runs. */
  readonly onStored?: () => void;
}

/** An event that is recorded after its hook process has ended. Its answer can no longer reach the agent. */
export interface LateEvent extends LateInput {
  /** Called inside the transaction. Returns false if another process has already recorded the event. */
  readonly isWaiting: () => boolean;
}

const LATE_REASON = 'the store was not available in time and the hook had ended';

const ACTIVE_KINDS: ReadonlySet<HostEvent['kind']> = new Set(['prompted', 'call_issued', 'call_ended', 'batch_ended']);

const END_KINDS: ReadonlySet<HostEvent['kind']> = new Set(['stopped', 'session_ended', 'failed']);

/** Maximum number of times that one step rebuilds a run from its records. */
const MAX_REBUILDS = 2;

/**
 * State of each run is stored with its records, so any process can handle an event. A session is a run with the id
 * `session_id`, a subagent a child run `SESSION/AGENT`. Cost: one transaction per event, two for a subagent or a stop
 * with a completion check, three for the end of a subagent.
 */
export class ClaudeSessions {
  readonly #options: ClaudeSessionsOptions;
  readonly #stepper: RunStepper<ClaudeState>;

  constructor(options: ClaudeSessionsOptions) {
    const { config, redactor, clock, build, measureMs } = options;
    this.#options = options;
    this.#stepper = new RunStepper({
      steering: { retain: 'compact', ...config.steering },
      redactor: pricedRedactor(redactor, config.prices),
      clock,
      host: { initial: NEW_CLAUDE_STATE, fold: foldClaudeState },
      build,
      ...(measureMs === undefined ? {} : { measureMs }),
    });
  }

  async answer(input: HostEvent, sessionId: string, details: HookDetails): Promise<AnsweredHook> {
    const faults: string[] = [];
    const { stop, text } = await this.#stepEvent({ input, late: undefined }, sessionId, faults);
    details.onStored?.();
    const answer: HookAnswer =
      text === undefined ? {} : { hookSpecificOutput: { hookEventName: input.name, additionalContext: text } };
    if (stop !== undefined) return { answer: { continue: false, stopReason: `coxswain: ${stop.reason}` }, faults };
    const isStop = input.kind === 'stopped' && !input.isSubagent;
    if (!isStop || this.#options.config.completion === undefined || details.hasBackgroundWork) {
      return { answer, faults };
    }
    const block = await this.#checkCompletion(sessionId, faults);
    return { answer: { ...answer, ...block }, faults };
  }

  /**
   * Each event id is recorded once, at its arrival time. Advice is undelivered, and no completion check runs.
   *
   * @returns the internal errors that did not prevent recording
   * @throws CoxswainError as `store.transact`
   */
  async foldLate(input: HostEvent, sessionId: string, lateEvent: LateEvent): Promise<readonly string[]> {
    const faults: string[] = [];
    await this.#stepEvent({ input, late: lateEvent }, sessionId, faults);
    return faults;
  }

  async #stepEvent(event: TakenEvent, sessionId: string, faults: string[]): Promise<HookStep> {
    const { agentId } = event.input;
    return agentId === undefined
      ? this.#stepSession(event, sessionId, faults)
      : this.#stepAgent(event, { sessionId, runId: `${sessionId}/${agentId}` }, faults);
  }

  async #stepSession(event: TakenEvent, runId: string, faults: string[]): Promise<HookStep> {
    const { config, store } = this.#options;
    let runningAgents: SessionAgents | undefined;
    const run: SteppedRun = {
      identity: { runId, depth: 0 },
      begin: (state) => this.#beginSession(event.input, runId, state),
    };
    const isWithinBudget = ({ agents }: ClaudeState): boolean => {
      if (config.budget === undefined || openAgents(agents).length === 0) return false;
      runningAgents = agents;
      return true;
    };
    const step = await this.#stepRun(event, { ...run, passes: isWithinBudget }, faults);
    if (runningAgents === undefined) return step;
    // The usage of the subagents is read between the two transactions.
    return this.#stepRun(event, { ...run, others: { calls: await unreportedCalls(runningAgents, store) } }, faults);
  }

  /** The run starts with the first prompt, because the prompt is its task. A session without a prompt has no run. */
  #beginSession(input: HostEvent, conversationId: string, state: ClaudeState): ChildOptions | undefined {
    if (!ACTIVE_KINDS.has(input.kind)) return undefined;
    const { budget } = this.#options.config;
    return {
      conversationId,
      ...(input.kind === 'prompted' && input.isTask ? { task: input.text } : {}),
      ...present({ agentName: input.agentType, host: input.host, budget }),
      ...(state.modelId === null ? {} : { modelId: state.modelId }),
    };
  }

  async #stepAgent(event: TakenEvent, { runId, sessionId }: AgentIds, faults: string[]): Promise<HookStep> {
    const { agentType: agentName, host, kind } = event.input;
    const mayEnd = END_KINDS.has(kind);
    const session = await this.#sessionOf({ runId, sessionId }, { notes: !mayEnd, faults });
    const options = { conversationId: sessionId, ...present({ agentName, host }) };
    const step = await this.#stepRun(
      event,
      {
        identity: { runId, parentRunId: sessionId, depth: 1 },
        // Internal agents of Claude Code, for example for summaries, report a stop without a start.
        begin: () => (mayEnd ? undefined : inherit(options, session?.heritage, this.#options.clock.nowMs()).options),
        ...present({ others: session?.others, sessionDeadlineAtMs: session?.heritage.situation.deadlineAtMs }),
      },
      faults,
    );
    if (mayEnd) await this.#reportEnd({ runId, sessionId }, event.late, faults);
    return step;
  }

  /** Undefined if the session has no run. `notes`: marks the subagent as running in the session. */
  async #sessionOf(
    { runId, sessionId }: AgentIds,
    { notes, faults }: { readonly notes: boolean; readonly faults: string[] },
  ): Promise<{ readonly heritage: Heritage; readonly others: BudgetUsage | undefined } | undefined> {
    const { config, store } = this.#options;
    const { result } = await this.#transactRun(
      {
        identity: { runId: sessionId, depth: 0 },
        begin: () => undefined,
        remember: (state) => (notes ? withOpenAgent(state, runId) : state),
        work: (run, state) => ({ heritage: run.heritage, calls: run.analysis.calls, agents: state().agents ?? {} }),
      },
      faults,
    );
    if (result === undefined || config.budget === undefined) return result && { ...result, others: undefined };
    const { [runId]: ownAgent, ...siblings } = result.agents;
    const otherAgentCalls = (result.heritage.situation.below?.calls ?? 0) - (ownAgent?.reportedCalls ?? 0);
    return { ...result, others: { calls: result.calls + otherAgentCalls + (await unreportedCalls(siblings, store)) } };
  }

  async #reportEnd({ runId, sessionId }: AgentIds, lateEvent: LateEvent | undefined, faults: string[]): Promise<void> {
    const agent = await storedSummary(this.#options.store, runId);
    if (agent?.outcome === undefined) return;
    const unreported = ({ agents }: ClaudeState): number => agent.calls - (agents?.[runId]?.reportedCalls ?? 0);
    await this.#transactRun(
      {
        identity: { runId: sessionId, depth: 0 },
        late: lateEvent,
        begin: () => undefined,
        passes: (state) => state.agents?.[runId]?.isOpen === false && unreported(state) === 0,
        work: (run, state) => run.childEnded(runId, { calls: unreported(state()) }),
      },
      faults,
    );
  }

  async #stepRun({ input, late }: TakenEvent, run: SteppedRun, faults: string[]): Promise<HookStep> {
    const { deadline, deadlineFrom } = this.#options.config;
    const { forceTurnAtStop = false } = this.#options;
    const { passes, sessionDeadlineAtMs, ...stepped } = run;
    const modelId = input.kind === 'session_started' ? input.modelId : undefined;
    const { result } = await this.#transactRun(
      {
        ...stepped,
        late,
        work: (active, state) => {
          if (sessionDeadlineAtMs !== undefined) inheritDeadline(active, sessionDeadlineAtMs);
          const thread = new RecordedThread({
            run: active,
            state,
            deadline,
            deadlineFrom,
            lessons: input.agentId === undefined ? this.#options.lessons : undefined,
            storedId: (id) => this.#options.redactor.id(id),
            pairKey: (call) => this.#pairKey(call),
            undeliverable: late === undefined ? undefined : LATE_REASON,
            untilMs: late?.arrivedAtMs,
          });
          const text = interpretEvent(input, thread, { forceTurnAtStop });
          return present({ text, stop: stopAt(input, active) });
        },
        passes: (state) =>
          (late !== undefined && state.lateInputIds?.includes(late.id) === true) || passes?.(state) === true,
        ...(modelId === undefined ? {} : { remember: (state) => ({ ...state, modelId }) }),
      },
      faults,
      late?.isWaiting,
    );
    return result ?? {};
  }

  async #checkCompletion(runId: string, faults: string[]): Promise<HookAnswer> {
    const { completion } = this.#options.config;
    const { projectFolder } = this.#options;
    const state = await this.#options.store.transact(runId, (view) => ({
      records: [],
      result: this.#stepper.hostState(view),
    }));
    // Either the run does not exist yet, or the last check gave up.
    if (completion === undefined || state === undefined || state.gaveUp) return {};
    const missing = await missingForCompletion(completion, projectFolder, withoutSessionSecrets(process.env));
    const attempt = state.unmet + 1;
    const areAllFound = missing.length === 0;
    const gaveUp = !areAllFound && (attempt > completion.maxAttempts || state.refusalStands === true);
    await this.#transactRun(
      {
        identity: { runId, depth: 0 },
        begin: () => undefined,
        work: (run) =>
          run.emit({ type: 'completion_checked', met: areAllFound, missing, attempt, ...(gaveUp ? { gaveUp } : {}) }),
      },
      faults,
    );
    return areAllFound || gaveUp ? {} : { decision: 'block', reason: completionText(missing) };
  }

  async #transactRun<Result>(
    work: RunStepWork<ClaudeState, Result>,
    faults: string[],
    isWanted: () => boolean = () => true,
  ): Promise<Pick<RunStepResult<Result>, 'result'>> {
    const { store } = this.#options;
    const { runId } = work.identity;
    let rebuiltRun: RebuiltRun<ClaudeState> | undefined;
    for (let rebuilds = 0; ; rebuilds += 1) {
      try {
        const step = await store.transact(runId, (view) =>
          isWanted()
            ? this.#stepper.step(view, work, rebuiltRun)
            : { records: [], result: { result: undefined, faults: [] } },
        );
        faults.push(...step.faults);
        return step;
      } catch (error) {
        if (!(error instanceof UnusableSnapshot) || rebuilds >= MAX_REBUILDS) throw error;
        faults.push(`${messageOf(error)}; it was rebuilt from the records`);
        rebuiltRun = await this.#stepper.rebuild(error.nextSeq, (query) => store.readRun(runId, query));
      }
    }
  }

  /** Computed from the redacted call. The key therefore contains no secret, and a spilled event produces the same key. */
  #pairKey({ name, args }: HostCall): string {
    const { redactor } = this.#options;
    return `call-${hashText(canonicalJson([redactor.name(name), redactor.value(toJson(args))]))}@`;
  }
}

interface TakenEvent {
  readonly input: HostEvent;
  readonly late: LateEvent | undefined;
}

interface AgentIds {
  readonly runId: string;
  readonly sessionId: string;
}

interface SteppedRun extends Pick<RunStepWork<ClaudeState, HookStep>, 'identity' | 'begin' | 'passes' | 'others'> {
  /** Unix milliseconds; null without a deadline; undefined for a session. */
  readonly sessionDeadlineAtMs?: number | null;
}

/** Sets the deadline of a subagent to the deadline of its session. */
function inheritDeadline(run: Run, atMs: number | null): void {
  if (run.isEnded || run.heritage.situation.deadlineAtMs === atMs) return;
  run.setDeadline(atMs === null ? undefined : { atMs });
}
