import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { anthropicCapabilities } from '../src/adapters/capabilities.ts';
import { googleGenAiCapabilities } from '../src/adapters/capabilities.ts';
import { langchainCapabilities } from '../src/adapters/capabilities.ts';
import { mastraCapabilities } from '../src/adapters/capabilities.ts';
import { openaiAgentsCapabilities } from '../src/adapters/capabilities.ts';
import { openaiCapabilities } from '../src/adapters/capabilities.ts';
import { DECISION_POINTS } from '../src/core/records/spoken-advice.ts';

/** The rows of a page's capability table, cells without their backticks. */
function rows(page: string): readonly (readonly string[])[] {
  const lines = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith('| point | persistence |'));
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

test.each([
  ['openai.md', openaiCapabilities],
  ['openai-agents.md', openaiAgentsCapabilities],
  ['langchain.md', langchainCapabilities],
  ['mastra.md', mastraCapabilities],
  ['anthropic.md', anthropicCapabilities],
  ['google-genai.md', googleGenAiCapabilities],
])('%s has the capabilities of its adapter, to the letter', (page, capabilities) => {
  const expected = DECISION_POINTS.map((point) => {
    const { persistence, timing, channel = '', note = '' } = capabilities[point];
    return [point, persistence, timing, channel, note];
  });
  expect(rows(page)).toEqual(expected);
});
