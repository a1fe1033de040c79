import { expect, test } from 'vitest';

import { failureLine } from './failure-line.ts';

const OUTPUTS: readonly (readonly [runner: string, output: string, line: string])[] = [
  [
    'Mix',
    'Compiling 1 file (.ex)\n** (UndefinedFunctionError) function System.fetch_env/0 is undefined or private. Did you mean:\n\n    * fetch_env/1',
    'function System.fetch_env/0 is undefined or private',
  ],
  [
    'Credo',
    '┃ [W] → There is no such module.\n┃       lib/a.ex:3\n\nfound 1 warning.',
    'lint: There is no such module',
  ],
  [
    'pnpm',
    '> node --run lockfile:check\n✗ Lockfile failed its check (316 entries)\n ELIFECYCLE  failed',
    'Lockfile failed its check (316 entries)',
  ],
  [
    'pytest',
    'E   assert 3 == 4\n=== short test summary info ===\nFAILED tests/test_sum.py::test_adds - assert 3 == 4\n1 failed in 0.1s',
    'assert 3 == 4 in test_adds',
  ],
  [
    'unittest',
    'FAIL: test_adds (sum.SumTest)\n-----\nTraceback (most recent call last):\n  File "a.py", line 3\nAssertionError: 3 != 4\n\nFAILED (failures=1)',
    '3 != 4 in test_adds',
  ],
  [
    'Vitest',
    ' FAIL  src/sum.test.ts > sum > adds\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed (1)',
    'expected 3 to be 4 in sum > adds',
  ],
  [
    'a file of Vitest',
    ' FAIL  src/sum.test.ts [ src/sum.test.ts ]\nError: no such module',
    'no such module in src/sum.test.ts',
  ],
  [
    'Jest',
    'FAIL src/sum.test.ts\n  ● sum › adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3\n',
    'Expected: 4, Received: 3',
  ],
  [
    'Jest with an error',
    '  ● sum › adds\n\n    TypeError: a is not a function\n',
    'TypeError: a is not a function in sum › adds',
  ],
  [
    'Mocha',
    '    1) adds\n  1 passing\n  1 failing\n  1) sum\n       adds:\n\n      AssertionError: 3 is not 4\n',
    '3 is not 4 in adds',
  ],
  [
    'Playwright',
    '  1) [chromium] › e2e/a.spec.ts:3:5 › logs in ─────\n\n    Error: Timed out 5000ms waiting for a button\n',
    'Timed out 5000ms waiting for a button in e2e/a.spec.ts:3:5 › logs in',
  ],
  [
    'Bun',
    'error: expected 3 to be 4\n  at a.ts\n(fail) sum > adds [0.2ms]\n\n 1 fail',
    'expected 3 to be 4 in sum > adds',
  ],
  ['Bun through a filter', '[info] Task 2 failed: 84\n 114 fail', '114 fail'],
  [
    'node --test',
    '✖ failing tests:\n\ntest at a.test.js:1:2\n✖ adds (1.2ms)\n  AssertionError: 3 !== 4',
    '3 !== 4 in adds',
  ],
  [
    'go test',
    '--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3, want 4\nFAIL\nFAIL\ta/sum\t0.1s',
    'got 3, want 4 in TestSum',
  ],
  [
    'go test -v',
    '=== RUN   TestSum\n    sum_test.go:9: got 3, want 4\n--- FAIL: TestSum (0.00s)\nFAIL',
    'got 3, want 4 in TestSum',
  ],
  [
    'cargo test',
    "---- sum::adds stdout ----\nthread 'sum::adds' panicked at src/sum.rs:9:5:\nassertion `left == right` failed\n\ntest result: FAILED.",
    'assertion `left == right` failed in sum::adds',
  ],
  ['tsc', "src/a.ts(3,1): error TS2304: Cannot find name 'x'.\nmore", "Cannot find name 'x' in src/a.ts(3,1)"],
  [
    'rustc',
    'error[E0308]: mismatched types\n --> src/a.rs:3:4\nerror: could not compile `a` due to 1 previous error',
    'mismatched types in src/a.rs:3:4',
  ],
  [
    'ruff',
    'F821 Undefined name `io`\n   --> app/a.py:3:4\n    |\nFound 1 error.',
    'lint: Undefined name `io` in app/a.py:3:4',
  ],
  [
    'Biome',
    'src/a.css:2:2 parse ━━━━━━\n\n  × Tailwind-specific syntax is disabled.\n\nFound 6 errors.',
    'lint: Tailwind-specific syntax is disabled in src/a.css:2:2',
  ],
  [
    'go vet',
    'Exit code 1\n# a/b\nvet: cache/a.go:4:13: possible misuse of unsafe.Pointer',
    'possible misuse of unsafe.Pointer in cache/a.go:4:13',
  ],
  [
    'javac',
    'C:\\My Work\\Pay.java:5: error: package x does not exist\nimport x;\n1 error',
    'package x does not exist in C:\\My Work\\Pay.java:5',
  ],
  [
    'ESLint',
    '/w/a.ts\n  1:2  warning  Unused  no-unused\n  3:4  error    Unexpected any  no-any\n\n✖ 2 problems',
    'lint: Unexpected any',
  ],
  ['golangci-lint', 'level=info msg="no error"\nlevel=error msg="no go files to analyze"', 'no go files to analyze'],
  ['a missing program', '\n> a@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found\n', 'sh: 1: vitest: not found'],
  [
    'ESLint that breaks',
    'Oops! Something went wrong! :(\n\nTypeError: a is undefined\n    at a.js',
    'TypeError: a is undefined',
  ],
  [
    'an older Codex',
    '{"output":"\\n> test\\nError: listen \\"5173\\"\\n","metadata":{"exit_code":1}}',
    'listen "5173"',
  ],
  [
    'svelte-check',
    '1782594313557 ERROR "src/a.svelte" 193:4 "Type \'x(\\"y\\")\' is not assignable.\\n  Type"',
    'Type \'x("y")\' is not assignable in src/a.svelte',
  ],
  [
    'flutter analyze',
    "warning • 'x' isn't a recognized lint rule • a.yaml:51:7 • undefined_lint",
    "lint: 'x' isn't a recognized lint rule in a.yaml:51:7",
  ],
  [
    'Prettier',
    'Checking formatting...\n[warn] src/a.ts\n[warn] Code style issues found in the above file.',
    'Code style issues in src/a.ts',
  ],
  [
    'ExUnit',
    '  1) test adds (App.SumTest)\n     test/sum_test.exs:3\n     Assertion with == failed\n     left: 3',
    'Assertion with == failed in adds',
  ],
  [
    'node:assert',
    '  1) sum\n       adds:\n\n      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n4 !== 2\n',
    'Expected values to be strictly equal: 4 !== 2 in adds',
  ],
  ['Vitest without a message', ' FAIL  a.test.ts > A > B > adds up\n FAIL  a.test.ts > A > C\n', 'failed: adds up'],
  ['a count of two', ' Test Files  1 failed (1)\n      Tests  3 failed | 40 passed (43)\n', '3 failed, 40 passed'],
  [
    'Playwright with codes of a terminal',
    '[1A[2K  25 failed\n    a.spec.ts\n  56 passed (1.1m)',
    '25 failed, 56 passed',
  ],
  [
    'make',
    'make build-styles\nSpecified input file `a.css` does not exist.\nmake[1]: *** [build-styles] Error 1\nmake: *** [build] Error 2',
    'Specified input file `a.css` does not exist',
  ],
  [
    'JSON round the output',
    JSON.stringify({ result: JSON.stringify({ stdout: 'src/a.ts(6,10): error TS2305: No member.\n', exitCode: 2 }) }),
    'No member in src/a.ts(6,10)',
  ],
  ['only a count', 'some words\n✖ 5 problems (5 errors, 0 warnings)', '✖ 5 problems (5 errors, 0 warnings)'],
];

test.each(OUTPUTS)('the line of a failure of %s says what is wrong', (_runner, output, line) => {
  expect(failureLine(output)).toBe(line);
});

test('an output that says only that something failed has no line', () => {
  const empty = ['it broke', ' ELIFECYCLE  Command failed with exit code 1.', 'Build FAILED.\n    0 Error(s)'];
  for (const output of [...empty, 'make: *** [a] Error 2']) expect(failureLine(output)).toBeUndefined();
});
