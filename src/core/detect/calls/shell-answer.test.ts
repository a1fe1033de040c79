import { expect, test } from 'vitest';

import { shellAnswer } from './shell-answer.ts';

test.each([
  ['{"output":"a\\nb","metadata":{"exit_code":1,"duration_seconds":0.3}}', 'a\nb', 1],
  [
    'failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 128, stdout: [main 5] a, stderr: fatal',
    '[main 5] a\nfatal',
    128,
  ],
  [
    'failed in sandbox LinuxSeccomp with execution error: Denied { output: ExecToolCallOutput { exit_code: 1, stdout: StreamOutput { text: "", truncated_after_lines: None }, stderr: StreamOutput { text: "no", truncated_after_lines: None } } }',
    'no',
    1,
  ],
  [{ stdout: 'a', stderr: 'b', exit_code: 0 }, 'a\nb', 0],
  [{ stdout: '', stderr: '', returncode: 2 }, '', 2],
  ['Exit code: 1\nWall time: 0.2 seconds\nOutput:\nx failed\n', 'x failed\n', 1],
  ['<returncode>1</returncode>\n<output>\nx failed\n</output>', 'x failed', 1],
  [
    'Command: make\nDirectory: (root)\nStdout: a\nb\nStderr: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 417',
    'a\nb',
    0,
  ],
  [
    'Command: make\nDirectory: src\nStdout: (empty)\nStderr: no rule\nto make\nError: (none)\nExit Code: 2\nSignal: (none)',
    'no rule\nto make',
    2,
  ],
  ['Command: ls\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: (none)', 'a', 0],
  [
    'Chunk ID: 5a952d\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 3\nOutput:\nx failed\n',
    'x failed\n',
    2,
  ],
  ['Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n', '', 1],
  [
    "Command: /bin/zsh -lc 'rg x\nrg y'\nChunk ID: 1f\nWall time: 0.0 seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\nno",
    'no',
    1,
  ],
  [
    'Chunk ID: f2c\nWall time: 0.3 seconds\nProcess running with session ID 2\nOriginal token count: 0\nOutput:\na',
    'a',
    0,
  ],
  ['x failed\n<shellId: 0 completed with exit code 3>', 'x failed', 3],
  ['\n<shellId: 1 completed with exit code 3>', '', 3],
  ['x failed\n<exited with exit code 1>', 'x failed', 1],
  ['<untrusted_context>\nOutput: a\nb\nExit Code: 1\nProcess Group PGID: 4081\n</untrusted_context>', 'a\nb', 1],
  ['Error: Exit code 1\nx failed', 'x failed', 1],
  ['Exit code 1\nx failed', 'x failed', 1],
  ['Exit code 1', '', 1],
  [
    'a\n\n[The command completed with exit code 2.]\n[Current working directory: /w]\n[Python interpreter: /p]\n[Command finished with exit code 2]',
    'a\n',
    2,
  ],
  ['[The command completed with exit code 0.]\n[Current working directory: /w]\n', '', 0],
  ['waiting\n[The command completed with exit code -1.]', 'waiting', 0],
  ['{"stdout":"","exitCode":127,"stderr":"sh: x: not found"}', 'sh: x: not found', 127],
])('what was printed and how it ended is read from %j', (result, text, exitCode) => {
  expect(shellAnswer(result)).toEqual({ text, exitCode });
});

test.each([
  'plain text with "exit_code": 1',
  '{"exit_code": 1',
  'Exit code: 1 is what make gives',
  'Exit code 1 is what make gives',
  '[1, 2, 3]',
  '[a]\n[b]\n',
  'Command: ls\nis how files are listed',
  '{"exit_code": 1, "orders": []}',
  { output: 'a' },
  { output: 'a', exit_code: 'none' },
  ['{"output":"a","exit_code":0}'],
  null,
])('%j is no such answer', (result) => {
  expect(shellAnswer(result)).toBeUndefined();
});
