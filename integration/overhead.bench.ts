/**
 * Overhead of coxswain for an agent: the run with it against the same run with hooks that do nothing, the model answering after
 * 20 ms, in turns so that noise meets all alike. Medians as ratios (and of the loop the least of all rounds, for a machine that
 * has other work): of the whole run, and of the time from the first request
 * to the last, which leaves the start of the SDK out; and what is spent more, per call, on the clock and by the processor (of
 * this process; the Claude SDK's program is another). With the standard steering; recorded in memory and in SQLite.
 *
 * `npx node integration/overhead.bench.ts [NAME-PART [ROUNDS [CALLS]]]`, default all, 9, 20.
 */
import { join } from 'node:path';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { AdapterHarness, AdapterScene } from '../test/support/adapter-contract/adapter-harness.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { harness as aiSdk } from './ai-sdk.harness.ts';
import { harness as claudeAgentSdk } from './claude-agent-sdk.harness.ts';
import { harness as openaiAgents } from './openai-agents.harness.ts';
import { harness as openaiChat } from './openai-chat.harness.ts';
import { harness as openaiResponses } from './openai-responses.harness.ts';

const part = process.argv[2] ?? '';
const rounds = Number(process.argv[3] ?? 9);
const calls = Number(process.argv[4] ?? 20);
const ANSWER_MS = 20;

/** Milliseconds of the whole run, of its loop, and of the processor. */
interface Times {
  readonly wholeMs: number;
  readonly loopMs: number;
  readonly cpuMs: number;
}

async function play(harness: AdapterHarness, given: Pick<AdapterScene, 'run' | 'idleHooks'>): Promise<Times> {
  const requestedAtMs: number[] = [];
  const started = performance.now();
  const before = process.cpuUsage();
  const { ended, requests } = await harness.run({
    ...given,
    prompt: 'Look around.',
    answerAfterMs: ANSWER_MS,
    tools: { look: (args) => `It is quiet at ${JSON.stringify(args)}: ${'nothing to see, '.repeat(30)}` },
    script: (_request, index) => {
      requestedAtMs.push(performance.now());
      return index < calls ? { calls: [{ name: 'look', args: { at: index } }] } : { text: 'All is well.' };
    },
  });
  const wholeMs = performance.now() - started;
  if (ended !== 'normally' || requests.length !== calls + 1) throw new Error(`${harness.name}: the run went wrong`);
  const { user, system } = process.cpuUsage(before);
  return { wholeMs, loopMs: (requestedAtMs.at(-1) ?? 0) - (requestedAtMs[0] ?? 0), cpuMs: (user + system) / 1_000 };
}

async function playSteered(harness: AdapterHarness, storeIn: 'memory' | 'sqlite'): Promise<Times> {
  const folder = await tempFolder();
  const store = storeIn === 'memory' ? memoryStore() : sqliteStore(join(folder.path, 'runs.db'));
  const cox = createCoxswain({ store });
  try {
    return await play(harness, { run: cox.startRun({ deadline: { minutes: 30 } }) });
  } finally {
    await cox.close();
    await folder.dispose();
  }
}

function median(times: readonly Times[], of: keyof Times): number {
  const sorted = times.map((time) => time[of]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function report(name: string, idle: readonly Times[], steered: readonly Times[]): void {
  const ratio = (of: keyof Times): string => (median(steered, of) / median(idle, of)).toFixed(3);
  const least = (times: readonly Times[]): number => Math.min(...times.map(({ loopMs }) => loopMs));
  const perCall = (of: keyof Times): string => (((median(steered, of) - median(idle, of)) * 1_000) / calls).toFixed(0);
  const whole = [median(idle, 'wholeMs').toFixed(0), median(steered, 'wholeMs').toFixed(0)];
  const cells = [
    ...whole,
    ratio('wholeMs'),
    ratio('loopMs'),
    (least(steered) / least(idle)).toFixed(3),
    perCall('loopMs'),
    perCall('cpuMs'),
  ];
  console.log([name.padEnd(30), ...cells.map((cell) => cell.padStart(11))].join(' '));
}

console.log(`${calls} calls a run, ${rounds} rounds, the model answers after ${ANSWER_MS} ms`);
const columns = ['idle ms', 'with ms', 'whole', 'loop', 'loop, least', 'µs a call', 'cpu µs'];
console.log(['adapter, store'.padEnd(30), ...columns.map((name) => name.padStart(11))].join(' '));
for (const harness of [aiSdk, claudeAgentSdk, openaiChat, openaiResponses, openaiAgents]) {
  if (!harness.name.includes(part)) continue;
  const idle: Times[] = [];
  const inMemory: Times[] = [];
  const inSqlite: Times[] = [];
  const plays = [
    async () => idle.push(await play(harness, { idleHooks: true })),
    async () => inMemory.push(await playSteered(harness, 'memory')),
    async () => inSqlite.push(await playSteered(harness, 'sqlite')),
  ];
  await playSteered(harness, 'sqlite');
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates: the second of two runs meets a warmer machine.
    for (let turn = 0; turn < plays.length; turn += 1) await plays[(round + turn) % plays.length]?.();
  }
  report(`${harness.name}, memory`, idle, inMemory);
  report(`${harness.name}, sqlite`, idle, inSqlite);
}
