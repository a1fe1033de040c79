import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { noEffectDetector } from './no-effect.ts';

const page = (title: string, at: number): string =>
  `- heading "${title}" [ref=e${at}]\n- textbox "Name" [ref=e${at + 1}]\n- button "Next" [ref=e${at + 2}]`;
const click = (at: number, title: string, element = 'Next'): ScriptedCall => ({
  tool: 'browser_click',
  args: { element, ref: `e${40 + 7 * at}` },
  result: page(title, 40 + 7 * at),
});

test('an action that leaves the screen as it is, is flagged at the third, whatever the references are', () => {
  expect(
    firstFlag(
      noEffectDetector(),
      times(4, (at) => click(at, 'Address')),
    ),
  ).toBe(2);
});

test('four different actions without an effect are flagged', () => {
  const buttons = ['Save', 'Next', 'Back', 'Menu', 'Help'];
  expect(
    firstFlag(
      noEffectDetector(),
      times(6, (at) => click(at, 'Address', buttons[at] ?? 'Next')),
    ),
  ).toBe(4);
});

test('a list with a way back, a walk, and actions whose result does not show the screen are not flagged', () => {
  const visit = (at: number): ScriptedCall =>
    at % 2 === 0 ? click(at, `Item ${'abcdefgh'[at]}`) : click(at, 'List', 'Back');
  expect(firstFlag(noEffectDetector(), times(8, visit))).toBeNull();
  expect(
    firstFlag(
      noEffectDetector(),
      times(8, (at) => click(at, `Page ${'abcdefgh'[at]}`)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      noEffectDetector(),
      times(8, (at) => ({ ...click(at, ''), result: 'clicked' })),
    ),
  ).toBeNull();
  const told = (at: number): ScriptedCall =>
    at % 2 === 0 ? click(at, 'Address') : { tool: 'read', args: { at }, result: `${at} x` };
  expect(firstFlag(noEffectDetector(), times(8, told))).toBeNull();
});
