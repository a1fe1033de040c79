import { expect, test } from 'vitest';

import { failureLine } from './failure-line.ts';

const OUTPUTS: readonly (readonly [runner: string, output: string, line: string])[] = [
  [
    'pytest',
    'E   assert 3 == 4\n=== short test summary info ===\nFAILED tests/test_sum.py::test_adds - assert 3 == 4\n1 failed in 0.1s',
    'test_adds - assert 3 == 4',
  ],
  [
    'unittest',
    'FAIL: test_adds (sum.SumTest)\n-----\nTraceback (most recent call last):\n  File "a.py", line 3\nAssertionError: 3 != 4\n\nFAILED (failures=1)',
    'test_adds: AssertionError: 3 != 4',
  ],
  [
    'Vitest',
    ' FAIL  src/sum.test.ts > sum > adds\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed (1)',
    'sum > adds: AssertionError: expected 3 to be 4',
  ],
  [
    'a file of Vitest',
    ' FAIL  src/sum.test.ts [ src/sum.test.ts ]\nError: no such module',
    'src/sum.test.ts: Error: no such module',
  ],
  [
    'Jest',
    'FAIL src/sum.test.ts\n  ● sum › adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3\n',
    'sum › adds: Expected: 4: Received: 3',
  ],
  [
    'Jest with an error',
    '  ● sum › adds\n\n    TypeError: a is not a function\n',
    'sum › adds: TypeError: a is not a function',
  ],
  [
    'Mocha',
    '    1) adds\n  1 passing\n  1 failing\n  1) sum\n       adds:\n\n      AssertionError: 3 is not 4\n',
    'adds: AssertionError: 3 is not 4',
  ],
  [
    'Playwright',
    '  1) [chromium] › e2e/a.spec.ts:3:5 › logs in ─────\n\n    Error: Timed out 5000ms waiting for a button\n',
    'e2e/a.spec.ts:3:5 › logs in: Error: Timed out 5000ms waiting for a button',
  ],
  [
    'Bun',
    'error: expected 3 to be 4\n  at a.ts\n(fail) sum > adds [0.2ms]\n\n 1 fail',
    'expected 3 to be 4: sum > adds',
  ],
  ['Bun through a filter', '[info] Task 2 failed: 84\n 114 fail', '114 fail'],
  [
    'node --test',
    '✖ failing tests:\n\ntest at a.test.js:1:2\n✖ adds (1.2ms)\n  AssertionError: 3 !== 4',
    'adds: AssertionError: 3 !== 4',
  ],
  [
    'go test',
    '--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3, want 4\nFAIL\nFAIL\ta/sum\t0.1s',
    'TestSum: sum_test.go:9: got 3, want 4',
  ],
  [
    'go test -v',
    '=== RUN   TestSum\n    sum_test.go:9: got 3, want 4\n--- FAIL: TestSum (0.00s)\nFAIL',
    'sum_test.go:9: got 3, want 4: TestSum',
  ],
  [
    'cargo test',
    "---- sum::adds stdout ----\nthread 'sum::adds' panicked at src/sum.rs:9:5:\nassertion `left == right` failed\n\ntest result: FAILED.",
    'sum::adds: assertion `left == right` failed',
  ],
  [
    'tsc',
    "src/a.ts(3,1): error TS2304: Cannot find name 'x'.\nmore",
    "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
  ],
  [
    'rustc',
    'error[E0308]: mismatched types\n --> src/a.rs:3:4\nerror: could not compile `a` due to 1 previous error',
    'mismatched types',
  ],
  [
    'ruff',
    'F821 Undefined name `io`\n   --> app/a.py:3:4\n    |\nFound 1 error.',
    'F821 Undefined name `io`: app/a.py:3:4',
  ],
  [
    'Biome',
    'src/a.css:2:2 parse ━━━━━━\n\n  × Tailwind-specific syntax is disabled.\n\nFound 6 errors.',
    'Tailwind-specific syntax is disabled.',
  ],
  [
    'go vet',
    'Exit code 1\n# a/b\nvet: cache/a.go:4:13: possible misuse of unsafe.Pointer',
    'vet: cache/a.go:4:13: possible misuse of unsafe.Pointer',
  ],
  [
    'javac',
    'C:\\My Work\\Pay.java:5: error: package x does not exist\nimport x;\n1 error',
    'C:\\My Work\\Pay.java:5: error: package x does not exist',
  ],
  [
    'ESLint',
    '/w/a.ts\n  1:2  warning  Unused  no-unused\n  3:4  error    Unexpected any  no-any\n\n✖ 2 problems',
    '3:4 error Unexpected any',
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
    'Error: listen "5173"',
  ],
  ['only a count', 'some words\n✖ 5 problems (5 errors, 0 warnings)', '✖ 5 problems (5 errors, 0 warnings)'],
];

test.each(OUTPUTS)('the line of a failure of %s says what is wrong', (_runner, output, line) => {
  expect(failureLine(output)).toBe(line);
});

test('an output without words of a failure has no line', () => {
  expect(failureLine('it broke')).toBeUndefined();
});
