import { callNumber } from '../../base/call-number.ts';
import { present } from '../../base/present.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { buildReport } from '../../backtest/build-report.ts';
import { pairFirings } from '../../backtest/compare-firings.ts';
import type { Configuration } from '../../backtest/configuration.ts';
import { DEFAULT_WORTHWHILE } from '../../backtest/effect.ts';
import { EffectRowFold, type EffectRow } from '../../backtest/effect-row.ts';
import type { JoinedRow } from '../../backtest/join-shards.ts';
import { measureEffect } from '../../backtest/measure-effect.ts';
import { RunReplay, type OnAdvice } from '../../backtest/run-replay.ts';
import { FiringKeys } from '../../backtest/run-row.ts';
import { truthOfOutcomes } from '../../backtest/truth.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { ListedSource } from './listed-source.ts';
import { undamagedRecords } from './read-records.ts';
import type { RunReader } from './run-reader.ts';
import type { AdviceChange, TrialAnswer, TrialProgress, TriedAdvice, TriedRunAnswer } from './trial-shapes.ts';

const MAX_ADVICE = 1_000;
const TEXT_CHARS = 2_000;
const PROGRESS_MS = 150;

/** The baseline configuration, and the configuration to try. */
export type TrialPair = readonly [against: Configuration, under: Configuration];

type FiredAdvice = Pick<TriedAdvice, 'provider' | 'speaker' | 'text' | 'seq'> & { readonly index: number };

/**
 * Replays one run under two configurations, and pairs their advice.
 *
 * @throws CoxswainError if the store cannot be read
 */
export async function tryRun(
  reader: RunReader,
  run: RunSummary,
  pair: TrialPair,
  signal: AbortSignal,
): Promise<TriedRunAnswer> {
  const firedAdvice: readonly [FiredAdvice[], FiredAdvice[]] = [[], []];
  const onAdvice: OnAdvice = ({ call: index, configuration, seq }, payload) => {
    const isFeedback = payload.kind === 'feedback_produced';
    const text = isFeedback ? payload.text : payload.injection.content;
    const speaker = isFeedback ? 'feedback' : 'guidance';
    const shownText = text.slice(0, TEXT_CHARS).toWellFormed();
    firedAdvice[configuration]?.push({ provider: payload.provider_name, speaker, text: shownText, seq, index });
  };
  const replay = new RunReplay(run.runId, pair, new FiringKeys(), onAdvice);
  for await (const record of undamagedRecords(reader, run)) {
    replay.fold(record);
    if (signal.aborted) break;
  }
  const advice = compareAdvice(firedAdvice[0], firedAdvice[1]);
  const counts: Record<AdviceChange, number> = { same: 0, earlier: 0, later: 0, new: 0, gone: 0 };
  for (const { change } of advice) counts[change] += 1;
  return { advice: advice.slice(0, MAX_ADVICE), counts, unanswered: replay.row().unanswered };
}

function compareAdvice(
  baselineAdvice: readonly FiredAdvice[],
  triedAdvice: readonly FiredAdvice[],
): readonly TriedAdvice[] {
  const advice: TriedAdvice[] = [];
  const add = (change: AdviceChange, { index, ...fired }: FiredAdvice, previous?: FiredAdvice): void => {
    const call = callNumber(index);
    advice.push({
      ...fired,
      change,
      call,
      ...(previous === undefined ? {} : { wasCall: callNumber(previous.index) }),
    });
  };
  for (const provider of new Set([...baselineAdvice, ...triedAdvice].map((one) => one.provider))) {
    const [left, right] = [baselineAdvice, triedAdvice].map((list) => list.filter((one) => one.provider === provider));
    const paired = pairFirings(left ?? [], right ?? [], ({ index }) => index);
    for (const [, now] of paired.same) add('same', now);
    for (const [was, now] of paired.moved) add(now.index < was.index ? 'earlier' : 'later', now, was);
    for (const now of paired.added) add('new', now);
    for (const was of paired.removed) add('gone', was);
  }
  return advice.sort((a, b) => a.call - b.call);
}

/**
 * Replays runs under each configuration, one run after another, and lets other requests run in between. Two configurations that are not a
 * sweep are compared.
 *
 * @param onProgress  called a few times per second and awaited
 * @returns undefined if the signal was aborted
 * @throws CoxswainError if a store cannot be read
 * Memory: a row of about 500 bytes per run.
 */
export async function runTrial(
  runs: readonly { readonly listed: ListedSource; readonly run: RunSummary }[],
  configurations: readonly Configuration[],
  {
    onProgress,
    signal,
  }: { readonly onProgress: (progress: TrialProgress) => Promise<void>; readonly signal: AbortSignal },
): Promise<TrialAnswer | undefined> {
  const keys = new FiringKeys();
  const rows: JoinedRow[] = [];
  const effects: EffectRow[] = [];
  const paths = [...new Set(runs.map(({ listed }) => listed.source.row().path))];
  let sentMs = Number.NEGATIVE_INFINITY;
  for (const [index, { listed, run }] of runs.entries()) {
    if (signal.aborted) return undefined;
    if (steadyMs() - sentMs >= PROGRESS_MS) {
      await onProgress({ runs: index, of: runs.length });
      sentMs = steadyMs();
    }
    const replay = new RunReplay(run.runId, configurations, keys);
    const effect = new EffectRowFold(run.runId, present({ prices: configurations.at(-1)?.prices }));
    for await (const record of undamagedRecords(await listed.source.reader(), run)) {
      replay.fold(record);
      effect.fold(record);
      if (signal.aborted) return undefined;
    }
    rows.push({ ...replay.row(), source: listed.source.path });
    effects.push(effect.row());
  }
  if (signal.aborted) return undefined;
  const isSweep = configurations[0]?.swept !== undefined;
  const report = buildReport(
    { keys: keys.keys, rows, problems: [], repeated: 0 },
    { paths, configurations, truth: truthOfOutcomes(), gates: {}, compares: !isSweep, stopEarly: false },
  );
  return { report, effect: measureEffect({ paths, worthwhile: DEFAULT_WORTHWHILE, rows: effects }) };
}
