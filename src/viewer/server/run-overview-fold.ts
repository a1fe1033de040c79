import { adviceOf } from '../../core/records/derived-payload.ts';
import { callNumber } from '../../core/base/number-text.ts';
import { hashText } from '../../core/base/hash.ts';
import { present } from '../../core/base/json.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { FeedbackProduced, GuidanceProduced, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { AdviceOutcome } from '../../core/facts/advice-outcome.ts';
import { followedText } from '../../core/facts/followed-text.ts';
import { takesLong } from '../../core/facts/run-alert.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { lastSeenCheck, type LastCheck, type RunVerdict } from '../../core/facts/run-verdict.ts';
import { checksWith, type SubagentWork, verdictWith } from '../../core/facts/subagent-work.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { StoryFold } from '../../core/facts/run-story.ts';
import { taskTitle } from '../../core/facts/task-title.ts';
import { isFlagged, isStuckNow, saysStuck, type SeenPattern } from '../../core/facts/seen-pattern.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import type { AdviceMark, ChangedFile, EvidenceCall, Overview, PatternSpan, RunExtras } from './api-shapes.ts';
import { RunRows } from './run-rows.ts';
import { StripFold, type KnownTimeline } from './strip-fold.ts';

/** Shared by all folds: detectors are stateless. */
const DETECTORS = defaultDetectors();
const MAX_PATTERNS = 500;
const MAX_KINDS = 8;
const MAX_ADVICE = 1_000;
const TEXT_CHARS = 2_000;
const WHY_CHARS = 500;
const TASK_CHARS = 200;
const WORDS_CHARS = 160;
const MAX_NAMES = 3;
const NAME_CHARS = 120;

type AdviceContent = Pick<AdviceMark, 'severity' | 'text' | 'why' | 'point' | 'channel' | 'evidence'>;

/** The extras of a run by itself. */
export interface OwnExtras extends RunExtras {
  /** By what it is judged together with its subagents, or they with it. */
  readonly work?: Pick<RunFacts, 'checks' | 'lastAct' | 'lastChange' | 'verdict'>;
}

/** The extras of a run judged together with its subagents, as in the report. */
export function extrasWith(own: OwnExtras, below: readonly SubagentWork[]): RunExtras {
  const { work, ...alone } = own;
  if (work === undefined) return own;
  const verdict = verdictWith(work, below);
  if (verdict === work.verdict) return alone;
  const { cause: _cause, isRefused: _isRefused, ...rest } = alone;
  return { ...rest, ...shownVerdict(verdict), ...present({ check: shownCheck(checksWith(work.checks, below)) }) };
}

function shownVerdict({ answer: _answer, why: _why, ...ending }: RunVerdict): Omit<RunVerdict, 'answer' | 'why'> {
  return ending;
}

/** Memory: at most about half a megabyte, and that of its `RunRows`. */
export class RunOverviewFold implements KnownTimeline {
  readonly #view = new RunView({ detectors: DETECTORS, advice: { maxPieces: MAX_ADVICE } });
  readonly #adviceContents = new Map<string, AdviceContent>();
  readonly #strip = new StripFold();
  readonly #story = new StoryFold(this.#view);
  readonly rows: RunRows = new RunRows();
  #nextSeq = 0;
  #point: AdviceMark['point'];
  readonly #files = new Map<string, ChangedFile>();

  /** The `seq` after the last processed record. A gap counts as processed. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get counts(): RunSummary {
    return this.#view.counts;
  }

  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    this.#nextSeq = lastSeqOf(record) + 1;
    const call = this.#view.fold(record);
    const costUsd = this.#strip.fold(record, { call, usage: () => this.#view.usage });
    const failure = this.#story.fold(call, call?.endSeq === undefined ? undefined : errorLineOf(call, record));
    this.rows.fold(record, { call, failure, costUsd });
    this.#noteFiles(call);
    if (payload.kind === 'evaluation') this.#point = payload.point;
    else if (payload.kind === 'feedback_produced' || payload.kind === 'guidance_produced') this.#noteAdvice(payload);
    else if (payload.kind === 'feedback_delivered') this.#noteDelivery(payload.advice_id, payload.channel);
    else if (payload.kind === 'guidance_delivered') this.#noteDelivery(payload.advice_id, payload.guidance.channel);
  }

  /** The title of a task that the summary cuts before its title, or of the first request in its place. */
  get #fullTitle(): string | undefined {
    const title = taskTitle(this.#view.task ?? '');
    const begin = taskTitle(this.counts.task ?? '') ?? '';
    return begin !== '' && title?.startsWith(begin) === true ? undefined : title;
  }

  extras(): OwnExtras {
    const {
      advice,
      adviceLeftOut,
      checks,
      counts: { parentRunId },
      flaggedPatterns: patterns,
      lastAct,
      pressure,
      runningCall,
      usage,
      verdict,
    } = this.#view;
    const { answer } = verdict;
    const judged = this.#view.workAt(verdict);
    const isJudged = judged.lastAct !== undefined || parentRunId !== undefined;
    const kinds = [...new Set(patterns.map(({ kind }) => kind))].slice(0, MAX_KINDS);
    const { errorLine, wasted } = this.#story;
    const { work } = this.#view.work;
    const deliveredAdvice = advice.filter(({ delivery }) => delivery === 'delivered');
    return {
      patterns: kinds,
      patternCalls: kinds.map((kind) => this.#firstCallOf(patterns.filter((pattern) => pattern.kind === kind))),
      ...present({ wasted, errorLine }),
      ...shownVerdict(verdict),
      ...(isJudged ? { work: { ...judged, verdict } } : {}),
      ...(verdict.verdict === 'open' || verdict.verdict === 'waiting'
        ? { lastAct: runningCall && takesLong(runningCall) ? { ...lastAct, isLong: true } : lastAct }
        : {}),
      ...(verdict.verdict === 'open' && pressure.length > 0
        ? { pressure: pressure.map(({ text }) => text).join('; ') }
        : {}),
      ...present({
        lastWords: this.#strip.lastAnswer?.text.trim().slice(0, WORDS_CHARS).replaceAll(/\s+/g, ' ').toWellFormed(),
      }),
      ...present({ changed: changedIn(work.filesChanged), check: shownCheck(checks) }),
      ...present({ longTask: longTaskOf(this.#view.started?.task), name: work.name ?? this.#fullTitle }),
      stuck: saysStuck(patterns),
      ...(patterns.some(isStuckNow) ? { stuckNow: true } : {}),
      ...((answer === 'shown' && work.question !== undefined) || (answer && lastAct.unanswered) ? { asks: true } : {}),
      adviceCount: advice.length + adviceLeftOut,
      adviceUnsaid: advice.length - deliveredAdvice.length,
      ...usage,
    };
  }

  #noteFiles(call: RunCall | undefined): void {
    if (call?.endSeq === undefined) return;
    const place = this.#placeOf(call.number - 1);
    const check = lastSeenCheck(this.#view.checks);
    if (check?.number === call.number && check.failed) {
      for (const [path, file] of this.#files)
        if (file.firstFailure === undefined) this.#files.set(path, { ...file, firstFailure: place });
    }
    const { files } = this.#view.work;
    if (files.size === this.#files.size) return;
    for (const path of files) if (!this.#files.has(path)) this.#files.set(path, { path, firstEdit: place });
  }

  #firstCallOf(patterns: readonly TrajectoryPattern[]): number {
    return Math.min(...patterns.map(({ firstSeen, flaggedAt }) => callNumber(flaggedAt ?? firstSeen)));
  }

  overview(lastSeq: number): Overview {
    const { advice, adviceLeftOut, patterns: patternList } = this.#view;
    const patterns = patternList.patterns.filter(({ pattern }) => isFlagged(pattern));
    return {
      nextSeq: this.#nextSeq,
      complete: this.#nextSeq > lastSeq,
      checkedSeq: this.#nextSeq,
      ...this.#strip.parts(),
      files: [...this.#files.values()],
      ...present({ lastCheck: this.#lastCheck() }),
      patternBasis: patternList.basis,
      patterns: patterns.slice(0, MAX_PATTERNS).map((seen) => this.#spanOf(seen)),
      ...present({ wasted: this.#story.wasted }),
      patternsLeftOut: patternList.leftOut + Math.max(0, patterns.length - MAX_PATTERNS),
      advice: advice.map((outcome) => this.#markOf(outcome)),
      adviceLeftOut,
    };
  }

  #lastCheck(): Overview['lastCheck'] {
    const check = this.#view.checks.at(-1);
    return check && { ...checkOf(check), ...this.#placeOf(check.number - 1) };
  }

  #spanOf({ clearedSeq, flaggedSeq, pattern }: SeenPattern): PatternSpan {
    const { clearedAt, evidence, firstSeen, flaggedAt, identity, kind, level, occurrences, stuck, tool } = pattern;
    const placeOrNull = (index: number | null): EvidenceCall | null => (index === null ? null : this.#placeOf(index));
    const [first, flagged, cleared] = [
      this.#placeOf(firstSeen),
      placeOrNull(flaggedAt),
      placeOrNull(clearedAt ?? null),
    ];
    return {
      kind,
      identity,
      level,
      stuck,
      ...present({ tool }),
      occurrences,
      fromCall: first.call,
      toCall: cleared?.call ?? null,
      flaggedCall: flagged?.call ?? null,
      fromSeq: first.seq,
      toSeq: clearedSeq ?? cleared?.seq ?? null,
      flaggedSeq: flaggedSeq ?? flagged?.seq ?? null,
      evidence: evidence.map((index) => this.#placeOf(index)),
    };
  }

  #markOf(outcome: AdviceOutcome): AdviceMark {
    const { adviceId, callsBefore, callsToClear, delivery, nextCall, response: acknowledged } = outcome;
    const { pattern, providerName, reason, seq, speaker } = outcome;
    const content = this.#adviceContents.get(adviceId) ?? { text: '', evidence: [] };
    return {
      seq,
      adviceId,
      provider: providerName,
      speaker,
      ...content,
      delivered: delivery === 'unsettled' ? null : delivery === 'delivered',
      delivery,
      ...present({ reason }),
      callsBefore,
      ...(pattern === undefined ? {} : { pattern: { identity: pattern.identity, level: pattern.level } }),
      ...present({ acknowledged }),
      nextCall,
      isLeft: callsToClear !== undefined,
      around: this.rows.around(callsBefore),
      fate: followedText(outcome),
    };
  }

  #placeOf(index: number): EvidenceCall {
    const call = callNumber(index);
    return { call, seq: this.rows.seqOf(call) };
  }

  #noteAdvice(payload: FeedbackProduced | GuidanceProduced): void {
    if (this.#adviceContents.size >= MAX_ADVICE || this.#adviceContents.has(payload.advice_id)) return;
    const { pattern, point: ownPoint, severity, speaker, text } = adviceOf(payload);
    const why =
      payload.kind === 'feedback_produced'
        ? payload.feedback.observations.map(({ description }) => description).join('; ')
        : payload.classification.reason;
    const point = speaker === 'feedback' ? this.#point : ownPoint;
    this.#adviceContents.set(payload.advice_id, {
      text: text.slice(0, TEXT_CHARS).toWellFormed(),
      ...(why === undefined || why === '' ? {} : { why: why.slice(0, WHY_CHARS).toWellFormed() }),
      ...present({ severity, point }),
      evidence:
        pattern === undefined
          ? []
          : (this.#view.recordedPattern(pattern.identity)?.evidence ?? []).map((index) => this.#placeOf(index)),
    });
  }

  #noteDelivery(adviceId: string, channel: string | undefined): void {
    const content = this.#adviceContents.get(adviceId);
    if (content !== undefined && channel !== undefined) this.#adviceContents.set(adviceId, { ...content, channel });
  }
}

function shownCheck(checks: readonly LastCheck[]): RunExtras['check'] {
  const check = checks.findLast(({ failed }) => failed) ?? checks.at(-1);
  return check && checkOf(check);
}

function checkOf({ command, failed }: LastCheck): NonNullable<RunExtras['check']> {
  return { command: command.slice(0, NAME_CHARS).toWellFormed(), failed };
}

/** The summary of a run has the first 200 characters of its task. Tasks of a benchmark may differ only later. */
function changedIn(names: readonly string[]): RunExtras['changed'] {
  if (names.length === 0) return undefined;
  return {
    count: names.length,
    names: names.slice(0, MAX_NAMES).map((name) => name.slice(-NAME_CHARS).toWellFormed()),
  };
}

function longTaskOf(task: string | undefined): RunExtras['longTask'] {
  if (task === undefined || task.length <= TASK_CHARS) return undefined;
  const rest = task.slice(TASK_CHARS, 2 * TASK_CHARS).toWellFormed();
  return { key: hashText(task).slice(0, 12), rest };
}
