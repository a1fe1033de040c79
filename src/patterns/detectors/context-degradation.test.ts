import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import { contextDegradationDetector } from './context-degradation.ts';

const read = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `f${at % 4}` }, result: `text ${at % 4}` });

test('the eighth re-read of something unchanged is flagged', () => {
  expect(firstFlag(contextDegradationDetector(), times(12, read))).toBe(11);
  expect(firstFlag(contextDegradationDetector(), times(11, read))).toBeNull();
});

test('re-reading something that was changed is not flagged', () => {
  const write = (at: number): ScriptedCall => ({ tool: 'write', args: { path: 'f', content: `${at}` }, result: 'ok' });
  expect(
    firstFlag(
      contextDegradationDetector(),
      times(60, (at) => (at % 3 === 0 ? write(at) : read(at))),
    ),
  ).toBeNull();
});

test('an edit that undoes an earlier one is a hint', () => {
  const edit = (from: string, to: string): ScriptedCall => ({
    tool: 'edit',
    args: { path: 'f', old_string: from, new_string: to },
    result: 'ok',
  });
  const { analysis } = scriptedRun([edit('a', 'b'), edit('b', 'a')], { detectors: [contextDegradationDetector()] });
  expect(analysis.patterns()).toMatchObject([{ level: 'hint', stuck: false, evidence: [0, 1] }]);
});
