import { expect, test } from 'vitest';

import { defaultDetectors } from '../detect/detectors/default-detectors.ts';
import { scriptRun } from '../../../test/support/script-records.ts';
import { errorLineOf } from './run-call.ts';
import { RunView } from './run-view.ts';

test('the line of a refusal has the path that the person is to allow, and that of a failure none that changes', () => {
  const lineOf = (result: string, isRefused: boolean): string | undefined => {
    const view = new RunView({ detectors: defaultDetectors() });
    const lines = scriptRun('r', [
      { kind: 'tool_started', tool_call_id: 'c', tool_name: 'Write', args: { file_path: 'build' } },
      {
        kind: 'tool_ended',
        tool_call_id: 'c',
        tool_name: 'Write',
        is_error: true,
        result,
        ...(isRefused ? { outcome: 'refused' } : {}),
      },
    ]).map((record) => {
      const call = view.fold(record);
      return call && errorLineOf(call, record);
    });
    return lines.at(-1);
  };
  const refusal = "Claude requested permissions to write to /tmp/s2/shop/build, but you haven't granted it yet.";
  expect(lineOf(refusal, true)).toBe(refusal);
  expect(lineOf('Error: cannot open /tmp/s2/shop/build', false)).toBe('Error: cannot open /tmp/~');
});
