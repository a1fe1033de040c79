import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aiSdkCapabilities } from '../src/adapters/capabilities.ts';
import { DECISION_POINTS } from '../src/core/records/spoken-advice.ts';

const page = readFileSync(new URL('../docs/ai-sdk.md', import.meta.url), 'utf8');

/** The rows of the capability table, cells without their backticks. */
function rows(): readonly (readonly string[])[] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith('| point | persistence |'));
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

test('the page of the AI SDK has the capabilities of the adapter, to the letter', () => {
  const expected = DECISION_POINTS.map((point) => {
    const { persistence, timing, channel = '', note = '' } = aiSdkCapabilities[point];
    return [point, persistence, timing, channel, note];
  });
  expect(rows()).toEqual(expected);
});
