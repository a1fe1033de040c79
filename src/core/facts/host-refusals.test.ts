import { expect, test } from 'vitest';

import { CANCELLATIONS, FAILURES, REFUSALS } from '../../../test/support/refusals.ts';
import type { ToolEnded } from '../records/trajectory-record.ts';
import { hostOutcome, refuserOf, unrunOutcome, withHostOutcome } from './host-refusals.ts';

const ended = (more: Partial<ToolEnded>): ToolEnded => ({
  kind: 'tool_ended',
  tool_call_id: '1',
  tool_name: 'Bash',
  result: '',
  is_error: true,
  ...more,
});

test.each(REFUSALS)('the text of $host for a refused call is recognised: $text', ({ host, text }) => {
  expect(hostOutcome(text)).toBe('refused');
  expect(hostOutcome(text, host)).toBe('refused');
  expect(hostOutcome([{ type: 'text', text }])).toBe('refused');
});

test.each(CANCELLATIONS)('the text of $host for a cancelled call is recognised: $text', ({ text }) => {
  expect(hostOutcome(text)).toBe('cancelled');
});

test.each(FAILURES)('a failure stays a failure: %s', (text) => {
  expect(withHostOutcome(ended({ result: text }))).toEqual(ended({ result: text }));
});

test.each(REFUSALS)('a successful result that quotes a text of $host is not a refusal: $text', ({ text }) => {
  const payload = ended({ result: text, is_error: false });
  expect(withHostOutcome(payload)).toEqual(payload);
});

test('a failed result that quotes such a text after its own words is not a refusal', () => {
  const quoting = REFUSALS.filter(({ text }) => !text.includes('sandbox_violations'));
  for (const { text } of quoting) expect(hostOutcome(`Exit code 1\nnotes.md: ${text}`)).toBeUndefined();
});

test('an error that was only inferred from the text is not a refusal', () => {
  const payload = ended({ result: 'Tool "bash" is denied.', error_inferred: true });
  expect(withHostOutcome(payload)).toEqual(payload);
});

test('an outcome of the source has precedence, and agrees with the error flag', () => {
  expect(withHostOutcome(ended({ outcome: 'refused', is_error: false, result: 'not today' }))).toEqual(
    ended({ outcome: 'refused', result: 'not today' }),
  );
  expect(withHostOutcome(ended({ outcome: 'failed', result: 'This command requires approval' }))).toEqual(
    ended({ result: 'This command requires approval' }),
  );
  expect(withHostOutcome(ended({ outcome: 'ok' }))).toEqual(ended({ is_error: false }));
});

test('a call that was announced and did not run was refused, unless it was invalid or cancelled', () => {
  expect(unrunOutcome('any words of a person')).toBe('refused');
  expect(unrunOutcome('[Request interrupted by user for tool use]')).toBe('cancelled');
  expect(hostOutcome('Interrupted by user', 'claude-code')).toBe('cancelled');
  expect(unrunOutcome('<tool_use_error>InputValidationError: missing path</tool_use_error>')).toBeUndefined();
});

test('a refusal names a person or a rule only if its text does', () => {
  expect(refuserOf("The user doesn't want to proceed with this tool use.")).toBe('you');
  expect(refuserOf('exec command rejected by user')).toBe('you');
  expect(refuserOf('PreToolUse:Bash hook error: no')).toBe('a rule');
  expect(refuserOf('`rm -rf a` rejected: blocked by policy')).toBe('a rule');
  expect(refuserOf('Claude requested permissions to use Bash')).toBeUndefined();
});
