import { expect, test } from 'vitest';
import { makeStep } from '../patterns/step.ts';
import { answerCodesOf } from './shell-command.ts';

test.each([
  ['grep -rn x src', [1]],
  ['cd /repo && grep x a.txt', [1]],
  ['npm test 2>&1 | grep -i error', [1]],
  ['cat a.txt; diff a b', [1]],
  ['which a || which b', [1]],
  ['bash -lc "grep -n x a.txt"', [1]],
  ['[ -f a.txt ]', [1]],
  ['[[ -f a.txt ]] && cat a.txt', [1]],
  ['test -f a.txt && echo yes', [1]],
  ['! grep -q x a.txt', [1]],
  ['command -v ninja', [1]],
  ['git diff --exit-code', [1]],
  ['git --no-pager diff --quiet HEAD', [1]],
  ['git grep -n x', [1]],
  ['git merge-base --is-ancestor a b', [1]],
  ['find . -name "*.py" | xargs grep x', [1, 123]],
  ['systemctl is-active nginx', [1, 3, 4]],
  ['for f in a b; do cmp $f c; done', [1]],
  ['timeout 10 rg x', [1]],
  ['if true; then grep x a; fi', [1]],
  ['(cd src; grep x a)', [1]],
])('%j answers with %j', (line, codes) => {
  expect(answerCodesOf(line)).toEqual(codes);
});

test.each([
  'make',
  'make && grep x a.txt',
  'npm test',
  'git diff',
  'grep x a.txt; python run.py',
  'grep x a.txt && python run.py',
  'set -o pipefail; make | grep x',
  'grep x a || python run.py',
  'ls missing',
  'bin/test sympy/core',
  './find x',
])('no exit code of %j is an answer', (line) => {
  expect(answerCodesOf(line)).toEqual([]);
});

/** What a harness makes of a program that printed nothing and ended with 1. */
const NOTHING_AND_1: Readonly<Record<string, string | object>> = {
  'JSON with a placeholder': '{"output": "(no output)", "exit_code": 1}',
  'JSON without output': '{"stdout":"","stderr":"","returncode":1}',
  'an object': { output: '(no output)', metadata: { exit_code: 1 } },
  'an MCP server': { content: [{ type: 'text', text: '{"output": "(no output)", "exit_code": 1}' }], isError: false },
  'mini-SWE-agent': '<returncode>1</returncode>\n<output>\n</output>',
  'elements, the code last': '<output>(no output)</output>\n<exit_code>1</exit_code>',
  'elements, two streams': '<stdout></stdout>\n<stderr></stderr>\n<exit_code>1</exit_code>',
  'Claude Code': 'Exit code 1',
  'Claude Code with a placeholder': 'Exit code 1\n(Bash completed with no output)',
  OpenHands: '[The command completed with exit code 1.]\n[Current working directory: /w]',
  'SWE-agent':
    'Your command ran successfully and did not produce any output.\n[The command completed with exit code 1.]',
  Codex: 'Exit code: 1\nWall time: 0.1 seconds\nOutput:\n',
  'Gemini CLI':
    'Command: x\nDirectory: (root)\nStdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)',
  pi: '(no output)\n\nCommand exited with code 1',
  deepagents: '<no output>\n[Command failed with exit code 1]',
  'Copilot CLI': '\n<exited with exit code 1>',
  Python: "Command 'grep x a.txt' returned non-zero exit status 1.",
};

function stepOf(command: string, result: string | object, isError: boolean): ReturnType<typeof makeStep> {
  const args = { command };
  // The results above are JSON.
  const call = { index: 0, turn: 0, atMs: 0, tool: 'Bash', args, result: result as string, resultMissing: false };
  return makeStep({ ...call, isError }, {});
}

test.each(Object.entries(NOTHING_AND_1))('a search that finds nothing has not failed: %s', (_name, result) => {
  for (const isError of [false, true]) {
    const step = stepOf('cd /w && grep -rn x src', result, isError);
    expect(step).toMatchObject({ outcome: 'ok', empty: true });
    expect(step.failure).toBeUndefined();
  }
});

test.each([
  '(no output)',
  '<output>(no output)</output>',
  '<output></output>',
  'Tool ran without output or errors',
  'No matches found',
  '[]',
  '{}',
  '',
])('what a harness says for nothing is an answer of a program whose 1 means no: %j', (output) => {
  const programs = [
    'grep x a',
    'rg x',
    'which x',
    'diff a b',
    'cmp a b',
    'test -f a',
    'pgrep x',
    'git diff --exit-code',
  ];
  for (const program of programs) {
    expect(stepOf(program, { output, exit_code: 1 }, true)).toMatchObject({ outcome: 'ok' });
    expect(stepOf(program, JSON.stringify({ output, exit_code: 1 }), false)).toMatchObject({ outcome: 'ok' });
  }
});

test.each(Object.entries(NOTHING_AND_1))(
  'a program that ends with 1 has failed without a cause: %s',
  (_name, result) => {
    expect(stepOf('python run.py', result, false).failure?.category).toBe('silent');
  },
);

test('a difference that is shown is an answer, and a message of the program is a failure', () => {
  expect(stepOf('diff a b', '{"output": "1c1\\n< x\\n---\\n> y", "exit_code": 1}', true).failure).toBeUndefined();
  expect(
    stepOf('diff a b', '{"output": "diff: a: No such file or directory", "exit_code": 2}', false).failure,
  ).toBeDefined();
  expect(
    stepOf('cd /nowhere && grep x a', 'Exit code 1\nbash: cd: /nowhere: No such file or directory', true).failure,
  ).toBeDefined();
});
