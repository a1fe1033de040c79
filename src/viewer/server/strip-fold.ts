import { present } from '../../core/base/json.ts';
import { OpenCalls } from '../../core/base/open-calls.ts';
import type { RunCall } from '../../core/facts/run-call.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { slashCommand, taskTitle, withoutWrappers } from '../../core/facts/task-title.ts';
import { UsageFold, type RunUsage } from '../../core/facts/usage-fold.ts';
import { allTokens } from '../../core/facts/usage-text.ts';
import { textOfContent, type StoredMessage } from '../../core/records/agent-message.ts';
import { outcomeOf, type TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { LastAnswer, Overview, Prompt } from './api-shapes.ts';
import { RunRows } from './run-rows.ts';

const MAX_BUCKETS = 2_000;

const COUNTERS = ['calls', 'errors', 'tokens', 'costUsd'] as const;
type Counter = (typeof COUNTERS)[number];

interface Bucket extends Record<Counter, number> {
  atMs: number;
  firstCall: number;
}

type BucketLists = Pick<Overview, 'seqsPerBucket' | 'buckets' | 'atMs' | 'firstCall' | Counter>;

/** Each bucket covers one record at first. The size doubles as needed to stay within 2,000 buckets. */
export class Buckets {
  #buckets: Bucket[] = [];
  #seqsPerBucket = 1;

  addRecord(seq: number, atMs: number, calls: number): void {
    const bucket = this.#bucketAt(seq, calls);
    if (bucket.atMs === 0 && atMs > 0) bucket.atMs = atMs;
  }

  count(seq: number, counter: Counter, by = 1): void {
    this.#bucketAt(seq, 0)[counter] += by;
  }

  lists(): BucketLists {
    const buckets = this.#buckets;
    const valuesOf = (name: Counter | 'atMs' | 'firstCall'): readonly number[] => buckets.map((bucket) => bucket[name]);
    return {
      seqsPerBucket: this.#seqsPerBucket,
      buckets: buckets.length,
      atMs: valuesOf('atMs'),
      calls: valuesOf('calls'),
      errors: valuesOf('errors'),
      tokens: valuesOf('tokens'),
      costUsd: valuesOf('costUsd').map((costUsd) => Math.round(costUsd * 1e6) / 1e6),
      firstCall: valuesOf('firstCall'),
    };
  }

  #bucketAt(seq: number, calls: number): Bucket {
    while (Math.floor(seq / this.#seqsPerBucket) >= MAX_BUCKETS) this.#merge();
    const index = Math.floor(seq / this.#seqsPerBucket);
    // A gap in `seq` leaves empty buckets.
    while (this.#buckets.length <= index)
      this.#buckets.push({ atMs: 0, calls: 0, errors: 0, tokens: 0, costUsd: 0, firstCall: calls });
    // The loop above created it.
    return this.#buckets[index] as Bucket;
  }

  #merge(): void {
    const mergedBuckets: Bucket[] = [];
    for (const [index, bucket] of this.#buckets.entries()) {
      const target = mergedBuckets[Math.floor(index / 2)];
      if (target === undefined) {
        mergedBuckets.push(bucket);
        continue;
      }
      if (target.atMs === 0) target.atMs = bucket.atMs;
      for (const counter of COUNTERS) target[counter] += bucket[counter];
    }
    this.#buckets = mergedBuckets;
    this.#seqsPerBucket *= 2;
  }
}

const MAX_PROMPTS = 500;
const PROMPT_CHARS = 120;
const ANSWER_CHARS = 20_000;

interface StripFacts {
  /** The call that the record started or ended. */
  readonly call: RunCall | undefined;
  readonly usage: () => RunUsage;
}

/** The strip of a run: its calls, failures, tokens and cost over the records, its prompts and its last answer. */
export class StripFold {
  readonly #buckets = new Buckets();
  readonly #prompts: Prompt[] = [];
  #lastAnswer: LastAnswer | undefined;
  #countedUsage: RunUsage = {};
  #calls = 0;

  get lastAnswer(): LastAnswer | undefined {
    return this.#lastAnswer;
  }

  parts(): BucketLists & Pick<Overview, 'prompts' | 'lastAnswer'> {
    return { ...this.#buckets.lists(), prompts: this.#prompts, ...present({ lastAnswer: this.#lastAnswer }) };
  }

  /** @returns the cost of the record's response in US dollars; 0 if unknown */
  fold({ payload, recorded_at_unix_ms: atMs, seq }: TrajectoryRecord, { call, usage }: StripFacts): number {
    this.#buckets.addRecord(seq, atMs, this.#calls);
    if (call !== undefined) this.#countCall(call);
    if (payload.kind === 'message_appended') this.#noteMessage(payload.message, seq);
    const isPaid = payload.kind === 'message_appended' && 'usage' in payload.message;
    if (!isPaid && payload.kind !== 'run_ended') return 0;
    const costUsd = this.#countUsage(seq, usage());
    return isPaid ? costUsd : 0;
  }

  #countUsage(seq: number, now: RunUsage): number {
    const before = this.#countedUsage;
    this.#countedUsage = now;
    const costUsd = (now.costUsd ?? 0) - (before.costUsd ?? 0);
    this.#buckets.count(seq, 'tokens', (allTokens(now) ?? 0) - (allTokens(before) ?? 0));
    this.#buckets.count(seq, 'costUsd', costUsd);
    return costUsd;
  }

  /** Counts a call in the bucket of its start. Its failure is counted when the result is known. */
  #countCall({ failed, number, seq }: RunCall): void {
    if (number > this.#calls) this.#buckets.count(seq, 'calls');
    this.#calls = Math.max(this.#calls, number);
    if (failed) this.#buckets.count(seq, 'errors');
  }

  #noteMessage({ content, role }: StoredMessage, seq: number): void {
    if (role !== 'user' && role !== 'assistant') return;
    const text = textOfContent(content).trim();
    if (text === '') return;
    if (role === 'assistant') this.#lastAnswer = { seq, text: text.slice(0, ANSWER_CHARS).toWellFormed() };
    else this.#notePrompt(text, seq);
  }

  /** Keeps what the user said: neither the output of a local command nor a reminder of the program. */
  #notePrompt(text: string, seq: number): void {
    if (this.#prompts.length >= MAX_PROMPTS || taskTitle(text) === undefined) return;
    const command = slashCommand(text);
    const said = command === undefined ? withoutWrappers(text) : `${command.name} ${command.args}`.trim();
    this.#prompts.push({ seq, text: said.slice(0, PROMPT_CHARS).toWellFormed() });
  }
}

export interface KnownTimeline {
  readonly nextSeq: number;
  readonly rows: RunRows;
  overview(lastSeq: number): Overview;
}

/** Shown before patterns, advice and checks are found, which takes most of the time. Cost: a microsecond per record. */
export class FirstLook implements KnownTimeline {
  readonly rows: RunRows = new RunRows({ isFirstLook: true });
  readonly #whole: { readonly nextSeq: number };
  readonly #run: Pick<RunSummary, 'format' | 'modelId'>;
  readonly #strip = new StripFold();
  readonly #openCalls = new OpenCalls<RunCall>();
  readonly #usage = new UsageFold();
  #calls = 0;
  #nextSeq = 0;

  /** @param whole  the fold that looks for the rest, whose progress is told */
  constructor(whole: { readonly nextSeq: number }, run: Pick<RunSummary, 'format' | 'modelId'>) {
    this.#whole = whole;
    this.#run = run;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  fold(record: TrajectoryRecord): void {
    this.#nextSeq = lastSeqOf(record) + 1;
    const { format, modelId } = this.#run;
    this.#usage.fold(record.payload, { format, modelId });
    const call = this.#callOf(record);
    const costUsd = this.#strip.fold(record, { call, usage: () => this.#usage.usage });
    this.rows.fold(record, { call, failure: undefined, costUsd });
  }

  overview(_lastSeq: number): Overview {
    return {
      nextSeq: this.#nextSeq,
      complete: false,
      checkedSeq: this.#whole.nextSeq,
      ...this.#strip.parts(),
      usage: this.#usage.usage,
      files: [],
      patternBasis: 'recorded',
      patterns: [],
      patternsLeftOut: 0,
      advice: [],
      adviceLeftOut: 0,
    };
  }

  #callOf({ payload, seq }: TrajectoryRecord): RunCall | undefined {
    if (payload.kind !== 'tool_started' && payload.kind !== 'tool_ended') return undefined;
    const { tool_call_id: id, tool_name: tool } = payload;
    const isStart = payload.kind === 'tool_started';
    const open = isStart ? undefined : this.#openCalls.end(id);
    if (open === undefined) this.#calls += 1;
    const begun = {
      number: this.#calls,
      id,
      tool,
      args: null,
      seq,
      startLost: false,
      failed: false,
      resultMissing: false,
    };
    if (isStart) {
      this.#openCalls.begin(id, begun);
      return begun;
    }
    const failed = outcomeOf(payload) === 'failed';
    return {
      ...(open === undefined || open === 'forgotten' ? begun : open),
      endSeq: seq,
      startLost: open === undefined,
      failed,
    };
  }
}
