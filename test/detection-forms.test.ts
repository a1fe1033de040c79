import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { isJsonObject } from '../src/core/base/json.ts';
import { readCases, scoreScenario, totalOf, type ScoreTotal } from './support/score-scenarios.ts';

/** Failures that only words report; the exit code of 0 in some forms contradicts them. */
const REPORTED_BY_WORDS: ReadonlySet<unknown> = new Set(['pos-ffmpeg-nothing-encoded', 'pos-ctf-wrong-flag-guesses']);

const cases = readCases(fileURLToPath(new URL('cases', import.meta.url))).filter(
  ({ document }) => document['set'] === 'heldout' && !REPORTED_BY_WORDS.has(document['id']),
);
const SHELL = /bash|shell|exec|terminal/i;

/** The part of a labelled call that a form changes. */
interface Call {
  readonly tool: string;
  readonly args: unknown;
  readonly text: string;
  readonly isError: boolean;
  readonly index: number;
}

/** The forms in which harnesses return a result, and the flag if they have none. */
const FORMS: Readonly<Record<string, (call: Call) => Readonly<Record<string, unknown>>>> = {
  'parts of content': ({ text }) => ({ result: [{ type: 'text', text }] }),
  'JSON with an exit code and no flag': ({ text, isError, index }) => ({
    isError: false,
    result: JSON.stringify({
      output: text,
      metadata: { exit_code: isError ? 1 : 0, duration_seconds: (index % 7) / 10 },
    }),
  }),
  'an exit code and a time above the output': ({ text, isError, index }) => ({
    isError: false,
    result: `Exit code: ${isError ? 1 : 0}\nWall time: ${(index % 9) / 10} seconds\nOutput:\n${text}`,
  }),
  'sections, of a shell': ({ tool, text, isError, index }) =>
    SHELL.test(tool)
      ? {
          isError: false,
          result: `Command: x\nDirectory: (root)\nStdout: ${text}\nStderr: (empty)\nError: (none)\nExit Code: ${isError ? 1 : 0}\nSignal: (none)\nProcess Group PGID: ${4_000 + 7 * index}`,
        }
      : {},
  'a return code before the output': ({ text, isError }) => ({
    isError: false,
    result: `<returncode>${isError ? 1 : 0}</returncode>\n<output>\n${text}\n</output>`,
  }),
  'an exit code on the first line': ({ tool, text, isError }) =>
    SHELL.test(tool) && isError ? { result: `Exit code 1\n${text}` } : {},
  'a footer in brackets': ({ tool, text, isError }) =>
    SHELL.test(tool)
      ? {
          isError: false,
          result: `${text}\n[The command completed with exit code ${isError ? 1 : 0}.]\n[Current working directory: /repo]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code ${isError ? 1 : 0}]`,
        }
      : {},
  'the answer of an MCP server': ({ text, isError }) => ({
    isError: false,
    result: { content: [{ type: 'text', text }], isError },
  }),
  'parts of content as JSON text': ({ text }) => ({ result: JSON.stringify([{ type: 'text', text }]) }),
  'a value under a name, as JSON text': ({ text }) => ({ result: JSON.stringify({ result: text }) }),
  'an envelope that reports the outcome': ({ text, isError }) => ({
    isError: false,
    result: isError ? { success: false, error: text } : { success: true, data: text },
  }),
  'an envelope as text, with changing numbers': ({ text, isError, index }) => ({
    isError: false,
    result: JSON.stringify(
      isError
        ? { status: 'error', message: text, request_id: `r-${7_919 * index}` }
        : { status: 'success', result: text, request_id: `r-${7_919 * index}` },
    ),
  }),
  'a time before the output': ({ text, index }) => ({ result: `[2026-03-01 10:${10 + (index % 50)}:07] ${text}` }),
  'a tag around a failure': ({ text, isError }) =>
    isError ? { result: `<tool_use_error>${text}</tool_use_error>` } : {},
  'colours of a terminal': ({ text }) => ({ result: `\u001b[32m${text}\u001b[0m` }),
  'line breaks of Windows': ({ text }) => ({ result: text.replaceAll('\n', '\r\n') }),
  'a command line for another shell': ({ tool, args }) =>
    SHELL.test(tool) && isJsonObject(args) && typeof args['command'] === 'string'
      ? { args: { ...args, command: ['bash', '-lc', args['command']], timeout_ms: 10_000 } }
      : {},
  'a new explanation in each call': ({ args, index }) =>
    isJsonObject(args) && Object.keys(args).length > 1 ? { args: { ...args, explanation: `Look ${index}` } } : {},
};

function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  return result === null ? '' : JSON.stringify(result);
}

function scoredAs(form: (call: Call) => Readonly<Record<string, unknown>>): ScoreTotal {
  const scores = cases.map(({ name, document }) => {
    // The form in the folder's README, which `callsImporter` checks.
    const originals = document['calls'] as readonly (Omit<Call, 'text'> & { readonly result: unknown })[];
    const calls = originals.map((call, index) =>
      Object.assign({}, call, form({ ...call, text: textOf(call.result), index })),
    );
    return scoreScenario({ ...document, calls }, { name });
  });
  return totalOf(scores.filter((score) => !score.debatable));
}

test.each(Object.entries(FORMS))('detection is the same with %s', (_name, form) => {
  const { found, falseAlarms, premature } = scoredAs(() => ({}));
  expect(scoredAs(form)).toMatchObject({ found, falseAlarms, premature });
});
