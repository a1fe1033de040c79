import { expect, test } from 'vitest';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { defaultDetectors } from '../detectors/default-detectors.ts';
import { makeStep, type Step } from '../patterns/step.ts';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';
import { NOTES, notesOf, withoutNotes } from './host-notes.ts';
import type { Json } from '../../base/json.ts';

/** Names and numbers that differ in each call. */
interface Moving {
  /** Letters and digits; now and then only letters. */
  readonly name: string;
  readonly hex: string;
  readonly uuid: string;
  readonly ms: number;
  readonly n: number;
}

const PREVIEW = 'app.ts:12: const total = sum(items);\napp.ts:40: return total;';

/** What a host or a program makes of one result: the same text, with parts that differ in each call. */
const FORMS: Readonly<Record<string, (moving: Moving) => Json>> = {
  'Claude Code: a persisted output': ({ name, uuid }) =>
    `<persisted-output>\nOutput too large (49.3KB). Full output saved to: /home/u/.claude/projects/-w-app/${uuid}/tool-results/${name}.txt\n\nPreview (first 2KB):\n${PREVIEW}\n...\n</persisted-output>`,
  'Claude Code on Windows: a persisted output': ({ name }) =>
    `<persisted-output>\nOutput too large (1.1MB). Full output saved to: C:\\Users\\u\\.claude\\projects\\H--w\\tool-results\\${name}.txt\n\nPreview (first 2KB):\n${PREVIEW}`,
  'Claude Code: a subagent': ({ hex, n, ms }) => [
    { type: 'text', text: PREVIEW },
    {
      type: 'text',
      text: `agentId: a${hex} (for resuming to continue this agent's work if needed)\n<usage>total_tokens: ${n}\ntool_uses: ${n % 30}\nduration_ms: ${ms % 99_999}</usage>`,
    },
  ],
  'Claude Code: a subagent that takes messages': ({ hex, n }) =>
    `${PREVIEW}\nagentId: a${hex} (use SendMessage with to: 'a${hex}' to continue this agent)\n<usage>total_tokens: ${n}</usage>`,
  'Claude Code: a persisted output of a user with a blank in the name': ({ name }) =>
    `<persisted-output>\nOutput too large (1.1MB). Full output saved to: C:\\Users\\An Na\\.claude\\tool-results\\${name}.txt\n\nPreview (first 2KB):\n${PREVIEW}`,
  'Cline and Roo Code: details of the environment': ({ ms, n }) =>
    `${PREVIEW}\n\n<environment_details>\n# Current Time\n${new Date(ms).toISOString()}\n# Current Cost\n$${n / 100}\n</environment_details>`,
  'Claude Code: a background command': ({ name }) =>
    `Command running in background with ID: ${name}. Output is being written to: /private/tmp/claude-501/-w-app/tasks/${name}.output. You will be notified when it completes.`,
  'Claude Code: a command moved to the background': ({ name }) =>
    `Command did not complete within its 120s timeout and was moved to the background (ID: ${name}). Output is being written to: /tmp/claude-0/x/tasks/${name}.output.`,
  'Claude Code: a monitor': ({ name }) => `Monitor started (task ${name}, persistent — runs until TaskStop)`,
  'Claude Code: the output of a task': ({ name }) =>
    `<retrieval_status>success</retrieval_status>\n\n<task_id>${name}</task_id>\n\n<status>completed</status>\n\n<output>\n${PREVIEW}\n</output>`,
  'Claude Code: an agent in the background': ({ hex }) =>
    `Async agent launched successfully.\nagentId: a${hex}\noutput_file: /home/u/.claude/tasks/a${hex}.output\nYou can check progress.`,
  'Claude Code: the usage of tokens': ({ n }) =>
    `${PREVIEW}\n\n<system-warning>Token usage: ${n}/200000; ${200_000 - n} remaining</system-warning>`,
  'Claude Code: the usage of a subagent alone': ({ n }) =>
    `${PREVIEW}\n<usage>total_tokens: ${n}\ntool_uses: ${n % 30}</usage>`,
  'tokens in a line': ({ n }) => `${PREVIEW}\nToken usage: ${n}/200000`,
  'Gemini CLI: a truncated output': ({ ms, n }) =>
    `Tool output was too large and has been truncated.\nThe full output has been saved to: /home/u/.gemini/tmp/p/tool-outputs/run_shell_command_${ms}_${n}.txt\nThe truncated output below shows the beginning and end of the content.\n\n${PREVIEW}`,
  'Gemini CLI: a later form': ({ ms, n }) =>
    `Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /home/u/.gemini/tmp/p/tool-outputs/session-1/run_shell_command__call_${n}_${ms}.txt\n${PREVIEW}`,
  'Gemini CLI: a call without a time': ({ n }) =>
    `Output too large. For full output see: /home/u/.gemini/tmp/p/tool-outputs/run_shell_command__call_${n}.txt\n${PREVIEW}`,
  'Qwen Code: a spilled output': ({ hex }) =>
    `${PREVIEW}\nOutput too long and was saved to: /home/u/.qwen/tmp/s/run_shell_command_${hex}.output`,
  'opencode: a truncated output': ({ name, n }) =>
    `${PREVIEW}\n\n...${n} bytes truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /home/u/.local/share/opencode/tool-output/tool_${name}\nUse Grep to search the full content.`,
  'opencode: a shell': ({ name }) =>
    `...output truncated...\n\nFull output saved to: /home/u/.local/share/opencode/tool-output/tool_${name}\n\n${PREVIEW}`,
  'Copilot CLI: a large output': ({ ms, name }) =>
    `Output too large to read at once (156.9 KB). Saved to: /tmp/copilot-tool-output-${ms}-${name}.txt\nConsider using tools like grep.\n\nPreview (first 500 chars):\n${PREVIEW}`,
  'Copilot CLI on Windows: a large output': ({ ms, n, uuid }) =>
    `Output too large to read at once (1.1 MB). Saved to: C:\\Users\\u\\AppData\\Local\\Temp\\${ms}-copilot-tool-output-${n}-${uuid}.txt\nConsider using tools like grep.\n\nPreview (first 500 chars):\n${PREVIEW}`,
  'OpenHands: an observation': ({ n, ms }) =>
    JSON.stringify({
      id: n,
      timestamp: new Date(ms).toISOString(),
      source: 'agent',
      message: 'Command `rg total` executed with exit code 0.',
      cause: n - 1,
      observation: 'run',
      content: PREVIEW,
      extras: { command: 'rg total', command_id: n, metadata: { exit_code: 0, pid: n } },
    }),
  'OpenHands SDK: an event': ({ uuid, ms, n }) => ({
    id: uuid,
    timestamp: new Date(ms).toISOString(),
    source: 'environment',
    tool_call_id: `call_${n}`,
    observation: {
      content: [{ cache_prompt: false, type: 'text', text: PREVIEW }],
      is_error: false,
      exit_code: 0,
      metadata: { exit_code: 0, pid: n },
      kind: 'TerminalObservation',
    },
    action_id: uuid,
    kind: 'ObservationEvent',
  }),
  'OpenHands: an id of a command': ({ n }) => ({ text: PREVIEW, command_id: n, done: true }),
  'LangChain: a message': ({ uuid, hex }) =>
    `content='${PREVIEW.replaceAll('\n', '\\n')}' name='search' id='${uuid}' tool_call_id='call_${hex}'`,
  'LangChain: a message with a short id': ({ hex }) =>
    `content="${PREVIEW.replaceAll('\n', '\\n')}" name="search" id="${hex.slice(0, 4)}" tool_call_id="${hex.slice(3)}"`,
  'LangChain: a message as JSON': ({ hex, name }) => ({
    type: 'tool',
    content: PREVIEW,
    name: 'search',
    id: hex.slice(0, 4),
    tool_call_id: name,
    status: 'success',
  }),
  'OpenAI: a message in text': ({ name }) => JSON.stringify({ role: 'tool', tool_call_id: name, content: PREVIEW }),
  'LangChain: a serialized message': ({ hex, name }) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'ToolMessage'],
    kwargs: { content: PREVIEW, id: hex.slice(0, 4), tool_call_id: name, status: 'success' },
  }),
  'deepagents: a large result': ({ name }) =>
    `Tool result too large, the result of this tool call ${name} was saved in the filesystem at this path: /large_tool_results/${name}\n\nHere is a preview:\n${PREVIEW}`,
  'pi: a large output': ({ name }) =>
    `${PREVIEW}\n\n[Showing lines 1-50 of 900. Full output: /var/pi/pi-bash-${name}.log]`,
  'Codex: a truncated output': ({ n }) =>
    `${'a line of the file\n'.repeat(600)}…${n} tokens truncated…${'z\n'.repeat(3_000)}`,
  'a truncated middle': ({ n }) => `${PREVIEW}\n[WARNING: ${n} characters were removed from the middle.]\n${PREVIEW}`,
  'a line count of a truncation': ({ n }) => `${PREVIEW}\n... [${n} lines omitted] ...\n${PREVIEW}`,
  'curl: a progress meter': ({ n, ms }) =>
    `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r100  1256  100  1256    0     0   ${n % 99_999}      0 --:--:-- --:--:-- --:--:--  ${ms % 9_999}\n${PREVIEW}`,
  'a progress bar': ({ n }) => `Downloading ${n % 90}%\rDownloading ${n % 70}%\rDownloading 100%\n${PREVIEW}`,
  'curl: a progress meter with a result': ({ n, ms }) =>
    `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n100   ${n % 900}  100   ${n % 900}    0     0   ${ms % 9_000}      0 --:--:-- --:--:-- --:--:--  ${ms % 9_000}\n${PREVIEW}`,
  'OpenHands: an event with its cause': ({ n, ms }) => ({
    id: n,
    timestamp: new Date(ms).toISOString(),
    source: 'agent',
    cause: n - 1,
    observation: 'read',
    content: PREVIEW,
    extras: { path: '/w/app.ts' },
  }),
  'Copilot CLI: a name of six letters': ({ ms, name }) =>
    `Output too large to read at once (156.9 KB). Saved to: /tmp/copilot-tool-output-${ms}-${name.slice(0, 6)}.txt\n${PREVIEW}`,
  'buildx: steps': ({ n, ms }) =>
    `#${n % 20} [2/4] RUN npm ci\n#${n % 20} 0.${ms % 999} added 3 packages\n#${n % 20} sha256:9fceb02d 3.${n % 9}MB / 9.3MB 0.2s\n#${n % 20} ERROR: process did not complete`,
  'a browser: indexes of elements': ({ n }) =>
    `[${n}]<button>Save</button>\n[${n + 1}]<a>Back</a>\n*[${n + 2}]<input type=text>`,
};

function movingOf(index: number): Moving {
  const random = seededRandom(100 + index);
  const pick = (letters: string, length: number): string =>
    Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
  const hex = pick('0123456789abcdef', 7);
  return {
    name: pick(index % 3 === 0 ? 'abcdefghijklmnopqrstuvwxyz' : 'abcdefghijklmnopqrstuvwxyz0123456789', 9),
    hex,
    uuid: `${pick('0123456789abcdef', 8)}-1234-4abc-8def-${pick('0123456789abcdef', 12)}`,
    ms: 1_763_822_400_000 + Math.floor(random() * 9e9),
    n: 1_000 + Math.floor(random() * 90_000),
  };
}

function stepOf(result: Json): Step {
  const call = { index: 0, turn: 0, atMs: 0, tool: 'op', args: { q: 1 }, isError: false, resultMissing: false };
  return makeStep({ ...call, result }, {});
}

test.each(Object.entries(FORMS))('six results are equal under what surrounds them: %s', (_name, form) => {
  const keys = Array.from({ length: 6 }, (_, index) => stepOf(form(movingOf(index))).resultKey);
  expect(new Set(keys).size).toBe(1);
});

test.each(Object.entries(FORMS))(
  'the same call six times is a pattern, whatever surrounds its result: %s',
  (_name, form) => {
    const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
    for (let index = 0; index < 6; index += 1) {
      const ids = { tool_call_id: `${index}`, tool_name: 'lookup' };
      const envelope = { schema_version: 1, depth: 0, recorded_at_unix_ms: 0 } as const;
      analysis.fold({ ...envelope, seq: 3 * index, payload: { kind: 'turn_started' } });
      analysis.fold({ ...envelope, seq: 3 * index + 1, payload: { kind: 'tool_started', ...ids, args: { q: 1 } } });
      const result = form(movingOf(index));
      analysis.fold({
        ...envelope,
        seq: 3 * index + 2,
        payload: { kind: 'tool_ended', ...ids, result, is_error: false },
      });
    }
    expect(analysis.patterns().some(({ flaggedAt }) => flaggedAt !== null)).toBe(true);
  },
);

test('a change within the result or of its size is a change', () => {
  const persisted = (size: string, preview: string): Json =>
    `<persisted-output>\nOutput too large (${size}). Full output saved to: /x/tool-results/b7mn2clg0.txt\n\nPreview (first 2KB):\n${preview}`;
  const keys = [persisted('49.3KB', 'a'), persisted('49.3KB', 'b'), persisted('51KB', 'a')].map(
    (result) => stepOf(result).resultKey,
  );
  expect(new Set(keys).size).toBe(3);
});

/** Texts that each rule leaves unchanged. */
const UNCHANGED: Readonly<Record<string, readonly string[]>> = {
  'note-saved-output': ['File created successfully at: /src/a.ts', 'the result is 7/9', 'output of a/b'],
  'note-handle': ['user id: 7', '"id": "b7mn2clg0"', '"task_id": 7', 'thread id: general'],
  'note-element': ['<id>7</id>', '<usage>how to call it'],
  'note-tokens': ['200000 tokens', 'token usage is high'],
  'note-truncated': ['42 lines', 'the output was truncated'],
  'note-element-index': ['items[12]', '[12] <b>a reference</b>'],
  'note-curl-progress': ['10:00:00 started', 'backup at 0:00:10 done'],
  'note-build-step': ['# 7 steps', 'see #7'],
};

test.each(NOTES.map(({ id }) => id))('rule %s changes a form and leaves other texts unchanged', (id) => {
  const texts = Object.values(FORMS).map((form) => form(movingOf(1)));
  expect(texts.some((text) => notesOf(typeof text === 'string' ? text : JSON.stringify(text)).includes(id))).toBe(true);
  const unchanged = UNCHANGED[id] ?? [];
  expect(unchanged).not.toEqual([]);
  expect(unchanged.filter((text) => notesOf(text).includes(id))).toEqual([]);
});

test.each(['output saved ', 'result ', 'a/', '#1 ', '\r', 'id: ', '[1]<', '--:--:-- ', '<usage>', ' tokens'])(
  'a long text of many %j costs a bounded time',
  (piece) => {
    const text = piece.repeat(Math.ceil(60_000 / piece.length));
    expect(cpuMs(() => withoutNotes(text))).toBeLessThan(500);
  },
);
