import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isJsonObject } from '../../src/core/base/json.ts';
import { ClaudeSessions } from '../../src/hosts/claude-code/claude-sessions.ts';
import { EventIntake } from '../../src/hosts/claude-code/event-intake.ts';
import { isKnownEvent, readHookEvent, type KnownHookEvent } from '../../src/hosts/claude-code/hook-event.ts';
import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { memoryStore } from '../../src/core/store/memory-store.ts';
import { standardSteering } from '../../src/core/steering/standard-steering.ts';
import { testFolder } from './test-folder.ts';
import { NO_REDACTION } from '../../src/core/redact/redactor.ts';

export const SESSION = '01a20731-32fa-7283-8738-4fb01b1c0efd';
export const START_MS: number = Date.UTC(2026, 10, 23, 7);

export type Json = Readonly<Record<string, unknown>>;

/** A host-neutral script. A turn is a list of calls that the model requests together. */
export interface HostCall {
  /** Default: the shell. */
  readonly tool?: string;
  readonly command: string;
  readonly output: string;
  readonly exitCode: number;
}

/** A hook payload, as the host sends it, or something that happens to the host's transcript. */
export type HostStep = { readonly sent: Json } | { readonly before: () => void };

/** Each host's own way of sending the same script. */
export const HOSTS: Readonly<
  Record<string, (turns: readonly (readonly HostCall[])[], folder: string) => Iterable<HostStep>>
> = {
  'claude-code': (turns) => claudeScript(turns, {}),
  /** A version without `PostToolBatch`, which runs the calls of an answer one after the other. */
  'claude-code 1': (turns) => [...claudeScript(turns, {})].filter(isKnownToOldVersion),
  opencode: (turns) => claudeScript(turns, { host: 'opencode' }),
  pi: (turns) => claudeScript(turns, { host: 'pi' }),
  *codex(turns, folder) {
    const rollout = join(folder, `rollout-2026-${SESSION}.jsonl`);
    const lines: Json[] = [];
    let sent = 0;
    const write = (type: string, payload: Json): void => {
      lines.push({ timestamp: new Date(START_MS + 2 * sent + 1).toISOString(), type, payload });
      writeFileSync(rollout, lines.map((line) => JSON.stringify(line)).join('\n'));
    };
    const base = { session_id: SESSION, turn_id: 't', transcript_path: rollout, cwd: '/', permission_mode: 'default' };
    write('response_item', { type: 'message', role: 'user', content: [] });
    sent += 1;
    yield { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } };
    for (const [at, calls] of turns.entries()) {
      const ids = calls.map((_, index) => `call_${at}_${index}`);
      for (const [index, { command }] of calls.entries()) {
        const call = { call_id: ids[index], name: 'exec_command', arguments: JSON.stringify({ cmd: command }) };
        write('response_item', { type: 'function_call', ...call });
      }
      write('token_usage_record', {});
      // One after the other, as Codex runs tools that do not run at once.
      for (const [index, { command, output, exitCode, tool = 'Bash' }] of calls.entries()) {
        const call = { tool_name: tool, tool_input: { command }, tool_use_id: ids[index] };
        sent += 1;
        yield { sent: { ...base, hook_event_name: 'PreToolUse', ...call } };
        const item = { type: 'CommandExecution', id: ids[index], exit_code: exitCode, status: 'failed' };
        write('event_msg', { type: 'item_completed', item });
        sent += 1;
        yield { sent: { ...base, hook_event_name: 'PostToolUse', ...call, tool_response: output } };
      }
      for (const [index, { output, exitCode }] of calls.entries()) {
        const printed = `Wall time: 0 seconds\nProcess exited with code ${exitCode}\nOutput:\n${output}`;
        write('response_item', { type: 'function_call_output', call_id: ids[index], output: printed });
      }
    }
  },
  *copilot(turns) {
    let second = 0;
    const base = (): Json => ({ sessionId: SESSION, timestamp: START_MS + (second += 1) * 1_000, cwd: '/' });
    yield { sent: { ...base(), prompt: 'list the files' } };
    for (const calls of turns) {
      for (const { command, tool = 'Bash' } of calls)
        yield { sent: { ...base(), toolName: tool, toolArgs: { command } } };
      for (const { command, output, exitCode, tool = 'Bash' } of calls) {
        const textResultForLlm = `${output}\n<shellId: 0 completed with exit code ${exitCode}>`;
        const toolResult = { resultType: 'success', textResultForLlm };
        yield { sent: { ...base(), toolName: tool, toolArgs: { command }, toolResult } };
      }
    }
  },
  *gemini(turns) {
    let second = 0;
    const base = (name: string): Json => ({
      session_id: SESSION,
      transcript_path: '/none',
      cwd: '/',
      hook_event_name: name,
      timestamp: new Date(START_MS + (second += 1) * 1_000).toISOString(),
    });
    const request = { llm_request: { model: 'm', messages: [{ role: 'user', content: 'list' }] } };
    yield { sent: { ...base('BeforeAgent'), prompt: '<hook_context>x</hook_context>\n\nlist the files' } };
    yield { sent: { ...base('BeforeModel'), ...request } };
    for (const calls of turns) {
      for (const { command, tool = 'Bash' } of calls) {
        yield { sent: { ...base('BeforeTool'), tool_name: tool, tool_input: { command } } };
      }
      for (const { command, output, exitCode, tool = 'Bash' } of calls) {
        const llmContent = `<untrusted_context>\nOutput: ${output}\nExit Code: ${exitCode}\nProcess Group PGID: ${4000 + second}\n</untrusted_context>`;
        const call = { tool_name: tool, tool_input: { command } };
        yield { sent: { ...base('AfterTool'), ...call, tool_response: { llmContent, returnDisplay: output } } };
      }
      yield { sent: { ...base('BeforeModel'), ...request } };
    }
  },
  *'qwen-code'(turns, folder) {
    const chat = join(folder, 'chats', `${SESSION}.jsonl`);
    const lines: string[] = [];
    let sent = 0;
    mkdirSync(join(folder, 'chats'));
    const send = (prompt: string): HostStep => {
      const timestamp = new Date(START_MS + 2 * (sent += 1)).toISOString();
      const place = { session_id: SESSION, transcript_path: chat, cwd: '/', timestamp, permission_mode: 'yolo' };
      return { sent: { ...place, hook_event_name: 'UserPromptSubmit', prompt } };
    };
    const write = (type: string, parts: readonly Json[], more: Json = {}): HostStep => ({
      before() {
        const timestamp = new Date(START_MS + 2 * sent + 1).toISOString();
        const message = { role: type === 'assistant' ? 'model' : 'user', parts };
        lines.push(JSON.stringify({ uuid: `u${lines.length}`, sessionId: SESSION, timestamp, type, message, ...more }));
        writeFileSync(chat, `${lines.join('\n')}\n`);
      },
    });
    yield send('list the files');
    yield write('user', [{ text: 'list the files' }]);
    for (const [at, calls] of turns.entries()) {
      const part = (key: string, index: number, name: string, more: Json): Json => ({
        [key]: { id: `call_${at}_${index}`, name, ...more },
      });
      const callParts = calls.map(({ command, tool = 'Bash' }, index) =>
        part('functionCall', index, tool, { args: { command } }),
      );
      yield write('assistant', callParts, { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10 } });
      for (const [index, { command, exitCode, output, tool = 'Bash' }] of calls.entries()) {
        const text = `Command: ${command}\nDirectory: (root)\nOutput: ${output}\nError: (none)\nExit Code: ${exitCode}\nSignal: (none)\nProcess Group PGID: (none)`;
        yield write('tool_result', [part('functionResponse', index, tool, { response: { output: text } })]);
      }
      yield send('');
    }
  },
};

function isKnownToOldVersion(step: HostStep): boolean {
  return !('sent' in step) || step.sent['hook_event_name'] !== 'PostToolBatch';
}

/** The script in the format of Claude Code, which plugins also send. */
function* claudeScript(turns: readonly (readonly HostCall[])[], more: Json): Iterable<HostStep> {
  const base = { session_id: SESSION, transcript_path: '/none', cwd: '/', permission_mode: 'default', ...more };
  yield { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } };
  for (const [at, calls] of turns.entries()) {
    const named = calls.map(({ command, output, exitCode, tool = 'Bash' }, index) => ({
      call: { tool_name: tool, tool_input: { command }, tool_use_id: `call_${at}_${index}` },
      error: `Exit code ${exitCode}\n${output}`,
    }));
    for (const { call } of named) yield { sent: { ...base, hook_event_name: 'PreToolUse', ...call } };
    for (const { call, error } of named)
      yield { sent: { ...base, hook_event_name: 'PostToolUseFailure', ...call, error } };
    const tool_calls = named.map(({ call, error }) => Object.assign({ tool_response: error }, call));
    yield { sent: { ...base, hook_event_name: 'PostToolBatch', tool_calls } };
  }
}

export interface Played {
  readonly records: readonly TrajectoryRecord[];
  readonly answers: readonly { readonly name: string; readonly json: Json; readonly text: string }[];
}

export function known(json: Json): KnownHookEvent {
  const event = readHookEvent(Buffer.from(JSON.stringify(json)));
  if (event === undefined || !isKnownEvent(event)) throw new Error(`${JSON.stringify(json)} cannot be read`);
  return event;
}

export async function playHost(
  steps: Iterable<HostStep>,
  { late = false, mustExist = [] }: { readonly late?: boolean; readonly mustExist?: readonly string[] } = {},
): Promise<Played> {
  const store = memoryStore();
  const sessions = new ClaudeSessions({
    store,
    config: {
      steering: standardSteering(),
      deadlineFrom: 'session',
      ...(mustExist.length > 0 ? { completion: { files: mustExist, timeoutMs: 1_000, maxAttempts: 3 } } : {}),
    },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: { nowMs: () => START_MS },
    build: 'test',
  });
  const storeAddress = join(testFolder(), 'runs.db');
  const intake = new EventIntake({
    storeAddress,
    redactor: NO_REDACTION,
    clock: { nowMs: () => START_MS },
    onFault: () => undefined,
  });
  const answers: { name: string; json: Json; text: string }[] = [];
  let spilled = 0;
  for (const step of steps) {
    if ('before' in step) {
      step.before();
      continue;
    }
    const event = known(step.sent);
    if (late) {
      intake.spill(event, 'the store is locked', START_MS + 2 * (spilled += 1));
      continue;
    }
    const { input, sessionId, answerFor } = event.known;
    const { answer } = await sessions.answer(input, sessionId, { hasBackgroundWork: false });
    const json = answerFor(answer);
    if (Object.keys(json).length > 0 && isJsonObject(json)) {
      answers.push({ name: input.name, json, text: answer.hookSpecificOutput?.additionalContext ?? '' });
    }
  }
  const { folded } = await intake.foldWaiting(sessions, { limitMs: 60_000 });
  if (folded !== spilled) throw new Error(`${folded} of ${spilled} events were folded`);
  const records = await Array.fromAsync(store.readRun(SESSION));
  return { records, answers };
}
