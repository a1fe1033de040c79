import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { sameRefusalDetector } from './same-refusal.ts';

const TOOLS = ['get_order', 'list_orders', 'get_customer'];

function refused(at: number): ScriptedCall {
  const tool = TOOLS[at % TOOLS.length] ?? '';
  const id = `W-${1_000 + at}`;
  return {
    tool,
    args: { id },
    result: `The backend is in maintenance, ${tool} of "${id}" was not carried out (trace ${7 * at}).`,
  };
}

test('the same answer of several tools is flagged at the third, whatever the calls name', () => {
  expect(firstFlag(sameRefusalDetector(), times(3, refused))).toBe(2);
});

test('an answer of one tool, of one turn, or with a user in between is not flagged', () => {
  const one = (at: number): ScriptedCall => ({ ...refused(3 * at) });
  expect(firstFlag(sameRefusalDetector(), times(6, one))).toBeNull();
  expect(
    firstFlag(
      sameRefusalDetector(),
      times(6, (at) => ({ ...refused(at), turn: Math.floor(at / 3) })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      sameRefusalDetector(),
      times(6, (at) => ({ ...refused(at), userBefore: at % 2 === 0 })),
    ),
  ).toBeNull();
});

test('acknowledgements, short answers, drawings and other answers are not flagged', () => {
  const results = ['The order was created successfully', 'not now', '#### ..@. ####\n#.. row one two'.repeat(3)];
  for (const result of results)
    expect(
      firstFlag(
        sameRefusalDetector(),
        times(6, (at) => ({ ...refused(at), result })),
      ),
    ).toBeNull();
  const words = 'open paid sent late lost found'.split(' ');
  const other = (at: number): ScriptedCall => ({ ...refused(at), result: `The state of this order is ${words[at]}` });
  expect(firstFlag(sameRefusalDetector(), times(6, other))).toBeNull();
});
