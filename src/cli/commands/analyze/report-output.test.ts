import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';

import type { TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import { PrintedOutput } from './analyze-command.ts';
import { NO_ADVICE, type RunFacts } from '../../../core/facts/run-facts.ts';
import type { CallPreview } from '../../../core/facts/run-call.ts';
import { Terminal } from '../../terminal/terminal.ts';

const DEFAULTS = { stuckOnly: false, summaryOnly: false, all: false, json: false };

async function printed(
  reports: readonly RunFacts[],
  outputOn: (terminal: Terminal) => PrintedOutput = (terminal) => new PrintedOutput(terminal, DEFAULTS),
): Promise<string> {
  const stdout = new PassThrough({ highWaterMark: 10_000_000 });
  const output = outputOn(new Terminal({ stdout, stderr: new PassThrough() }));
  for (const one of reports) await output.add(one);
  await output.finish();
  return String(stdout.read() ?? '');
}

function pattern(more: Partial<TrajectoryPattern> = {}): TrajectoryPattern {
  return {
    kind: 'identical_call',
    identity: 'identical_call:x',
    stuck: true,
    level: 'warn',
    confidence: 0.75,
    evidence: [2, 3, 4],
    firstSeen: 2,
    flaggedAt: 4,
    occurrences: 3,
    ...more,
  };
}

function report(id: string, more: Partial<RunFacts> = {}): RunFacts {
  return {
    id,
    source: 'a.json',
    format: 'calls',
    calls: 6,
    turns: 6,
    errors: 1,
    verdict: { verdict: 'unknown', evidence: 'nothing says how it went' },
    patternBasis: 'recomputed',
    steered: false,
    startedAtMs: 0,
    lastAtMs: 0,
    activeMs: 0,
    uncommitted: 0,
    checks: [],
    filesChanged: [],
    commits: 0,
    patterns: [],
    stuck: more.patterns?.some(({ level, stuck }) => stuck && level !== 'hint') ?? false,
    advice: NO_ADVICE,
    adviceTexts: [],
    faults: 0,
    faultTexts: [],
    instructions: [],
    keys: [],
    failures: [],
    moments: [],
    recent: [],
    diagnostics: [],
    strip: { cells: '···×··', callsPerColumn: 1 },
    previews: { 2: { call: 'bash {command: "ls"}', error: 'no such file' } },
    ...more,
  };
}

test('a run with a pattern is a block: facts, strip, span, pattern and evidence', async () => {
  const ending = { outcome: 'ended', success: false, reward: 0.25 };
  const one = report('r1', {
    patterns: [pattern({ tool: 'bash', clearedAt: 5 })],
    ending,
    verdict: { verdict: 'failed', evidence: 'its source says that it failed' },
    activeMs: 61_000,
    task: 'go',
  });
  expect(await printed([one])).toBe(
    [
      '✗ go',
      '  6 calls, 1 error, 6 turns, 61 seconds active, its source says that it failed (reward 0.25)',
      '  calls, a.json, run r1',
      '',
      '  ···×··',
      '    ╶─▲ A',
      '',
      'A the same call with the same result  stuck, likely  bash',
      '  from call 3, noticed at call 5 of 6, seen 3 times, over by call 6',
      '    #3 bash {command: "ls"}',
      '       × no such file',
      '',
      '',
    ].join('\n'),
  );
});

test('a refused call of a pattern is no failure', async () => {
  const refused = { call: 'bash {command: "rm -rf build"}', outcome: 'refused' as const };
  const of = (preview: CallPreview): Promise<string> =>
    printed([report('r1', { patterns: [pattern()], previews: { 2: preview } })]);
  expect(await of(refused)).toMatch(/#3 bash \{command: "rm -rf build"\}\n +refused\n/);
  expect(await of({ ...refused, error: 'not allowed' })).toMatch(/\n +refused: not allowed\n/);
});

test('the most serious of many patterns are shown and the rest is counted', async () => {
  const minor = Array.from({ length: 10 }, (_, index) => pattern({ kind: `minor_${index}`, stuck: false }));
  const text = await printed([report('r1', { patterns: [...minor, pattern({ level: 'strong' })] })]);
  expect(text).toContain('the same call with the same result  stuck, for sure');
  expect(text.match(/minor \d {2}likely/g)).toHaveLength(7);
  expect(text).toContain('and 3 more patterns; --json lists all');
});

test('the totals count runs by outcome and by pattern, without hints', async () => {
  const of = (success: boolean): Partial<RunFacts> => ({
    ending: { outcome: success ? 'ended' : 'limit', success },
    verdict: { verdict: success ? 'worked' : 'failed', evidence: '' },
  });
  const text = await printed([
    report('a', of(true)),
    report('b', { ...of(false), patterns: [pattern(), pattern({ firstSeen: 5 })] }),
    report('c', { ...of(false), patterns: [pattern({ kind: 'drift', level: 'hint', flaggedAt: null })] }),
    report('d'),
  ]);
  expect(text.slice(text.indexOf('4 runs'))).toBe(
    [
      '4 runs, 24 calls, 4 errors',
      'shares with their 95 % interval, if the runs are a sample',
      'stuck: 1, 25 % (4.6–70 %) of 4',
      'succeeded: 1, 33 % (6.1–79 %) of 3',
      '',
      'outcome           runs                 share                 stuck',
      'failed               2   50 % (15–85 %) of 4  50 % (9.5–91 %) of 2',
      'no end on record     1  25 % (4.6–70 %) of 4     0 % (0–79 %) of 1',
      'worked               1  25 % (4.6–70 %) of 4     0 % (0–79 %) of 1',
      '',
      'pattern                             runs                 share          succeeded',
      'the same call with the same result     1  25 % (4.6–70 %) of 4  0 % (0–79 %) of 1',
      '',
    ].join('\n'),
  );
});

test('the totals say of all calls what a run says of its own', async () => {
  const counts = { calls: 9, errors: 2, refused: 3, cancelled: 4, lostRecords: 5, declined: 1 };
  const text = await printed([report('a', counts), report('b', counts)]);
  const own = '9 calls, 2 errors, 2 refused, 1 plan or question declined, 4 cancelled, 5 records lost';
  expect(text).toContain(own);
  const all = '2 runs, 18 calls, 4 errors, 4 refused, 2 plans or questions declined, 8 cancelled, 10 records lost';
  expect(text).toContain(`${all}\n`);
  const json = await printed(
    [report('a', counts), report('b')],
    (terminal) => new PrintedOutput(terminal, { ...DEFAULTS, json: true, summaryOnly: true }),
  );
  expect(JSON.parse(json)).toMatchObject({ ...counts, calls: 15, errors: 3 });
});

test('of thousands of runs the ones stuck the most are printed', async () => {
  const reports = Array.from({ length: 2000 }, (_, index) =>
    report(`r${index}`, { patterns: [pattern({ occurrences: index })] }),
  );
  const text = await printed(reports);
  const ids = [...text.matchAll(/^● run (r\d+)/gm)].map((match) => match[1]);
  expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => `r${1999 - index}`));
  expect(text).toContain('2,000 runs: only the 20 stuck the most are shown, of 2,000 that got stuck.');
});

test('JSON is one line per run, and a line of totals on request', async () => {
  const reports = [report('a', { patterns: [pattern()] }), report('b')];
  const lines = (await printed(reports, (terminal) => new PrintedOutput(terminal, { ...DEFAULTS, json: true })))
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    schema: 2,
    id: 'a',
    source: 'a.json',
    format: 'calls',
    calls: 6,
    turns: 6,
    errors: 1,
    verdict: { verdict: 'unknown', evidence: 'nothing says how it went' },
    patternBasis: 'recomputed',
    patterns: [
      {
        kind: 'identical_call',
        stuck: true,
        level: 'warn',
        confidence: 0.75,
        flaggedAt: 5,
        firstSeen: 3,
        occurrences: 3,
        evidence: [3, 4, 5],
      },
    ],
    diagnostics: [],
  });
  const totals = await printed(
    reports,
    (terminal) => new PrintedOutput(terminal, { ...DEFAULTS, json: true, summaryOnly: true }),
  );
  expect(JSON.parse(totals)).toMatchObject({
    runs: 2,
    stuck: 1,
    patterns: [{ kind: 'identical_call', runs: 1, share: 0.5 }],
  });
});
