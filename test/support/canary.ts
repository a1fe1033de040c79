import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../../src/core/run/run.ts';
import { defineEvent } from '../../src/core/session/define-event.ts';
import { fakeSecrets, type FakeSecret } from './fake-secrets.ts';

const note = defineEvent<{ readonly text: string }>('note');

/** Says the text wherever a host can say anything. */
export function sayEverywhere(run: Run, text: string, index: number): void {
  const toolCallId = `call-${index}`;
  const body = JSON.stringify({ output: JSON.stringify({ text }) });
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'message_end', message: { role: 'user', content: text } });
  run.emit({ type: 'message_end', message: { role: 'assistant', content: [{ type: 'reasoning', text }] } });
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: text, deep: [{ text }] } });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: body, isError: true });
  run.emit({ type: 'compaction', trigger: text });
  run.emit({ type: 'unrecognised', original: { kind: 'from-elsewhere', text } });
  run.dispatch(note({ text }));
  for (const advice of run.advise('post_tool_result', {
    pendingToolCalls: [{ toolCallId: `next-${index}`, toolName: 'bash', args: { text } }],
    lastResponse: text,
    renderedPrompt: text,
  })) {
    advice.undelivered(text);
  }
  run.acknowledge({ response: 'noted', note: text });
}

/** All that the files below a folder hold, as Latin-1. */
export function filesIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .join('\n');
}

/** Parts of a secret that nothing else holds, as they might be written. */
export function traces({ secret }: FakeSecret): readonly string[] {
  const lines = secret.split(/\n|\\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return (lines.length > 1 ? lines : [secret]).map((line) => line.toLowerCase());
}

/** Kinds of the fake secrets of which a trace is in the text. */
export function survivorsIn(text: string): readonly string[] {
  const lower = text.toLowerCase();
  return fakeSecrets().flatMap((fake) => (traces(fake).some((trace) => lower.includes(trace)) ? [fake.kind] : []));
}
