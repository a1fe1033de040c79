import { expect, test } from 'vitest';

import { present } from '../src/core/base/json.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { CHOICES } from '../src/core/records/shapes.ts';
import type { TrajectoryPattern } from '../src/core/records/trajectory-pattern.ts';
import { renderFeedback } from '../src/core/steering/feedback/check-draft.ts';
import { FACT_REMEDIES, patternSentences } from '../src/core/steering/feedback/pattern-feedback.ts';
import { DETECTORS } from '../src/core/detect/detectors/default-detectors.ts';

// The record has exactly these keys.
const FACTS = Object.keys(FACT_REMEDIES) as (keyof typeof FACT_REMEDIES)[];

interface Call {
  readonly tool?: string;
  readonly args?: unknown;
  readonly result: string;
  readonly fails?: boolean;
}

/** The advice of a run with the standard steering, evaluated after each call and before each turn. */
function adviceFor(calls: readonly Call[]): readonly string[] {
  // A busy machine must not look like a slow provider.
  const run = createCoxswain({ measureMs: () => 0 }).startRun();
  return calls.flatMap(({ tool = 'bash', args = { command: 'npm test' }, result, fails = false }, index) => {
    const toolCallId = `call-${index}`;
    const before = run.advise('pre_tool_selection');
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: tool, args });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: tool, result, isError: fails });
    return [...before, ...run.advise('post_tool_result')].map(({ text }) => text);
  });
}

const times = (count: number, call: (index: number) => Call): readonly Call[] =>
  Array.from({ length: count }, (_, index) => call(index));

test('an agent that reads one thing a turn, or all at once, hears nothing', () => {
  const read = (index: number): Call => ({ tool: 'read_file', args: { path: `${index}.ts` }, result: `part ${index}` });
  expect(adviceFor(times(30, read))).toEqual([]);
});

test('three different errors in a shell are no reason to send it to its logs', () => {
  const errors = ['port 80 is taken', 'no route to host', 'disk is full'];
  expect(adviceFor(errors.map((result) => ({ result, fails: true })))).toEqual([]);
});

test('advice about a tool that keeps failing names the calls, their number and the class of the result, and recommends no tool', () => {
  const broken = (index: number): Call => ({
    tool: 'Grep',
    args: { pattern: `needle ${index}` },
    result: 'spawn rg ENOENT: ripgrep is not installed',
    fails: true,
  });
  const texts = adviceFor(times(8, broken));
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain('4 calls of Grep failed in the same way (calls 1 to 4). Last result: not-found error.');
  expect(texts[0]).not.toMatch(/\b(?:use|consult|call) (?:the )?\w+ tool\b|console|planning|view_logs|request_review/i);
});

test.each([
  ['bash', "# Let's print it. python3 -c 'print(1)'", '', 'The whole command is a comment'],
  [
    'bash',
    "find . -printf '%t %p' | xargs ls",
    "ls: cannot access 'May': No such file or directory",
    'run the part that',
  ],
  [
    'bash',
    'find x* -name a* | wc -l',
    'find: paths must precede expression: b\n0',
    'A program in the command may have failed',
  ],
  ['python', 'def area(r): return r', 'Failed 3/3 Test Cases. Please try again.', 'Change the name, arguments or form'],
  ['submit', 'flag{x}', 'Wrong flag!', 'Change the name, arguments or form'],
  ['bash', "df / | awk 'fnr == 2'", '', 'If an empty result cannot be right'],
  ['bash', `echo "${'2 '.repeat(400)}`, 'bash: line 1: syntax error: unexpected end of file', 'Run a short part'],
  ['bash', 'cat notes.txt', 'one\ntwo', 'answers the task, finish'],
])('%s %j with the result %j gets the way out that fits: %s', (tool, input, result, wayOut) => {
  const fails = /cannot access|Wrong|syntax/.test(result);
  expect(adviceFor(times(3, () => ({ tool, args: { input }, result, fails }))).join()).toContain(wayOut);
});

test('a long run in which everything repeats hears at most one piece in 50 calls, and six in all', () => {
  // Each tool is a separate loop.
  const loops = times(600, (index) => ({ tool: `tool_${Math.floor(index / 5)}`, result: 'the same', fails: true }));
  expect(adviceFor(loops.slice(0, 150)).length).toBeLessThanOrEqual(3);
  expect(adviceFor(loops)).toHaveLength(6);
});

test('the longest text about any pattern and any answer stays below 300 characters', () => {
  for (const kind of Object.keys(DETECTORS)) {
    for (const answer of CHOICES.answer_class) {
      const pattern: TrajectoryPattern = {
        kind,
        identity: kind,
        stuck: true,
        level: 'warn',
        confidence: 0.75,
        answer,
        evidence: [99_997, 99_998, 99_999],
        firstSeen: 99_997,
        flaggedAt: 0,
        occurrences: 999,
      };
      for (const fact of [undefined, ...FACTS]) {
        const sentences = patternSentences(pattern, { tool: 'm'.repeat(40), ...present({ fact }) });
        const text = renderFeedback({ providerName: 'Pattern', observations: [], ...sentences });
        expect([kind, answer, fact, text.length < 300 ? 'short' : text]).toEqual([kind, answer, fact, 'short']);
      }
    }
  }
});
