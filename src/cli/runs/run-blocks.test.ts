import { expect, test } from 'vitest';

import { createCoxswain } from '../../core/run/coxswain.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { createRunFold } from './run-recorder.ts';
import { terminalText } from '../document/write-document.ts';
import { changedFiles, countFacts, isSideRun, runBlocks, titleItem, totalsBlocks } from './run-blocks.ts';
import { RunTotals } from './run-totals.ts';

const FORM = { paint: (_style: string, text: string) => text, width: 120 };

test('changed files of a session from Windows are relative to its project, in each of the ways to write them', () => {
  const filesChanged = [
    'D:\\app\\src\\a.ts',
    'd:/app/src/b.ts',
    '/d/app/src/a.ts',
    'src/c.ts',
    'C:\\Users\\ann\\notes.md',
  ];
  expect(changedFiles({ filesChanged, project: 'D:\\app' })).toEqual([
    'src/a.ts',
    'src/b.ts',
    'src/c.ts',
    'C:\\Users\\ann\\notes.md',
  ]);
});

test('files outside the project come last, and those of its own work trees have their name there', () => {
  const filesChanged = ['/home/ann/.claude/plans/a.md', '/w/app/.claude/worktrees/one/src/b.ts', '/w/app/c.ts'];
  expect(changedFiles({ filesChanged, project: '/w/app' })).toEqual([
    'src/b.ts',
    'c.ts',
    '/home/ann/.claude/plans/a.md',
  ]);
});

test('a request that a program makes for itself is no subagent', () => {
  const run = { id: 's/agent-a1', parentId: 's', calls: 0 };
  expect(isSideRun({ ...run, task: 'Warmup' })).toBe(true);
  expect(isSideRun(run)).toBe(false);
  const lastMessage = 'I understand that you want me to warm up.';
  expect(isSideRun({ ...run, lastMessage })).toBe(true);
  expect(isSideRun({ ...run, lastMessage, calls: 1 })).toBe(false);
  expect(isSideRun({ ...run, task: 'Find the tests' })).toBe(false);
  expect(isSideRun({ id: 's', calls: 0 })).toBe(false);
});

test('a declined plan or question is told from a refused call', () => {
  const counts = { calls: 9, errors: 0 };
  expect(countFacts({ ...counts, refused: 2 })).toEqual(['9 calls', '0 errors', '2 refused']);
  expect(countFacts({ ...counts, refused: 2, declined: 1 }).slice(2)).toEqual([
    '1 refused',
    '1 plan or question declined',
  ]);
  expect(countFacts({ ...counts, refused: 2, declined: 2 }).slice(2)).toEqual(['2 plans or questions declined']);
});

test('a session of Gemini CLI without calls has none on record, because an older file leaves them out', () => {
  expect(countFacts({ calls: 0, errors: 0, format: 'gemini' })).toEqual(['no call on record']);
  expect(countFacts({ calls: 0, errors: 0, format: 'codex' })).toEqual(['0 calls', '0 errors']);
});

test('a run without a source file names none', () => {
  const fold = createRunFold('r', {});
  const payload = { kind: 'run_started', identity: { run_id: 'r', depth: 0 }, task: 'Fix the build.' } as const;
  fold.fold({ schema_version: 1, seq: 0, run_id: 'r', depth: 0, recorded_at_unix_ms: 1, payload });
  expect(titleItem(fold.facts(0)).lines).toContainEqual({ style: 'dim', text: 'coxswain, run r' });
});

test('the count of a recorded pattern that never ended is a lower bound, and its line reaches the end of the run', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: 'r' });
  for (let index = 0; index < 40; index += 1) {
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', ...call, args: { command: 'make' } });
    // The last calls fail in other words: the pattern may go on with them.
    const result = index < 30 ? 'make: no rule' : `make: rule ${index} is wrong`;
    run.emit({ type: 'tool_execution_end', ...call, result, isError: true });
  }
  await run.end();
  const fold = createRunFold('r', {});
  for await (const record of store.readRun('r')) fold.fold(record);
  const text = terminalText({ blocks: runBlocks(fold.facts(0)) }, FORM);
  expect(text).toContain('noticed at call 3 of 40, seen at least 30 times, not over at the end');
  expect(text).toMatch(/^ {2}\u2576\u2500\u25B2\u2500{36}\u2574 A$/m);
  await cox.close();
});

test('refused calls are shown beside the errors, in a run and in totals', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: 'r' });
  const results = ['This command requires approval', 'Tool "bash" is denied.', 'Exit code 1'];
  for (const [index, result] of results.entries()) {
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'tool_execution_start', ...call, args: { command: 'npm test' } });
    run.emit({ type: 'tool_execution_end', ...call, result, isError: true });
  }
  await run.end();
  const fold = createRunFold('r', {});
  for await (const record of store.readRun('r')) fold.fold(record);
  const report = fold.facts(0);
  const totals = new RunTotals();
  totals.add(report);
  expect(terminalText({ blocks: runBlocks(report) }, FORM)).toContain('3 calls, 1 error, 2 refused');
  expect(terminalText({ blocks: totalsBlocks(totals) }, FORM)).toContain('1 run, 3 calls, 1 error, 2 refused');
  // A check that was refused has no result.
  expect(fold.view.checks).toMatchObject([{ command: 'npm test', failed: true, number: 3 }]);
  await cox.close();
});
