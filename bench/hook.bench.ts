/**
 * One event of an agent host, as a hook process and as a line to the process of a plugin, against `node -e 0` on the same machine: state,
 * fold, durable append, answer. Claude Code with 10 and 10,000 earlier calls, then the end of a call in the form of every host with 100.
 * Run: `node bench/hook.bench.ts [rounds] [hook.cjs]` after `node scripts/build.ts`.
 *
 * All take turns in every round, so that other load affects them alike; figures are medians of wall time, ratios those of the medians.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { HOSTS, type HostName } from '../src/hosts/dialects/hook-dialect.ts';
import { LINES_ARGUMENT } from '../src/hosts/claude-code/hook-lines.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { projectStoreFile } from '../src/core/node/git-folder.ts';

const ROUNDS = Number(process.argv[2] ?? 40);
const HOOK = process.argv[3] ?? join(import.meta.dirname, '..', 'dist', 'hook.cjs');
const WARM_UP = 3;
const ROLLOUT_BYTES = 256 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const project = join(folder, 'project');
const rollout = join(folder, 'rollout-bench.jsonl');
mkdirSync(join(project, '.git'), { recursive: true });
// This process creates the store that the hooks use.
process.env['XDG_STATE_HOME'] = join(folder, 'state');
const { PATH, XDG_STATE_HOME } = process.env;
const env = { PATH, HOME: folder, XDG_STATE_HOME, CLAUDE_PROJECT_DIR: project };

/** A run as a session leaves it after so many calls: files read and changed, checks that fail. */
async function record(runId: string, calls: number): Promise<void> {
  const cox = createCoxswain({ store: sqliteStore(projectStoreFile(project, { env })) });
  const run = cox.startRun({ runId, task: 'make the tests pass' });
  for (let index = 0; index < calls; index += 1) {
    const file = `src/module-${index % 97}/part-${index % 13}.ts`;
    const [toolName, args, result, isError] = [
      ['Read', { file_path: file }, `content of ${file}, version ${index}\n`.repeat(20), false] as const,
      ['Edit', { file_path: file, old_string: `a${index}`, new_string: `b${index}` }, 'Updated.', false] as const,
      ['Bash', { command: `npm test -- part-${index % 13}` }, `FAIL ${file}\nexpected ${index}, got 0`, true] as const,
    ][index % 3] ?? ['Bash', {}, '', false];
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId: `seed-${index}`, toolName, args });
    run.emit({ type: 'tool_execution_end', toolCallId: `seed-${index}`, toolName, result, isError });
    for (const advice of run.advise('post_tool_result')) advice.delivered('bench');
    if (index % 200 === 0) await run.flush();
  }
  await cox.close();
}

const input = (round: number): object => ({ command: `npm test -- part-${round}`, description: 'Run the tests' });
const output = (round: number): string => `FAIL src/part-${round % 5}.test.ts\nexpected ${round}, got 0\n`.repeat(10);

function claudeEvent(name: string, session_id: string, round: number): object {
  const call = { tool_name: 'Bash', tool_input: input(round), tool_use_id: `toolu_${round}` };
  const result = { tool_response: { stdout: output(round), stderr: '' } };
  const members =
    name === 'PostToolBatch'
      ? { tool_calls: [{ ...call, tool_response: output(round) }] }
      : { ...call, ...(name === 'PostToolUse' ? result : {}) };
  return { session_id, cwd: project, hook_event_name: name, ...members };
}

function callEnd(host: HostName, session_id: string, round: number): object {
  const timestamp = Date.now();
  const event = claudeEvent('PostToolUse', session_id, round);
  switch (host) {
    case 'claude-code':
      return event;
    case 'codex':
      return { ...event, turn_id: 't', transcript_path: rollout, tool_response: output(round) };
    case 'copilot': {
      const toolResult = { resultType: 'success', textResultForLlm: output(round) };
      return { sessionId: session_id, timestamp, cwd: project, toolName: 'bash', toolArgs: input(round), toolResult };
    }
    case 'gemini': {
      const facts = { timestamp: new Date(timestamp).toISOString(), transcript_path: '/none' };
      return { ...event, ...facts, hook_event_name: 'AfterTool', tool_response: { llmContent: output(round) } };
    }
    default:
      return { ...event, host, tool_response: output(round) };
  }
}

interface Measured {
  readonly name: string;
  readonly event: (transport: string, round: number) => object;
  readonly process: number[];
  readonly lines: number[];
}

const measured: Measured[] = [];
for (const calls of [10, 10_000]) {
  for (const name of ['PreToolUse', 'PostToolUse', 'PostToolBatch']) {
    measured.push({
      name: `${name}, ${calls} calls before`,
      event: (transport, round) => claudeEvent(name, `${transport}-${calls}`, round),
      process: [],
      lines: [],
    });
  }
}
for (const host of HOSTS) {
  measured.push({
    name: `${host}: end of a call`,
    event: (transport, round) => callEnd(host, `${transport}-${host}`, round),
    process: [],
    lines: [],
  });
}
// One run for each transport, so that neither has to fold what the other stored.
for (const transport of ['process', 'lines']) {
  for (const calls of [10, 10_000]) await record(`${transport}-${calls}`, calls);
  for (const host of HOSTS) await record(`${transport}-${host}`, 100);
}
const rolloutLine = `${JSON.stringify({ type: 'response_item', payload: { type: 'message', content: output(0) } })}\n`;
writeFileSync(rollout, rolloutLine.repeat(Math.ceil(ROLLOUT_BYTES / rolloutLine.length)));

const child = spawn(process.execPath, [HOOK, LINES_ARGUMENT], { env, stdio: ['pipe', 'pipe', 'ignore'] });
const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

async function take(event: string): Promise<void> {
  child.stdin.write(`${event}\n`);
  const { done } = await answers.next();
  if (done === true) throw new Error('the process that takes lines has ended');
}

function runNode(args: readonly string[], stdin: string): void {
  const ended = spawnSync(process.execPath, args, { env, input: stdin });
  if (ended.status !== 0) throw new Error(`${args.join(' ')} exited with ${ended.status}: ${ended.stderr.toString()}`);
}

async function timed(times: number[], work: () => Promise<void> | void): Promise<void> {
  const startMs = performance.now();
  await work();
  times.push(performance.now() - startMs);
}

const bareTimes: number[] = [];
for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
  await timed(bareTimes, () => runNode(['-e', '0'], ''));
  for (const { event, ...times } of measured) {
    const [ofProcess, ofLines] = ['process', 'lines'].map((transport) => JSON.stringify(event(transport, round)));
    await timed(times.process, () => runNode([HOOK], ofProcess ?? ''));
    await timed(times.lines, async () => take(ofLines ?? ''));
  }
}

function median(values: readonly number[]): number {
  const counted = values.slice(WARM_UP).toSorted((a, b) => a - b);
  return counted[counted.length >> 1] ?? Number.NaN;
}

const bare = median(bareTimes);
console.log(`medians of ${ROUNDS} rounds, in turns; node -e 0: ${bare.toFixed(1)} ms`);
for (const { name, process: ofProcess, lines: ofLines } of measured) {
  const cells = [ofProcess, ofLines].map((times) => {
    const own = median(times);
    return `${own.toFixed(1).padStart(7)} ms  ratio ${(own / bare).toFixed(2)}`;
  });
  const toProcess = (median(ofLines) / median(ofProcess)).toFixed(2);
  console.log(`${name.padEnd(34)} process ${cells[0]}   lines ${cells[1]}   lines to process ${toProcess}`);
}
const ended = new Promise((resolve) => child.on('close', resolve));
child.stdin.end();
await ended;
rmSync(folder, { recursive: true, force: true });
