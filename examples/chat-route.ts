/**
 * A chat route in which every request is a separate process, as on a serverless host: one run, continued by each.
 *
 *     node chat-route.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCoxswain } from 'coxswain';
import { sqliteStore } from 'coxswain/sqlite';

const [file = join(mkdtempSync(join(tmpdir(), 'chat-')), 'runs.db'), question] = process.argv.slice(2);

if (question !== undefined) await answer(question);
else for (const text of ['Is it up?', 'And now?', 'Still?']) request(text);

async function answer(text: string): Promise<void> {
  const cox = createCoxswain({ store: sqliteStore(file) });
  const run = await cox.openRun('chat-1', { start: { task: text } });
  // A real model would ask for this call.
  const call = { toolCallId: text, toolName: 'status' };
  run.emit({ type: 'tool_execution_start', ...call, args: {} });
  run.emit({ type: 'tool_execution_end', ...call, result: 'down', isError: false });
  console.log(`${text} It is down, after ${run.analysis.calls} calls.`);
  await run.flush();
  await cox.close();
}

function request(text: string): void {
  process.stdout.write(spawnSync(process.execPath, [import.meta.filename, file, text]).stdout);
}

// Prints:
// Is it up? It is down, after 1 calls.
// And now? It is down, after 2 calls.
// Still? It is down, after 3 calls.
