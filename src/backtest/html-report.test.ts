import { expect, test } from 'vitest';

import {
  OFF_POLICY_NOTE,
  type BacktestReport,
  type PartFigures,
  type SignalReport,
  type SweepPointReport,
} from './backtest-report.ts';
import { htmlReport } from './html-report.ts';
import { quartilesOf, shareOf } from './statistics.ts';

const HOSTILE = `</script><img src=x onerror=alert(1)> "quoted' & \u202eevil\u0000 \u001b[31m`;

function signal(by: SignalReport['by'], name: string, more: Partial<SignalReport> = {}): SignalReport {
  return {
    by,
    name,
    fired: 12,
    runs: 9,
    positiveRuns: 6,
    negativeRuns: 2,
    unlabelledRuns: 1,
    per100Calls: 1.5,
    precision: shareOf(6, 8),
    recall: shareOf(6, 20),
    falseRate: shareOf(2, 30),
    f1: 0.43,
    callsLeft: quartilesOf([0.1, 0.5, 0.5, 0.95]),
    atSameCall: { ratio: 2.5, low: 1.2, high: 5.1, positiveEvents: 6, negativeEvents: 2 },
    examples: {
      negative: [{ run: 'went-well', call: 3, source: name }],
      positive: [
        { run: 'went-wrong', call: 0, source: 'runs.db' },
        { run: name, call: 7, source: 'runs.db' },
      ],
      unlabelled: [],
    },
    ...more,
  };
}

function figures(name: string): PartFigures {
  return {
    advice: signal('advice', 'advice'),
    providers: [signal('provider', name)],
    details: [signal('detail', name, { pattern: name, point: 'post_tool_result' })],
    patterns: [
      signal('pattern', name, {
        fired: 0,
        precision: shareOf(0, 0),
        f1: null,
        per100Calls: null,
        callsLeft: quartilesOf([]),
        examples: { negative: [], positive: [], unlabelled: [] },
        atSameCall: { ratio: null, low: null, high: null, positiveEvents: 0, negativeEvents: 0 },
      }),
    ],
  };
}

function point(value: number, hits: number): SweepPointReport {
  return {
    value,
    fired: hits,
    runs: hits,
    precision: shareOf(hits, 20),
    recall: shareOf(20 - hits, 20),
    falseRate: shareOf(1, 30),
    f1: 0.5,
  };
}

function reportOf(name: string): BacktestReport {
  return {
    version: 1,
    paths: [name],
    configurations: [
      { name, hash: 'a'.repeat(16) },
      { name: 'strict.json', hash: 'b'.repeat(16) },
    ],
    input: {
      runs: 1_234,
      calls: 56_789,
      positive: 20,
      negative: 30,
      unlabelled: 5,
      ownEvaluations: 0,
      neverAsked: 0,
      withGap: 1,
      withoutVerdicts: 0,
      problems: 0,
    },
    truth: 'outcomes',
    parts: [
      {
        name,
        runs: 1_234,
        calls: 56_789,
        positive: 20,
        negative: 30,
        unlabelled: 5,
        tasks: 40,
        byConfiguration: [figures(name), figures(name)],
      },
    ],
    comparison: {
      unchanged: 5,
      added: 1,
      removed: 70,
      moved: 1,
      changedRuns: 3,
      byProvider: [{ provider: name, unchanged: 5, added: 1, removed: 70, moved: 1 }],
      places: {
        added: [{ run: name, provider: name, call: 3 }],
        removed: [{ run: 'run-2', provider: 'Pattern', call: 4 }],
        moved: [{ run: 'run-3', provider: 'Pattern', call: 5, to: 9 }],
      },
    },
    sweep: {
      field: name,
      signal: { by: 'provider', name },
      part: name,
      points: [point(2, 5), point(3, 10), { ...point(4, 15), raised: { path: name, value: 8 } }],
    },
    gates: [{ gate: 'min-recall', limit: 0.5, value: 0.3, passed: false, reason: name }],
    notes: [OFF_POLICY_NOTE, name],
  };
}

test('the page says everything of the report, and that a recording is off-policy', () => {
  const page = htmlReport(reportOf('standard')).replaceAll(/>\s+</g, '><');
  for (const wanted of [
    OFF_POLICY_NOTE,
    '1,234 runs, 56,789 calls',
    '75 % <span class="dim">41–93</span>',
    '<span class="dim">6 of 8</span>',
    '×2.50 <span class="dim">1.20–5.10</span><br /><span class="dim">6 / 2 runs</span>',
    '<span class="bad">failed</span>',
    '5 → 9',
    'Removed: 1 of 70',
    'strict.json against standard',
    'with standard 8',
    'precision 25 %, recall 75 %',
    'standard, post_tool_result</span></th><td>went-well after call 4 <span class="dim">standard</span></td><td>went-wrong after',
    '1 <span class="dim">runs.db</span><br />standard after call 8 <span class="dim">runs.db</span></td><td>–</td>',
  ]) {
    expect(page).toContain(wanted);
  }
});

test('equal reports give equal bytes, and the page needs nothing from elsewhere and runs nothing', () => {
  const page = htmlReport(reportOf('standard'));
  expect(htmlReport(reportOf('standard'))).toBe(page);
  expect(page).toContain(`content="default-src 'none'; style-src 'sha256-`);
  expect(page).not.toMatch(/<script|<link|<iframe|<object|@import|url\(|https?:|\son\w+=|\sstyle=/i);
});

test('no text of a report can leave its place', () => {
  const page = htmlReport(reportOf(HOSTILE));
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;quoted&#39; &amp; ⟨U+202E⟩evil⟨U+0000⟩');
  const clean = htmlReport(reportOf('x'))
    .match(/<[a-z/!][^>]*>/gi)
    ?.map(nameOfTag);
  expect(page.match(/<[a-z/!][^>]*>/gi)?.map(nameOfTag)).toEqual(clean);
  expect(page).not.toMatch(/[\u0000\u001b\u202e]/);
});

function nameOfTag(tag: string): string {
  return tag.slice(0, tag.search(/[\s>]/));
}

test('tables have headers by column and row, and pictures a text', () => {
  const page = htmlReport(reportOf('standard'));
  const tables = page.match(/<table[ >]/g)?.length ?? 0;
  expect(tables).toBeGreaterThan(8);
  expect(page.match(/<caption>/g)).toHaveLength(tables);
  expect(page.match(/<thead>\s*<tr>\s*<th scope="col">/g)).toHaveLength(tables);
  expect(page).not.toMatch(/<tr>\s*<td>/);
  for (const [picture] of page.matchAll(/<svg [^>]*>/g))
    expect(picture).toMatch(/role="img" aria-label="[^"]+"|aria-hidden="true"/);
});

test('all tags that open close', () => {
  const open: string[] = [];
  for (const [, end, name, self] of htmlReport(reportOf(HOSTILE)).matchAll(/<(\/?)([a-z]\w*)[^>]*?(\/?)>/g)) {
    if (self === '/' || name === 'meta' || name === 'br') continue;
    if (end === '') open.push(name ?? '');
    else if (open.pop() !== name) open.push(`${name} closes what is not open`);
  }
  expect(open).toEqual([]);
});

test('a report of nothing is a page too', () => {
  const { comparison: _comparison, sweep, ...report } = reportOf('standard');
  const empty = { ...report, configurations: [], gates: [], parts: [], paths: [] };
  expect(htmlReport(empty)).toContain('coxswain backtest');
  const blank = { ...point(2, 5), precision: shareOf(0, 0) };
  const swept = {
    ...empty,
    sweep: { field: 'a', signal: { by: 'advice', name: 'advice' }, part: 'all', points: [blank] },
  } as const;
  expect(sweep?.points).toHaveLength(3);
  expect(htmlReport(swept)).toContain('there is nothing to plot');
});
