import { expect, test } from 'vitest';

import { FailedCallsFold } from './failed-calls.ts';
import { instructionFile } from './instruction-lines.ts';
import { LessonsFold, type Lesson, type Lessons } from './lessons.ts';

interface Session {
  readonly project?: string;
  readonly parentId?: string;
  readonly atMs?: number;
  readonly instructions?: readonly string[];
  /** The commands, each with the error that it gives. */
  readonly calls: readonly (readonly [command: string, error?: string])[];
}

const RTK = ['rtk bun run test', "error: unrecognized subcommand 'bun'"] as const;
const BUN = ['bun run test'] as const;

/** Folds sessions, a day apart, added in the reverse order. */
function lessonsOf(...sessions: readonly Session[]): Lessons {
  const fold = new LessonsFold();
  for (const [index, { atMs = index * 86_400_000 + 1, calls, instructions = [], parentId, project = '/w' }] of [
    ...sessions.entries(),
  ].toReversed()) {
    const calling = new FailedCallsFold();
    const spent = { activeMs: 0, callMs: 0, costUsd: 0, tokens: 0 };
    for (const [at, [command, error]] of calls.entries()) {
      const call = { id: `${at}`, number: at + 1, tool: 'Bash', args: { command }, seq: at, startLost: false };
      const failed = error !== undefined;
      const payload = {
        kind: 'tool_ended',
        tool_call_id: `${at}`,
        tool_name: 'Bash',
        result: '',
        is_error: failed,
      } as const;
      calling.fold(payload, { ...call, failed, resultMissing: false }, { cause: error, atMs: atMs + at, ...spent });
    }
    fold.add({
      id: `s${index}`,
      ...(parentId === undefined ? {} : { parentId }),
      project,
      source: `s${index}.jsonl`,
      startedAtMs: atMs,
      failures: calling.failures,
      keys: calling.keys,
      instructions: instructions.map((text) => instructionFile('CLAUDE.md', text)),
    });
  }
  return fold.lessons();
}

function summary({ key, sessions, stillHappens }: Lesson): string {
  return `${key.text}: ${sessions}, ${stillHappens ? 'still' : 'over'}`;
}

test('a lesson is a key that failed in two sessions, with what worked after it and two examples', () => {
  const { lessons } = lessonsOf({ calls: [RTK, BUN] }, { calls: [RTK, BUN] }, { calls: [RTK, BUN] });
  expect(lessons).toMatchObject([
    {
      key: { kind: 'name', text: 'rtk bun' },
      sessions: 3,
      ranIn: 3,
      times: 3,
      calls: 3,
      worked: { shown: 'bun run test', sessions: 3 },
      stillHappens: true,
      examples: [{ runId: 's1', number: 1 }, { runId: 's2' }],
    },
  ]);
});

test('one session makes no lesson, nor do two projects', () => {
  expect(lessonsOf({ calls: [RTK, RTK, RTK] }).lessons).toEqual([]);
  expect(lessonsOf({ calls: [RTK] }, { project: '/v', calls: [RTK] }).lessons).toEqual([]);
});

test('a subagent belongs to the session that started it', () => {
  expect(lessonsOf({ calls: [RTK] }, { parentId: 's0', calls: [RTK] }).lessons).toEqual([]);
});

test('a lesson retires when the last session that ran it succeeded, and the next failing one arms it again', () => {
  const works = { calls: [['rtk bun run test']] } as const;
  const fails = { calls: [RTK] };
  const many = Array.from({ length: 5 }, () => fails);
  expect(lessonsOf(fails, fails, ...many, works).lessons.map(summary)).toEqual(['rtk bun: 7, over']);
  expect(lessonsOf(fails, fails, ...many, works, fails).lessons.map(summary)).toEqual(['rtk bun: 8, still']);
  // Less than four fifths of the sessions that ran it failed.
  expect(lessonsOf(fails, works, fails).lessons).toEqual([]);
});

test('a call that failed last still happens, although its path worked in another call', () => {
  const cat = ['cat mise-tasks/lint', 'cat: mise-tasks/lint: Is a directory'] as const;
  const [lesson] = lessonsOf({ calls: [cat] }, { calls: [cat, ['ls mise-tasks/lint']] }).lessons;
  expect(lesson).toMatchObject({ name: 'cat mise-tasks/lint', stillHappens: true, recovered: false });
  const [asked] = lessonsOf({ calls: [RTK] }, { calls: [RTK, ['rtk bun run test']] }).lessons;
  expect(asked).toMatchObject({ stillHappens: false, recovered: true });
});

test('a session in which a call worked first and last does not count as one in which it failed', () => {
  const [works, fails] = [['rtk bun run test'] as const, { calls: [RTK] }];
  const between = { calls: [works, RTK, works] };
  expect(lessonsOf(between, between, between).lessons).toEqual([]);
  expect(lessonsOf(fails, fails, between).lessons.map(summary)).toEqual(['rtk bun: 3, over']);
});

test('a key that fails wherever it is used explains more than one that fails in more sessions and works in others', () => {
  const flag = (text: string, ...error: readonly [string?]): Session => ({
    calls: [[`gh ${text} --stat`, ...error] as const],
  });
  const unknown = 'unknown flag: --stat';
  const { lessons } = lessonsOf(
    ...['pr view', 'pr diff', 'run list'].map((text) => flag(text, unknown)),
    ...['repo view', 'repo list'].map((text) => flag(text)),
  );
  expect(lessons.map(({ key, sessions }) => [key.text, sessions])).toEqual([['gh pr --stat', 2]]);
});

test('a lesson of failures that state different causes says so', () => {
  const fails = (error: string): Session => ({ calls: [['cat -A a.ts', error]] });
  const [lesson] = lessonsOf(
    fails('cat: illegal option -- A'),
    fails("unexpected argument '-A' found"),
    fails('cat: illegal option -- A'),
  ).lessons;
  const examples = [{ runId: 's0' }, { runId: 's2' }];
  expect(lesson).toMatchObject({ cause: 'cat: illegal option -- A', causes: 2, examples });
});

test('a session in which a call failed and then worked is one in which it failed, and retires the lesson', () => {
  const both = { calls: [RTK, ['rtk bun run test']] } as const;
  expect(lessonsOf(both, { calls: [RTK] }).lessons.map(summary)).toEqual(['rtk bun: 2, still']);
  expect(lessonsOf(both, both).lessons.map(summary)).toEqual(['rtk bun: 2, over']);
});

test('a resumed session that begins with a copy of the session before it is no second session', () => {
  const session = { atMs: 1, calls: [RTK] };
  expect(lessonsOf(session, session).lessons).toEqual([]);
});

test('tests, linters and compilers are counted apart, and causes without a repeated call are grouped', () => {
  const fails = { calls: [['npm test', '2 failed']] } as const;
  expect(lessonsOf(fails, fails)).toMatchObject({ lessons: [], checks: 2, others: [] });
  const reads = (file: string): Session => ({ calls: [[`cat ${file}`, `cat: ${file}: Permission denied`]] });
  expect(lessonsOf(reads('a.md'), reads('b.md')).others).toMatchObject([{ times: 2, sessions: 2 }]);
});

test('the order in which runs are added changes nothing', () => {
  const [one, two] = [
    { calls: [RTK, BUN], atMs: 5_000 },
    { calls: [RTK], atMs: 9_000 },
  ];
  const [left, right] = [lessonsOf(one, two), lessonsOf(two, one)];
  expect(left.lessons.map(summary)).toEqual(right.lessons.map(summary));
});

test('a lesson has the line of an instruction file that a session shows, and says that none names it only of files of this machine', () => {
  const fails = { calls: [RTK] };
  expect(lessonsOf(fails, fails).lessons[0]?.instruction).toBeUndefined();
  const shows = { calls: [RTK], instructions: ['Use rtk.'] };
  expect(lessonsOf(fails, shows).lessons[0]?.instruction).toEqual({ path: 'CLAUDE.md', line: 1, text: 'Use rtk.' });
  expect(lessonsOf(fails, { calls: [RTK], instructions: ['Be kind.'] }).lessons[0]?.instruction).toBeUndefined();
  const parts = [
    { calls: [RTK], instructions: ['Use rtk.'] },
    { calls: [RTK], instructions: ['\n\nBe kind.'] },
  ];
  expect(lessonsOf(...parts).lessons[0]?.instruction).toMatchObject({ line: 1 });
});

test('the call that is shown is the one after which the shown fix worked', () => {
  const error = 'zsh: command not found: rg';
  const { lessons } = lessonsOf(
    { calls: [['rg alpha src', error], ['command rg alpha src']] },
    { calls: [['rg beta docs', error]] },
  );
  expect(lessons[0]).toMatchObject({ shown: 'rg alpha src', worked: { shown: 'command rg alpha src' } });
});

test('a lesson of calls that differ is named for what they have in common', () => {
  const fails = (command: string): Session => ({ calls: [[command, 'cat: illegal option -- A']] });
  const named = (...commands: readonly string[]) => lessonsOf(...commands.map(fails)).lessons[0]?.name;
  expect(named('cat -A a.ts', 'cat -A a.ts')).toBe('cat -A a.ts');
  expect(named('sed -n 1p a.ts | cat -A', 'awk 1 b.ts | cat -A')).toBe('cat -A');
  const flag = (text: string): Session => ({ calls: [[`gh pr ${text} --stat`, 'unknown flag: --stat']] });
  expect(lessonsOf(flag('diff'), flag('view')).lessons[0]?.name).toBe('gh pr … --stat');
});

test('a path, a flag or a program alone names no lesson: its calls do', () => {
  const dir = (files: string): Session => ({
    calls: [[`dir /s /b ${files}`, "dir: cannot access '/s': No such file or directory"]],
  });
  expect(lessonsOf(dir('src'), dir('lib')).lessons[0]?.name).toBe('dir /s /b …');
  const piped = (command: string): Session => ({ calls: [[`${command} | jq .`, 'command not found: jq']] });
  expect(lessonsOf(piped('curl -s a'), piped('cat b')).lessons[0]?.name).toBe('curl -s a | jq .');
});

test('sessions in which a call failed for a cause of another lesson are not among those in which it worked', () => {
  const fails = (file: string, error: string): Session => ({ calls: [[`tool -q ${file}`, error]] });
  const unknown = "unexpected argument '-q' found";
  const { lessons } = lessonsOf(
    ...['a.ts', 'a.ts'].map((file) => fails(file, 'broken pipe')),
    ...['b.ts', 'c.ts', 'a.ts'].map((file) => fails(file, unknown)),
  );
  expect(lessons.map(({ ranIn, sessions }) => [sessions, ranIn])).toEqual([
    [3, 3],
    [2, 2],
  ]);
});

test('what worked most often is shown, with the number of other sessions in which a similar call worked', () => {
  const error = 'zsh: command not found: rg';
  const fixed = (word: string): Session => ({ calls: [[`rg ${word} src docs`, error], [`grep ${word} src docs`]] });
  expect(lessonsOf(fixed('a'), fixed('a'), fixed('b')).lessons[0]?.worked).toEqual({
    shown: 'grep a src docs',
    sessions: 2,
    similar: 1,
  });
});

test('failures of the same shown call and the same cause are one lesson, whatever else their calls contain', () => {
  const fails = (number: number): Session => ({ calls: [[`deploy now 2>&1 | tail -${number}`, 'gone']] });
  const again = { calls: [['deploy now 2>&1', 'gone']] } as const;
  expect(lessonsOf(fails(1), fails(2), again).lessons).toMatchObject([{ times: 3, sessions: 3 }]);
});
