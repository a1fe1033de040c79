import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { claudeAgentSdkCapabilities } from '../src/adapters/capabilities.ts';
import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { DECISION_POINTS } from '../src/core/records/spoken-advice.ts';

const page = readFileSync(new URL('../docs/claude-agent-sdk.md', import.meta.url), 'utf8');

/** The rows of the capability table, cells without their backticks. */
function rows(): readonly (readonly string[])[] {
  const [, table = ''] = page.split('| point | persistence | timing | channel | |\n|---|---|---|---|---|\n');
  const [lines = ''] = table.split('\n\n');
  return lines.split('\n').map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
  );
}

test('the page of the Claude Agent SDK has the capabilities of the adapter, to the letter', () => {
  const expected = DECISION_POINTS.map((point) => {
    const { persistence, timing, channel = '', note = '' } = claudeAgentSdkCapabilities[point];
    return [point, persistence, timing, channel, note];
  });
  expect(rows()).toEqual(expected);
});

test('the page states the limit of a text that the adapter keeps', () => {
  const run = createCoxswain().startRun();
  expect(page).toContain('at most 9,000 characters');
  expect(() => claudeHooks(run, { maxChars: 9_000 })).not.toThrow();
  expect(() => claudeHooks(run, { maxChars: 9_001 })).toThrow('maxChars');
});
