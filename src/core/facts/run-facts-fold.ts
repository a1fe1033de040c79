import { callNumber } from '../base/number-text.ts';
import { isJsonObject, type Json, present } from '../base/json.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { TURN_WORKED } from '../records/words.ts';
import { CallPreviews, type CallPreview, errorLineOf, type RunCall } from './run-call.ts';
import { FailedCallsFold } from './failed-calls.ts';
import { textOfContent } from '../records/agent-message.ts';
import { InstructionsFold } from './instruction-lines.ts';
import { asksPerson, callLabel, HOST_NOTE } from './last-act.ts';
import { momentsOf, type Streak } from './moments.ts';
import {
  NO_ADVICE,
  shownEvidence,
  stripOf,
  tallied,
  type RunDiagnostic,
  type RefusedCall,
  type RunFacts,
} from './run-facts.ts';
import { alertOf } from './run-alert.ts';
import { runStory, storyFactsOf, type StorySentence, StoryFold } from './run-story.ts';
import { RunView, type RunViewOptions } from './run-view.ts';
import { saysStuck } from './seen-pattern.ts';
import { withoutNumber } from './task-title.ts';

const MAX_DIAGNOSTICS = 50;
const MAX_FAULTS = 20;
const MAX_REFUSED = 3;
/** A longer time between two records is no work: the machine slept, or the run was resumed. */
const MAX_PAUSE_MS = 3_600_000;
/** Claude Code ends a command without a timeout of its own after two minutes, or goes on without it. */
const COMMAND_LIMIT_MS = 120_000;

export interface RunFactsOptions extends Pick<RunViewOptions, 'detectors' | 'recompute'> {
  readonly prices?: ModelPrices | undefined;
  /** Includes hints. Hints are not recorded, so the patterns are recomputed. */
  readonly hints?: boolean;
  /** True to fold only what lessons need: no patterns, checks, changes and previews. Default: false. */
  readonly onlyLessons?: boolean;
  readonly source?: string | undefined;
  /** Path of the store or file that contains the run. Default: `source`. */
  readonly place?: string | undefined;
}

/** Cost: like `RunView`. Memory is bounded. */
export class RunFactsFold {
  readonly view: RunView;
  readonly id: string;
  readonly #options: RunFactsOptions;
  readonly #previews = new CallPreviews();
  readonly #refusedCalls: RefusedCall[] = [];
  readonly #story: StoryFold;
  readonly #failedCalls = new FailedCallsFold();
  readonly #instructions = new InstructionsFold();
  readonly #diagnostics: RunDiagnostic[] = [];
  #diagnosticsLeftOut = 0;
  readonly #faultTexts: string[] = [];
  #faults = 0;
  #streak: Streak = { length: 0, call: 0, atMs: 0 };
  #longestStreak: Streak = this.#streak;
  #gaveUp: Streak | undefined;
  #activeMs = 0;
  /** The active time before the last message of the user. */
  #activeBeforeMs = 0;
  /** True if the agent has no work: it has not begun, its turn or its run is over, or a person stopped it. */
  #isAtRest = true;
  #isAlive = false;

  constructor(id: string, options: RunFactsOptions = {}) {
    const { hints = false, onlyLessons = false, prices, recompute = false } = options;
    this.id = id;
    this.#options = options;
    const detectors = onlyLessons ? [] : (options.detectors ?? []);
    this.view = new RunView({
      detectors,
      hasWork: !onlyLessons,
      recompute: recompute || hints,
      ...present({ prices }),
    });
    this.#story = new StoryFold(this.view);
  }

  get program(): string | undefined {
    const { started } = this.view;
    return started?.format ?? started?.host;
  }

  /** The session id. For a subagent: the id of the session that started it. */
  get sessionId(): string {
    return this.view.counts.conversationId ?? withoutNumber(this.id);
  }

  /** Notes that the process of the run exists, so that a run without an end is not cut off, however old its last record is. */
  markAlive(): void {
    this.#isAlive = true;
  }

  /** Adds a payload that is not recorded, as if it were the last record. Default time: that of the last record. */
  add(payload: TrajectoryPayload, atMs: number = this.view.lastAtMs): void {
    const { depth, lastSeq } = this.view.counts;
    const place = { run_id: this.id, depth, seq: lastSeq + 1, schema_version: 1 } as const;
    this.fold({ ...place, recorded_at_unix_ms: atMs, payload });
  }

  fold(record: TrajectoryRecord): void {
    const { payload, recorded_at_unix_ms: atMs } = record;
    const { lastAtMs } = this.view;
    const beforeMs = this.#activeMs;
    const call = this.view.fold(record);
    const cause = call === undefined ? this.#story.fold(undefined, undefined) : this.#noteCall(call, record);
    for (const pattern of this.view.changedPatterns) this.#previews.keep(shownEvidence(pattern));
    const { calls } = this.view;
    const pauseMs = lastAtMs > 0 && atMs > lastAtMs ? atMs - lastAtMs : 0;
    if (pauseMs <= MAX_PAUSE_MS && !isOfUser(payload) && call?.outcome !== 'refused' && !this.#isAtRest)
      this.#activeMs += Math.min(pauseMs, this.#longestCallMs(payload, call));
    if (payload.kind === 'message_appended' && payload.message.role === 'user') this.#activeBeforeMs = this.#activeMs;
    const workedMs =
      payload.kind === 'session_event' && payload.event_type === TURN_WORKED ? durationIn(payload.data) : undefined;
    if (workedMs !== undefined) this.#activeMs = Math.min(this.#activeMs, this.#activeBeforeMs + workedMs);
    if (payload.kind === 'tool_ended' && call?.failed === false) this.#instructions.readCall(call.args, payload.result);
    if (payload.kind === 'message_appended' && payload.message.role !== 'assistant')
      this.#instructions.readMessage(textOfContent(payload.message.content));
    if (payload.kind === 'tool_ended') {
      const callMs = Math.max(0, this.#activeMs - beforeMs);
      this.#failedCalls.fold(payload, call, { cause, atMs, callMs, ...this.#spent() });
    }
    this.#isAtRest = restsAfter(payload) ?? this.#isAtRest;
    if (payload.kind === 'completion_checked' && payload.gave_up === true)
      this.#gaveUp = { length: payload.attempt, call: Math.max(1, calls), atMs };
    if (payload.kind === 'fault_noticed') this.#addFault(`${payload.where}: ${payload.message}`);
    if (payload.kind === 'provider_failed')
      this.#addFault(`${payload.provider_name} (${payload.phase}): ${payload.message}`);
  }

  diagnose(diagnostic: RunDiagnostic): void {
    if (this.#diagnostics.length < MAX_DIAGNOSTICS) this.#diagnostics.push(diagnostic);
    else this.#diagnosticsLeftOut += 1;
  }

  /**
   * @param nowMs  the time at which the state of a run without an end is judged
   * @param problem  why the run could not be read
   */
  facts(nowMs: number, problem?: string): RunFacts {
    const {
      advice: adviceTexts,
      context,
      counts,
      failures,
      outcome: ending,
      patterns: found,
      started,
      usage,
    } = this.view;
    const {
      calls,
      cancelled,
      errors,
      lastAtMs,
      lostRecords,
      parentRunId: parentId,
      refused,
      startedAtMs,
      turns,
    } = counts;
    const { hints = false, place, source } = this.#options;
    const patterns = hints ? found.patterns.map(({ pattern }) => pattern) : this.view.flaggedPatterns;
    const verdict = this.view.verdictAt(nowMs, this.#isAlive);
    const label = ending?.labels?.['person'];
    const faultTexts = [...this.#faultTexts];
    const { lastChange: _change, lastMessage, lastParagraph, question, ...work } = this.view.work.work;
    const { unanswered } = this.view.lastAct;
    const facts = {
      id: this.id,
      ...present({ parentId }),
      source: source ?? started?.source ?? '',
      format: this.program ?? 'coxswain',
      ...present({
        task: this.view.task,
        agent: started?.identity.agent_name ?? this.program,
        modelId: started?.identity.model_id ?? counts.modelId,
        person: typeof label === 'string' ? label : ownerOf(place ?? source),
      }),
      startedAtMs,
      lastAtMs,
      calls,
      turns,
      errors,
      ...(this.#refusedCalls.length === 0 ? {} : { refusedCalls: [...this.#refusedCalls] }),
      ...present({ refused, cancelled, lostRecords, durationMs: startedAtMs > 0 ? lastAtMs - startedAtMs : undefined }),
      activeMs: this.#activeMs,
      ...usage,
      ...present({ context, ending }),
      verdict,
      ...present({
        alert: verdict.verdict === 'open' ? alertOf(this.view, { nowMs, isAlive: this.#isAlive }) : undefined,
      }),
      recent: this.view.recent,
      ...work,
      ...(verdict.answer === 'none' ? {} : present({ lastMessage, lastParagraph })),
      ...(verdict.answer === undefined
        ? {}
        : present({ question: verdict.answer === 'shown' ? (question ?? unanswered) : unanswered })),
      ...this.view.workAt(verdict),
      stuck: saysStuck(patterns),
      steered: started?.steering !== undefined,
      patternBasis: found.basis,
      patterns: patterns.map((pattern) => {
        const costUsd = this.view.costOfPattern(pattern.identity);
        return costUsd === undefined ? pattern : { ...pattern, costUsd };
      }),
      ...present({ afterFlag: this.#story.wasted }),
      advice: adviceTexts.reduce(tallied, NO_ADVICE),
      adviceTexts,
      faults: this.#faults,
      faultTexts,
      failures: this.#failedCalls.failures,
      keys: this.#failedCalls.keys,
      instructions: this.#instructions.files,
    };
    return {
      ...facts,
      moments: momentsOf({
        facts,
        streak: this.#longestStreak,
        gaveUp: this.#gaveUp,
        callTimes: this.view.callTimes,
      }),
      diagnostics: this.#allDiagnostics(),
      strip: stripOf(failures),
      previews: this.#previewsOf(patterns),
      ...present({ problem }),
    };
  }

  story(): readonly StorySentence[] {
    return runStory(storyFactsOf(this.view, this.#story));
  }

  /**
   * A command that took longer than its limit, and a slow read or edit, waited for a permission. The limit of Gemini CLI is one of silence:
   * of a command that printed for longer, only so much counts.
   */
  #longestCallMs(payload: TrajectoryPayload, call: RunCall | undefined): number {
    if (payload.kind !== 'tool_ended' || call === undefined) return Infinity;
    if (payload.duration_ms !== undefined) return payload.duration_ms;
    if (this.program === 'gemini') {
      const isShort = GEMINI_FILE_TOOL.test(call.tool) || call.outcome === 'cancelled';
      return isShort ? FILE_LIMIT_MS : GEMINI_SILENCE_MS;
    }
    if (this.program !== 'claude-code') return Infinity;
    if (FILE_TOOL.test(call.tool)) return FILE_LIMIT_MS;
    if (call.tool !== 'Bash') return Infinity;
    const timeout = isJsonObject(call.args) ? call.args['timeout'] : undefined;
    return typeof timeout === 'number' && timeout > 0 ? timeout : COMMAND_LIMIT_MS;
  }

  #spent(): { readonly activeMs: number; readonly costUsd: number; readonly tokens: number } {
    const { costUsd = 0, tokens = 0 } = this.view.answersUsage;
    return { activeMs: this.#activeMs, costUsd, tokens };
  }

  #noteCall(call: RunCall, record: TrajectoryRecord): string | undefined {
    const { args, endSeq, number, startLost, tool } = call;
    const index = number - 1;
    const errorLine = errorLineOf(call, record);
    this.#story.fold(call, errorLine);
    if (this.#options.onlyLessons !== true) {
      if (endSeq === undefined || startLost) this.#previews.add(index, tool, args);
      this.#previews.end(index, present({ error: errorLine, outcome: call.outcome }));
      if (call.outcome === 'refused' && this.#refusedCalls.length < MAX_REFUSED && !asksPerson(tool))
        this.#refusedCalls.push({ number, call: callLabel(call), ...present({ why: errorLine }) });
    }
    if (endSeq !== undefined) this.#countStreak(call, record.recorded_at_unix_ms);
    return errorLine;
  }

  #countStreak({ failed, number, outcome }: RunCall, atMs: number): void {
    // A refused or cancelled call neither continues nor ends a streak of failures.
    if (outcome !== undefined) return;
    const { length } = this.#streak;
    this.#streak = failed
      ? { ...(length === 0 ? { call: number, atMs } : this.#streak), length: length + 1 }
      : { length: 0, call: number, atMs };
    if (this.#streak.length > this.#longestStreak.length) this.#longestStreak = this.#streak;
  }

  #addFault(text: string): void {
    this.#faults += 1;
    if (this.#faultTexts.length < MAX_FAULTS) this.#faultTexts.push(text.slice(0, 300));
  }

  #allDiagnostics(): readonly RunDiagnostic[] {
    const faults = this.view.detectorFaults.map(({ detector, callIndex, message }): RunDiagnostic => ({
      severity: 'error',
      message: `detector ${detector} failed at call ${callNumber(callIndex)} and was switched off: ${message}`,
    }));
    const leftOutCount = this.#diagnosticsLeftOut;
    const more: readonly RunDiagnostic[] =
      leftOutCount === 0 ? [] : [{ severity: 'note', message: `and ${leftOutCount} more` }];
    return [...this.#diagnostics, ...more, ...faults];
  }

  #previewsOf(patterns: readonly TrajectoryPattern[]): Readonly<Record<number, CallPreview>> {
    const previews: Record<number, CallPreview> = {};
    for (const index of patterns.flatMap(shownEvidence)) {
      this.#previews.keep([index]);
      const preview = this.#previews.kept(index);
      if (preview !== undefined) previews[index] = preview;
    }
    return previews;
  }
}

function ownerOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : /^(?:\/home|\/Users|[A-Za-z]:\\Users)[/\\]([^/\\]+)[/\\]/.exec(path)?.[1];
}

const GEMINI_FILE_TOOL = /^(?:replace|write_file|read_file|read_many_files|list_directory|glob|search_file_content)$/;
/** Gemini CLI ends a command that prints nothing for so long. */
const GEMINI_SILENCE_MS = 300_000;
const FILE_TOOL = /^(?:Read|Edit|MultiEdit|Write|NotebookEdit|Glob|Grep|LS)$/;
/** Of 6,004 such calls in recorded sessions half took 0.03 seconds, 95 % at most 5. */
const FILE_LIMIT_MS = 10_000;

const END_OF_TURN = /^(?:end_turn|stop|stop_sequence)$/;

function durationIn(data: Json): number | undefined {
  const duration = isJsonObject(data) ? data['duration_ms'] : undefined;
  return typeof duration === 'number' && duration >= 0 ? duration : undefined;
}

/** Returns true if the agent has no work after the record, false if it has, and undefined if the record does not say. */
function restsAfter(payload: TrajectoryPayload): boolean | undefined {
  switch (payload.kind) {
    case 'run_ended':
      return true;
    case 'evaluation':
      return payload.point === 'pre_response' ? true : undefined;
    case 'session_event':
      return payload.event_type === TURN_WORKED ? true : undefined;
    case 'message_appended': {
      const { message } = payload;
      const text = message.role === 'user' ? textOfContent(message.content).trimStart() : '';
      if (message.role === 'user') return HOST_NOTE.test(text);
      return message.role === 'assistant' ? END_OF_TURN.test(message.stop_reason ?? '') : undefined;
    }
    case 'turn_started':
    case 'tool_started':
    case 'tool_ended':
      return false;
    default:
      return undefined;
  }
}

function isOfUser(payload: TrajectoryPayload): boolean {
  if (payload.kind === 'tool_ended') return asksPerson(payload.tool_name);
  if (payload.kind !== 'message_appended') return false;
  const { message } = payload;
  return message.role === 'user' || (message.role === 'system' && ALLOWED.test(textOfContent(message.content)));
}

/** What Codex notes when a person allowed a command for good. */
const ALLOWED = /^Approved command prefix saved\b/;
