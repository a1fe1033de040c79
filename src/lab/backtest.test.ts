import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { messageOf } from '../core/base/error.ts';
import { guidanceBank } from '../core/steering/guidance/define-guidance.ts';
import { inFaults, thorough } from '../../test/support/rounds.ts';
import { sharedPath } from '../../test/support/shared-data.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';
import type { BacktestOptions } from './backtest-options.ts';
import type { BacktestReport, SignalReport } from './backtest-report.ts';
import { parseSplit } from './judge-gates.ts';
import type { Label, LabelTarget } from './labels.ts';
import { parseSweep } from './sweep-report.ts';

const folder = testFolder();

interface RunScript {
  readonly id: string;
  /** So often the same failing call, before and after which calls differ. */
  readonly stuck: number;
  readonly calls: number;
  readonly success?: boolean;
  readonly task?: string;
}

/** A run in the neutral `steps` form. */
function line({ id, stuck, calls, success, task }: RunScript): string {
  const steps = Array.from({ length: calls }, (_, index) => {
    const repeats = index >= 1 && index <= stuck;
    const call = {
      kind: 'tool_call',
      tool: 'bash',
      args: { command: repeats ? 'make all' : `cat file${index}` },
      msg: index,
    };
    const result = repeats ? 'make: no rule to make target all' : `content number ${index} of ${id}`;
    return [
      { ...call, call_id: `c${index}` },
      { kind: 'tool_result', call_id: `c${index}`, result, is_error: repeats, msg: index },
    ];
  }).flat();
  return JSON.stringify({
    id,
    ...(task === undefined ? {} : { task }),
    ...(success === undefined ? {} : { outcome: { success } }),
    steps,
  });
}

async function file(name: string, runs: readonly RunScript[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, runs.map((run) => `${line(run)}\n`).join(''));
  return path;
}

/** Four runs: one found, one missed, one false alarm, one rightly left alone. */
const FOUR: readonly RunScript[] = [
  { id: 'found', stuck: 6, calls: 12, success: false, task: 'a' },
  { id: 'missed', stuck: 0, calls: 8, success: false, task: 'b' },
  { id: 'false', stuck: 6, calls: 12, success: true, task: 'c' },
  { id: 'quiet', stuck: 0, calls: 8, success: true, task: 'd' },
];

async function reportOf(runs: readonly RunScript[], options: BacktestOptions = {}): Promise<BacktestReport> {
  const path = await file(`${Math.random()}.jsonl`, runs);
  return (await backtest([path], options)).report;
}

function patternFeedback(report: BacktestReport, part = 0): SignalReport | undefined {
  return report.parts[part]?.byConfiguration[0]?.providers.find(({ name }) => name === 'Pattern');
}

async function refusalOf(paths: readonly string[], options: BacktestOptions): Promise<string> {
  return backtest(paths, options).then(
    () => 'not refused',
    (error: unknown) => messageOf(error),
  );
}

test('precision, recall and the false rate are of runs', async () => {
  const report = await reportOf(FOUR);
  expect(report.input).toMatchObject({ runs: 4, calls: 40, positive: 2, negative: 2, unlabelled: 0, problems: 0 });
  expect(patternFeedback(report)).toMatchObject({
    runs: 2,
    positiveRuns: 1,
    negativeRuns: 1,
    precision: { hits: 1, of: 2 },
    recall: { hits: 1, of: 2 },
    falseRate: { hits: 1, of: 2 },
    f1: 0.5,
  });
});

test('the place of the first firing is the share of calls that were left', async () => {
  const report = await reportOf([{ id: 'one', stuck: 6, calls: 12, success: false }]);
  const { median } = patternFeedback(report)?.callsLeft ?? {};
  // The third of the equal calls is call 3: eight of twelve are left.
  expect(median).toBeCloseTo(8 / 12, 6);
});

test('a run that does not say how it ended is shown as such, and is no negative', async () => {
  const report = await reportOf([...FOUR, { id: 'open', stuck: 6, calls: 12 }]);
  expect(report.input).toMatchObject({ positive: 2, negative: 2, unlabelled: 1 });
  expect(patternFeedback(report)).toMatchObject({
    runs: 3,
    unlabelledRuns: 1,
    precision: { of: 2 },
    falseRate: { of: 2 },
  });
  expect(report.notes.join(' ')).toContain('1 of 5 runs are unlabelled');
});

test('each rule has moments to look at: first firings, by how their runs went, with the file they are in', async () => {
  const path = await file('moments.jsonl', [...FOUR, { id: 'open', stuck: 6, calls: 12 }]);
  const { report } = await backtest([path]);
  // The third of the equal calls is call 3.
  const examples = {
    negative: [{ run: 'false', call: 4, source: path }],
    positive: [{ run: 'found', call: 4, source: path }],
    unlabelled: [{ run: 'open', call: 4, source: path }],
  };
  expect(patternFeedback(report)?.examples).toEqual(examples);
  const { details = [], patterns = [] } = report.parts[0]?.byConfiguration[0] ?? {};
  const ofPattern = details.filter(({ name }) => name === 'Pattern');
  expect(ofPattern.map((detail) => detail.examples)).toContainEqual(examples);
  expect(patterns.find(({ name }) => name === 'repeated_error')?.examples).toMatchObject({
    negative: [{ run: 'false' }],
  });
});

test('without any outcome figures are unknown, and that is said; the moments are there all the same', async () => {
  const report = await reportOf([{ id: 'open', stuck: 6, calls: 12 }]);
  expect(patternFeedback(report)?.examples.unlabelled).toMatchObject([{ run: 'open', call: 4 }]);
  expect(patternFeedback(report)).toMatchObject({ precision: { share: null }, recall: { share: null }, f1: null });
  expect(report.notes.join(' ')).toContain('No run records whether it succeeded');
});

test('a label of a run takes the place of its outcome; labels that match nothing are told', async () => {
  const path = await file('labelled.jsonl', FOUR);
  const { report, unknownLabels } = await backtest([path], {
    labels: labelled({ found: 'stuck', false: 'stuck', quiet: 'ok', missed: 'skip', unknown: 'ok' }),
  });
  expect(report.truth).toBe('labels');
  expect(report.input).toMatchObject({ positive: 2, negative: 1, unlabelled: 1 });
  expect(patternFeedback(report)).toMatchObject({ precision: { hits: 2, of: 2 }, recall: { hits: 2, of: 2 } });
  expect(unknownLabels).toEqual(['unknown']);
  const alone = await refusalOf([path], { labels: labelled({ unknown: 'ok' }) });
  expect(alone).toMatch(/^no label matches a run or a call of one \(such as "unknown"\)/);
});

function labelled(targets: Readonly<Record<string, LabelTarget>>): readonly Label[] {
  return Object.entries(targets).map(([id, target]) => ({ id, target, split: '', note: '' }));
}

test('a label of a moment judges what fires at that call, and no other call', async () => {
  const path = await file('moments.jsonl', FOUR);
  const judged = async (targets: Readonly<Record<string, LabelTarget>>) => {
    const { report, unknownLabels } = await backtest([path], { labels: labelled(targets) });
    const { precision, recall, falseRate, examples, unlabelledRuns } = patternFeedback(report) ?? {};
    const shares = [precision, recall, falseRate].map((share) => share && [share.hits, share.of]);
    return { shares, input: report.input, examples, unknownLabels, unlabelledRuns, notes: report.notes };
  };
  // The advice comes after call 4 of both.
  const right = await judged({ 'found@4': 'stuck', 'found@9': 'ok', 'false@4': 'ok', 'quiet@2': 'stuck' });
  expect(right.shares).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  expect(right.input).toMatchObject({ positive: 2, negative: 2, unlabelled: 1 });
  expect(right.examples).toMatchObject({
    positive: [{ run: 'found', call: 4 }],
    negative: [{ run: 'false', call: 4 }],
    unlabelled: [],
  });
  expect(right.notes.join(' ')).toContain('label calls without a flag too');
  expect(right.notes.join(' ')).not.toContain('no better than chance');
  // Another call says nothing about the advice.
  const beside = await judged({ 'found@3': 'stuck', 'false@5': 'ok' });
  expect(beside.shares).toEqual([
    [0, 0],
    [0, 1],
    [0, 1],
  ]);
  expect(beside.unlabelledRuns).toBe(2);
  const beyond = await judged({
    'found@12': 'ok',
    'found@13': 'ok',
    'found@0': 'ok',
    'found@x': 'ok',
    'found@4': 'skip',
  });
  expect(beyond.unknownLabels).toEqual(['found@13', 'found@0', 'found@x']);
  expect(beyond.input).toMatchObject({ positive: 0, negative: 1 });
  // The label of a run and those of its moments are judged each by itself.
  expect((await judged({ found: 'stuck', 'found@4': 'ok' })).shares).toEqual([
    [1, 2],
    [1, 1],
    [1, 1],
  ]);
});

test('a steering that never speaks is reported as silent', async () => {
  const report = await reportOf(FOUR, { steering: { feedback: [] } });
  expect(report.parts[0]?.byConfiguration[0]?.advice).toMatchObject({ fired: 0, runs: 0, precision: { share: null } });
  expect(report.notes).toContain('The configuration given gives no advice in any of these runs.');
});

test('the runs of a task are in one part of a split', async () => {
  const runs = Array.from({ length: 60 }, (_, index): RunScript => ({
    id: `run-${index}`,
    stuck: 0,
    calls: 2,
    success: true,
    task: `task ${index % 12}`,
  }));
  const report = await reportOf(runs, { split: parseSplit('dev=0.7') });
  const [dev, rest] = report.parts;
  expect([dev?.name, rest?.name]).toEqual(['dev', 'test']);
  expect((dev?.tasks ?? 0) + (rest?.tasks ?? 0)).toBe(12);
  expect(dev?.runs).toBe(5 * (dev?.tasks ?? 0));
  expect(rest?.tasks).toBeGreaterThan(0);
  expect(dev?.tasks).toBeGreaterThan(rest?.tasks ?? 12);
});

test('a stricter configuration changes the report, with the runs to look at', async () => {
  const config = join(folder, 'strict.json');
  await writeFile(config, '{"guidance":{"doomLoop":{"maxRepetitions":2}}}');
  const runs: readonly RunScript[] = [...FOUR, { id: 'twice', stuck: 2, calls: 6, success: false }];
  const { comparison } = await reportOf(runs, { against: config });
  expect(comparison?.places.added).toContainEqual(expect.objectContaining({ run: 'twice', provider: 'doom_loop' }));
  const same = await reportOf(runs, { against: 'standard' });
  expect(same.comparison).toMatchObject({ added: 0, removed: 0, moved: 0, changedRuns: 0 });
  expect(same.comparison?.unchanged).toBeGreaterThan(0);
});

test('a sweep has a point a value, about the provider that changes', async () => {
  const runs = [2, 3, 4, 5, 6].map((stuck): RunScript => ({ id: `s${stuck}`, stuck, calls: 9, success: stuck < 4 }));
  // The pattern feedback would speak of the same loops first, and noise control says a thing once.
  const config = join(folder, 'without-pattern.json');
  await writeFile(config, '{"feedback":{"pattern":false}}');
  const { sweep } = await reportOf(runs, { config, sweep: parseSweep('doomLoop.maxRepetitions=2,3,6') });
  expect(sweep).toMatchObject({
    field: 'guidance.doomLoop.maxRepetitions',
    signal: { by: 'provider', name: 'doom_loop' },
  });
  // From three equal calls on the detectors see the pattern, on which the guidance rests too.
  expect(sweep?.points.map(({ value, runs: fired }) => [value, fired])).toEqual([
    [2, 5],
    [3, 4],
    [6, 4],
  ]);
  expect(sweep?.points.at(-1)?.raised).toEqual({ path: 'guidance.doomLoop.windowSize', value: 6 });
});

test('gates are judged, and what cannot be known fails', async () => {
  const gates = { maxFalseRate: 0.4, minRecall: 0.5, maxAdvicePer100Calls: 1_000 };
  const judged = await reportOf(FOUR, { gates });
  expect(judged.gates.map(({ gate, passed }) => [gate, passed])).toEqual([
    ['max-false-rate', false],
    ['min-recall', true],
    ['max-advice-per-100-calls', true],
  ]);
  expect(judged.gates.map(({ reason }) => reason.replace(/^.* is [\d.]+, /, ''))).toEqual([
    'over 0.4',
    'at least 0.5',
    'at most 1000',
  ]);
  const open = await reportOf([{ id: 'open', stuck: 0, calls: 3 }], { gates: { minRecall: 0 } });
  expect(open.gates).toMatchObject([{ value: null, passed: false }]);
});

test('one, two and three threads give the same bytes, also where runs of files share ids', async () => {
  const paths = await Promise.all(
    [0, 1, 2, 3].map((index) => file(`part-${index}.jsonl`, index % 2 === 0 ? FOUR : FOUR.slice(1))),
  );
  await writeFile(join(folder, 'part-4.jsonl'), '{"id":"torn","steps":[');
  const all = [...paths, join(folder, 'part-4.jsonl')];
  const options = { split: parseSplit('dev=0.5'), sweep: parseSweep('doomLoop.maxRepetitions=2,3') };
  const texts: string[] = [];
  const shared = new Set<string>();
  for (const workers of [1, 2, 3]) {
    const { report, problems } = await backtest(all, { ...options, workers });
    texts.push(JSON.stringify({ report, problems }));
    const signals = report.parts.flatMap(({ byConfiguration }) => byConfiguration.map(({ advice }) => advice));
    for (const { source } of signals.flatMap(({ examples }) => examples.negative)) shared.add(source);
  }
  // The moments come from several files, so that the order in which these were done could have changed them.
  expect(shared.size).toBeGreaterThan(1);
  expect(texts[1]).toBe(texts[0]);
  expect(texts[2]).toBe(texts[0]);
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({ report: { input: { runs: 14 } }, problems: [{ path: all[4] }] });
});

test('an interrupted backtest goes on from its journal, and a journal of another one is refused', async () => {
  const paths = [await file('first.jsonl', FOUR), await file('second.jsonl', FOUR)];
  const resume = join(folder, 'journal');
  const whole = (await backtest(paths)).report;
  let shards = 0;
  const stop = backtest(paths, {
    resume,
    onProgress: () => {
      throw new Error('interrupted');
    },
  });
  await expect(stop).rejects.toThrow('interrupted');
  const journal = await readFile(resume, 'utf8');
  await writeFile(resume, `${journal}{"number":1,"res`);
  const resumed = await backtest(paths, { resume, onProgress: () => (shards += 1) });
  expect(shards).toBe(1);
  expect(JSON.stringify(resumed.report)).toBe(JSON.stringify(whole));
  expect(await refusalOf(paths.slice(1), { resume })).toContain('belongs to another input or configuration');
});

test('a classifier that needs a model is refused by name without recorded verdicts', async () => {
  const bank = guidanceBank({ retry: { content: 'Try again.', category: 'retry' } });
  const models = [
    { classifier: { name: 'judge', classify: () => Promise.resolve(undefined) }, bank, decisionPoints: [] },
  ];
  const path = await file('model.jsonl', FOUR);
  expect(await refusalOf([path], { steering: { models } })).toMatch(
    /^given: the model-backed classifier judge has no recorded verdict \(model_answered\) in any of these runs/,
  );
});

test('bad values are refused before anything is read', async () => {
  expect(await refusalOf(['nowhere'], { workers: 0 })).toMatch(/^workers must be a whole number from 1 to 256/);
  expect(await refusalOf(['nowhere'], { config: join(folder, 'none.json') })).toContain('none.json');
  expect(await refusalOf([join(folder, 'nowhere')], {})).toContain('no run could be read');
  expect(() => parseSweep('doomLoop')).toThrow(/^--sweep doomLoop: give a field and its values/);
  expect(() => parseSplit('dev=1')).toThrow(/^--split dev=1: give a name and a share/);
  expect(parseSweep('a.b=0..1/0.25').values).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(parseSweep('a=2,4,8').values).toEqual([2, 4, 8]);
});

const corpus = sharedPath('trajectories', 'intercode_bash.jsonl.gz');
test.skipIf(corpus === undefined || !thorough)(
  `recorded runs: repeated identical calls are rare in runs that went well${inFaults}`,
  async () => {
    const { report } = await backtest([corpus ?? '']);
    expect(report.input).toMatchObject({ runs: 1352, positive: 973, negative: 379 });
    const signal = report.parts[0]?.byConfiguration[0]?.patterns.find(({ name }) => name === 'identical_call');
    expect(signal?.precision.low).toBeGreaterThan(0.9);
    // Most of the runs belong to agents that mostly fail, so that few runs of one agent can be compared.
    expect(report.parts[0]?.groups.length).toBeGreaterThan(1);
    expect(signal?.atSameCall.ratio).toBeGreaterThan(1);
  },
);

test('a signal that speaks as often where runs go well as anywhere is called no better than chance', async () => {
  const runs = Array.from({ length: 24 }, (_, index): RunScript => {
    return { id: `run-${index}`, stuck: index < 12 ? 6 : 0, calls: 12, success: index % 2 === 0 };
  });
  const { report } = await backtest([await file('chance.jsonl', runs)]);
  const found = report.notes.find((note) => note.includes('no better than chance'));
  expect(found).toContain('6 of the 12 runs in which it spoke failed');
  expect(found).toContain('50 % of all runs failed');
  const telling = runs.map(({ calls, id, stuck }): RunScript => ({ id, stuck, calls, success: stuck === 0 }));
  const { report: other } = await backtest([await file('telling.jsonl', telling)]);
  expect(other.notes.filter((note) => note.includes('no better than chance'))).toEqual([]);
});
