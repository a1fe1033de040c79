import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';

import { CoxswainError } from '../src/core/base/error.ts';
import { Problems } from '../src/cli/runs/problems.ts';
import { Progress } from '../src/cli/terminal/progress.ts';
import { Terminal } from '../src/cli/terminal/terminal.ts';

interface Screen {
  readonly terminal: Terminal;
  readonly stderr: () => string;
}

function screen(isTTY: boolean): Screen {
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 60 });
  let text = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const terminal = new Terminal({ stdout: new PassThrough(), stderr });
  return {
    terminal,
    stderr: () => {
      stderr.read();
      return text;
    },
  };
}

test('no bar is drawn in the first 0.2 seconds, and then at most ten per second', () => {
  const { terminal, stderr } = screen(true);
  let nowMs = 0;
  const progress = new Progress(terminal, { nowMs: () => nowMs });
  progress.source('big.jsonl');
  progress.run();
  progress.bytes(100, 1000);
  nowMs = 150;
  progress.bytes(200, 1000);
  expect(stderr()).toBe('');
  nowMs = 600;
  progress.bytes(250_000_000, 1_000_000_000);
  nowMs = 650;
  progress.bytes(300_000_000, 1_000_000_000);
  expect(stderr()).toBe('\r\u001b[K█████░░░░░░░░░░░░░░░  250 MB of 1.0 GB  1 run  big.jsonl');
  progress.end();
  expect(stderr().endsWith('\r\u001b[K')).toBe(true);
});

test('without a known size the bytes are counted, and the line is never wider than the terminal', () => {
  const { terminal, stderr } = screen(true);
  let nowMs = 0;
  const progress = new Progress(terminal, { nowMs: () => nowMs });
  progress.source(`\u001b[2J${'long-'.repeat(50)}`);
  nowMs = 1000;
  progress.bytes(5_000_000, undefined);
  const drawn = stderr().replace('\r\u001b[K', '');
  expect(drawn).toMatch(/^5\.0 MB {2}0 runs {2}long-long-/);
  expect(drawn).toHaveLength(59);
});

test('no bar is drawn where standard error is no terminal', () => {
  const { terminal, stderr } = screen(false);
  let nowMs = 0;
  const progress = new Progress(terminal, { nowMs: () => nowMs });
  nowMs = 5000;
  progress.bytes(1, 2);
  progress.end();
  expect(stderr()).toBe('');
});

test('a complaint stands above the status line', () => {
  const { terminal, stderr } = screen(true);
  terminal.status('50 %');
  terminal.complain('coxswain: a: torn');
  expect(stderr()).toBe('\r\u001b[K50 %\r\u001b[Kcoxswain: a: torn\n\r\u001b[K50 %');
});

test('problems name path and line once, and are counted after ten a source', () => {
  const { terminal, stderr } = screen(false);
  const problems = new Problems(terminal);
  problems.source('a.json');
  problems.note({ message: 'left out: 2' });
  expect(problems.any).toBe(false);
  problems.failure(new CoxswainError('format-invalid', 'a.json: cut off', { details: { line: 7 } }));
  for (let line = 1; line <= 10; line += 1) problems.fault({ message: 'torn\nhere', line });
  problems.source('-');
  problems.failure(new CoxswainError('format-unknown', 'standard input: empty'));
  problems.endSource();
  expect(problems.any).toBe(true);
  expect(stderr().split('\n')).toEqual([
    'coxswain: a.json: note: left out: 2',
    'coxswain: a.json:7: cut off',
    ...Array.from({ length: 8 }, (_, index) => `coxswain: a.json:${index + 1}: torn⏎here`),
    'coxswain: a.json: and 2 more',
    'coxswain: -: empty',
    '',
  ]);
});

test('output that is piped has the width in COLUMNS, else 120 columns', () => {
  const widthWith = (columns: string): number => {
    vi.stubEnv('COLUMNS', columns);
    return screen(false).terminal.width;
  };
  expect([widthWith('80'), widthWith('wide'), widthWith('')]).toEqual([80, 120, 120]);
  vi.unstubAllEnvs();
});
