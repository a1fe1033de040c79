import { present } from '../base/json.ts';
import { answerCost, countsCacheBeside, type ModelPrices } from '../records/answer-cost.ts';
import { MODEL_PRICES } from '../records/model-prices.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

/** Usage of the model's responses. Unknown fields are absent. */
export interface RunUsage {
  readonly tokens?: number;
  /** Tokens read from or written to the model's cache. */
  readonly cacheTokens?: number;
  /** The part of `cacheTokens` within `tokens`, as OpenAI counts and Anthropic does not. Absent if 0. */
  readonly cacheTokensWithin?: number;
  /** The part of `cacheTokens` that was written. Absent if it is 0. */
  readonly cacheWriteTokens?: number;
  /** The cost reported by the host, else computed from prices. Only responses with a known cost are included. */
  readonly costUsd?: number;
  /** Number of responses that have tokens but an unknown cost; absent if it is 0. */
  readonly answersWithoutCost?: number;
  /**
   * Number of responses whose tokens the source counted before their end or in part, so that tokens and cost are too low: Claude
   * Code until 2.1.52 writes them so, without a stop reason; Codex writes none if it ends within an answer, as do SDKs whose streams are not asked for it; Copilot CLI writes the input
   * at its end only. Absent if it is 0.
   */
  readonly answersCountedEarly?: number;
}

export const CACHE_TOKENS = ['cacheTokens', 'cacheTokensWithin', 'cacheWriteTokens'] as const;

/** Tools that start a subagent. */
export const DELEGATES: RegExp = /^(?:task|agent|spawn_agent)$/i;

/** The prices of a host and of the table may differ a little. */
const MOST_OF_TOTAL = 1.05;

/** Adds the usage of a run's responses. Cost: O(1) per record. */
export class UsageFold {
  readonly #prices: ModelPrices;
  #tokens: number | undefined;
  #cacheTokens: number | undefined;
  #cacheTokensWithin = 0;
  #cacheWriteTokens = 0;
  #costUsd: number | undefined;
  /** The totals that the host reports for the session. */
  #sessionCostUsd: number | undefined;
  #sessionTokens: number | undefined;
  #answersWithoutCost = 0;
  #answersCountedEarly = 0;
  #hasInput = false;
  #answersWithoutInput = 0;
  #isOfClaude = false;
  #delegates = false;

  constructor(prices?: ModelPrices) {
    this.#prices = prices === undefined ? MODEL_PRICES : { ...MODEL_PRICES, ...prices };
  }

  /** The sum of the known costs of responses. */
  get costUsd(): number | undefined {
    return this.#costUsd;
  }

  /** With the totals that the host reports for the session. */
  get usage(): RunUsage {
    const countedEarly = this.#answersCountedEarly + (this.#hasInput ? 0 : this.#answersWithoutInput);
    const { answersWithoutCost, ...answers } = this.answers;
    const total = this.#ignoresTotal ? undefined : this.#sessionCostUsd;
    const known = total !== undefined;
    return {
      ...answers,
      ...present({
        tokens: (this.#ignoresTotal ? undefined : this.#sessionTokens) ?? this.#tokens,
        costUsd: total ?? this.#costUsd,
        answersWithoutCost: known ? undefined : answersWithoutCost,
      }),
      ...(countedEarly === 0 || this.#tokens === undefined || known ? {} : { answersCountedEarly: countedEarly }),
    };
  }

  /**
   * True if the total that the host reports is not that of the session. Claude Code adds up the costs of its process by list prices. After a process that was killed, its total is that of the last one; with
   * subagents, which are runs of their own, it is also theirs.
   */
  get #ignoresTotal(): boolean {
    if (!this.#isOfClaude) return false;
    if (this.#delegates && this.#costUsd !== undefined && this.#answersWithoutCost === 0) return true;
    return (this.#costUsd ?? 0) > MOST_OF_TOTAL * (this.#sessionCostUsd ?? Infinity);
  }

  /** The sums of the responses so far. Only differences of these belong to a part of a run. */
  get answers(): Omit<RunUsage, 'answersCountedEarly'> {
    return present({
      tokens: this.#tokens,
      cacheTokens: this.#cacheTokens,
      costUsd: this.#costUsd,
      answersWithoutCost: this.#answersWithoutCost || undefined,
      cacheTokensWithin: this.#cacheTokensWithin || undefined,
      cacheWriteTokens: this.#cacheWriteTokens || undefined,
    });
  }

  /** Returns the cost of the response, if known. `run`: the model, the format and the host so far. */
  fold(
    payload: TrajectoryPayload,
    run: {
      readonly modelId?: string | undefined;
      readonly format?: string | undefined;
      readonly host?: string | undefined;
    },
  ): number | undefined {
    this.#isOfClaude = (run.format ?? run.host) === 'claude-code';
    if (payload.kind === 'tool_started' && DELEGATES.test(payload.tool_name)) this.#delegates = true;
    if (payload.kind === 'run_ended') {
      this.#sessionCostUsd = payload.usage?.cost_usd ?? this.#sessionCostUsd;
      this.#sessionTokens = payload.usage?.tokens ?? this.#sessionTokens;
    }
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return undefined;
    const { model_id: modelId = run.modelId, usage } = payload.message;
    if (usage === undefined) {
      // A stream of an SDK need not report its usage. A request that failed has none.
      const isOfProgram = run.format === undefined && run.host === undefined && payload.message.stop_reason !== 'error';
      if (run.format === 'codex' || isOfProgram) this.#answersCountedEarly += 1;
      return undefined;
    }
    const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
    const { cache_read_tokens: readTokens, cache_write_tokens: writtenTokens } = usage;
    // Zeros stand for counts that the source does not have: every request has input.
    const counts = [inputTokens, outputTokens, readTokens, writtenTokens];
    if (usage.cost_usd === undefined && counts.every((count = 0) => count === 0)) {
      if (run.format === 'gemini') this.#answersCountedEarly += 1;
      return undefined;
    }
    if (inputTokens !== undefined) this.#hasInput = true;
    else if (outputTokens !== undefined) this.#answersWithoutInput += 1;
    if (readTokens !== undefined || writtenTokens !== undefined) {
      const cachedTokens = (readTokens ?? 0) + (writtenTokens ?? 0);
      this.#cacheTokens = (this.#cacheTokens ?? 0) + cachedTokens;
      this.#cacheWriteTokens += writtenTokens ?? 0;
      // Claude Code writes the counts of every provider as Anthropic does.
      const isBeside = this.#isOfClaude || countsCacheBeside(usage, modelId, this.#prices);
      if (!isBeside) this.#cacheTokensWithin += cachedTokens;
    }
    const isEarly = outputTokens !== undefined && payload.message.stop_reason === undefined;
    if (isEarly && run.format === 'claude-code') this.#answersCountedEarly += 1;
    const costUsd = answerCost(usage, modelId, this.#prices);
    if (inputTokens !== undefined || outputTokens !== undefined) {
      this.#tokens = (this.#tokens ?? 0) + (inputTokens ?? 0) + (outputTokens ?? 0);
      if (costUsd === undefined) this.#answersWithoutCost += 1;
    }
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    return costUsd;
  }
}
