import { countOf, countText, periodText, usdText } from '../base/number-text.ts';
import { answerCost } from '../records/answer-cost.ts';
import { MODEL_PRICES } from '../records/model-prices.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { contextAfter, type ContextSize } from './context-tokens.ts';

/** What a session and its subagents did lately. */
export interface RecentWork {
  readonly atMs: number;
  readonly costUsd: number;
  /** 1 for the start of a subagent. */
  readonly children: number;
}

/** The bounds of `pressureOf`. */
const PRESSURE = {
  /** Of 97 recorded sessions, 2 filled three quarters of the window: Claude Code compacts at about 78 %. */
  contextShare: 0.75,
  spanMs: 600_000,
  /** The most in the 97 recorded sessions was $6.14 in ten minutes. */
  costUsd: 15,
  /** The recorded sessions started none in a file of their own. */
  children: 20,
} as const;

const MINUTE_MS = 60_000;

/** Returns the work of the last ten minutes, at most one entry a minute. */
export function withWork(before: readonly RecentWork[], work: RecentWork): readonly RecentWork[] {
  const last = before.at(-1);
  if (last === undefined || Math.floor(last.atMs / MINUTE_MS) !== Math.floor(work.atMs / MINUTE_MS))
    return [...recentOf(before, work.atMs), work];
  const { atMs, children, costUsd } = last;
  return [...before.slice(0, -1), { atMs, costUsd: costUsd + work.costUsd, children: children + work.children }];
}

function recentOf(work: readonly RecentWork[], nowMs: number): readonly RecentWork[] {
  return work.filter(({ atMs }) => nowMs - atMs < PRESSURE.spanMs);
}

/** What presses a run: a context that is nearly full, or work faster than sessions do. */
export interface RunPressure {
  readonly kind: 'context' | 'runaway';
  /** Continues "The run …". */
  readonly text: string;
}

/** Says that the context of a run is nearly full, or that it spends or starts subagents faster than sessions do. */
export function pressureOf(
  context: ContextSize | undefined,
  work: readonly RecentWork[],
  nowMs: number,
): readonly RunPressure[] {
  const found: RunPressure[] = [];
  const { share = 0, tokens = 0, window = 0 } = context ?? {};
  if (share >= PRESSURE.contextShare) {
    const sizes = `${countText(tokens)} of ${countText(window)} tokens`;
    found.push({ kind: 'context', text: `has filled ${Math.round(share * 100)} % of its model's context: ${sizes}` });
  }
  const recent = recentOf(work, nowMs);
  const costUsd = recent.reduce((sum, one) => sum + one.costUsd, 0);
  const children = recent.reduce((sum, one) => sum + one.children, 0);
  const facts = [
    ...(costUsd >= PRESSURE.costUsd ? [`spent ${usdText(costUsd)}`] : []),
    ...(children >= PRESSURE.children ? [`started ${countOf(children, 'subagent')}`] : []),
  ];
  if (facts.length > 0)
    found.push({ kind: 'runaway', text: `has ${facts.join(' and ')} in ${periodText(PRESSURE.spanMs)}` });
  return found;
}

/** What the records of one run say about its pressure, for a reader that needs no more of the run. */
export class PressureFold {
  #context: ContextSize | undefined;
  #recent: readonly RecentWork[] = [];
  #modelId: string | undefined;
  #told: readonly string[] = [];

  /** Returns what was not returned before. A context that is nearly full is news again after a compaction. */
  take({ payload, recorded_at_unix_ms: atMs }: TrajectoryRecord): readonly RunPressure[] {
    if (payload.kind === 'run_started') this.#modelId = payload.identity.model_id;
    if (payload.kind === 'run_identified') this.#modelId = payload.model_id ?? this.#modelId;
    if (payload.kind === 'compaction') this.#told = this.#told.filter((kind) => kind !== 'context');
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return [];
    this.#context = contextAfter(this.#context, payload, this.#modelId);
    const { model_id: modelId = this.#modelId, usage } = payload.message;
    return this.#add({ atMs, costUsd: (usage && answerCost(usage, modelId, MODEL_PRICES)) ?? 0, children: 0 });
  }

  child(atMs: number): readonly RunPressure[] {
    return this.#add({ atMs, costUsd: 0, children: 1 });
  }

  #add(work: RecentWork): readonly RunPressure[] {
    if (work.atMs > 0 && (work.costUsd > 0 || work.children > 0)) this.#recent = withWork(this.#recent, work);
    const news = pressureOf(this.#context, this.#recent, work.atMs).filter(({ kind }) => !this.#told.includes(kind));
    this.#told = [...this.#told, ...news.map(({ kind }) => kind)];
    return news;
  }
}
