import { expect, test } from 'vitest';

import { FailedCallsFold } from './failed-calls.ts';
import type { FailedCall } from './failed-calls.ts';

interface Step {
  readonly tool?: string;
  readonly args?: Readonly<Record<string, string>>;
  readonly error?: string;
}

/** Folds calls, one active minute and one cent apart. */
function failuresOf(...steps: readonly Step[]): readonly FailedCall[] {
  const fold = new FailedCallsFold();
  for (const [index, { args = {}, error, tool = 'Bash' }] of steps.entries()) {
    const id = `c${index}`;
    const call = {
      id,
      number: index + 1,
      tool,
      args,
      seq: index,
      endSeq: index,
      startLost: false,
      resultMissing: false,
    };
    const spent = { activeMs: index * 60_000, costUsd: index / 100 };
    const payload = {
      kind: 'tool_ended',
      tool_call_id: id,
      tool_name: tool,
      result: '',
      is_error: error !== undefined,
    } as const;
    fold.fold(payload, { ...call, failed: error !== undefined }, { cause: error, atMs: 1, ...spent });
  }
  return fold.failures({ number: steps.length, activeMs: steps.length * 60_000, costUsd: steps.length / 100 });
}

test('a failure costs the calls, the time and the money until the same tool did something that worked', () => {
  const [failure] = failuresOf(
    { args: { command: 'cd /w && rtk bun run test 2>&1 | tail -5' }, error: "error: unrecognized subcommand 'bun'" },
    { tool: 'Read', args: { file_path: '/w/a.ts' } },
    { args: { command: 'bun run test' } },
  );
  expect(failure).toMatchObject({
    command: 'rtk bun run test',
    cause: "error: unrecognized subcommand '…'",
    number: 1,
    calls: 2,
  });
  expect(failure).toMatchObject({ ms: 120_000, costUsd: 0.02, worked: 'bun run test' });
});

test('names, paths, addresses and numbers are masked, so that one cause is one text', () => {
  const causes = ['File /w/src/a.ts does not exist (12).', 'File /home/b/main.go does not exist (7).'];
  const failures = failuresOf(...causes.map((error) => ({ tool: 'Read', args: { file_path: 'x' }, error })));
  expect(new Set(failures.map(({ cause }) => cause))).toEqual(new Set(['File PATH does not exist (#).']));
  expect(failures.map(({ worked }) => worked)).toEqual([undefined, undefined]);
});
