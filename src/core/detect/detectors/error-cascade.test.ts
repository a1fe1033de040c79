import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { errorCascadeDetector } from './error-cascade.ts';

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'];
const fail = (at: number, tool = `tool${at % 2}`): ScriptedCall => ({
  tool,
  args: { at },
  result: `${WORDS[at % 7] ?? ''} went wrong: ${WORDS[(at * 3) % 7] ?? ''} failed`,
  isError: true,
});

test('six failing turns in a row over two tools are flagged, five are not', () => {
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(6, (at) => fail(at)),
    ),
  ).toBe(5);
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(5, (at) => fail(at)),
    ),
  ).toBeNull();
});

test('different errors of one tool are not flagged, because a script is being written', () => {
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(7, (at) => fail(at, 'python')),
    ),
  ).toBeNull();
});

test('legitimate runs that look similar are not flagged', () => {
  const success: ScriptedCall = { tool: 'read', args: {}, result: 'text' };
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(12, (at) => (at % 4 === 3 ? success : fail(at))),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(7, (at) => ({ ...fail(at), turn: 0 })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(9, (at) => ({ ...fail(at), result: '' })),
    ),
  ).toBeNull();
});

test('one tool that fails differently each time is searching, and one error is no row of failures unless it comes back after others', () => {
  const decode = (at: number, byte: number): ScriptedCall => ({
    tool: 'convert',
    args: { encoding: `e${at}` },
    result: `UnicodeDecodeError: codec cannot decode byte in position ${byte}`,
    isError: true,
  });
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(6, (at) => decode(at, at * 100)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(12, (at) => decode(at, 7)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      errorCascadeDetector(),
      times(6, (at) => decode(at, at % 2)),
    ),
  ).toBe(5);
});

test('a transfer that fails repeatedly but gets further each time is not a cascade', () => {
  const left = [1_705_196_064, 1_514_491_819, 1_302_474_564, 1_075_174_010, 867_589_624, 673_999_131, 478_291_767];
  const get = (at: number): ScriptedCall => ({
    tool: 'bash',
    args: { command: 'curl -C - -O https://scenes.example/a.zip' },
    result: `curl: (18) transfer closed with ${left[at] ?? 0} bytes remaining to read`,
    isError: true,
  });
  expect(firstFlag(errorCascadeDetector(), times(7, get))).toBeNull();
});
