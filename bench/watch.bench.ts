/**
 * CPU share and memory of `coxswain watch --background` with 20 sessions that make a call every five seconds beside 2,000 old ones:
 * `npm run build`, then `npx node bench/watch.bench.ts [minutes] [active] [old]`; default: 10 minutes. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [minutes = 10, active = 20, old = 2_000] = process.argv.slice(2).map(Number);
const CALL_MS = 5_000;
const TICKS_PER_SECOND = 100;
const home = mkdtempSync(join(tmpdir(), 'coxswain-watch-'));
const env = { ...process.env, HOME: home, XDG_STATE_HOME: '', XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' };

function entry(session: string, type: string, message: object): string {
  const cwd = `/gone/${session}`;
  return `${JSON.stringify({ sessionId: session, cwd, timestamp: new Date().toISOString(), type, uuid: crypto.randomUUID(), message })}\n`;
}

function call(session: string, number: number): string {
  const id = `${session}-${number}`;
  const input = { command: `npx vitest run test/part-${number % 17}.test.ts` };
  const usage = { input_tokens: 9, cache_read_input_tokens: 60_000 + number, output_tokens: 120 };
  const content = [
    { type: 'text', text: 'Now the next part.' },
    { type: 'tool_use', id, name: 'Bash', input },
  ];
  const result = {
    type: 'tool_result',
    tool_use_id: id,
    content: `part ${number}\n${'ok a line of output\n'.repeat(40)}`,
  };
  return (
    entry(session, 'assistant', {
      id: `m${id}`,
      role: 'assistant',
      model: 'claude-opus-4-6',
      stop_reason: 'tool_use',
      usage,
      content,
    }) + entry(session, 'user', { role: 'user', content: [result] })
  );
}

function fileOf(index: number): string {
  const folder = join(home, '.claude', 'projects', `-gone-${index % 50}`);
  mkdirSync(folder, { recursive: true });
  return join(folder, `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000.jsonl`);
}

const coxswain = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ['dist/cli/bin.js', ...args], { env, encoding: 'utf8' });

mkdirSync(join(home, '.config', 'coxswain'), { recursive: true });
writeFileSync(join(home, '.config', 'coxswain', 'config.json'), JSON.stringify({ notify: { command: ['true'] } }));
for (let index = 0; index < active + old; index += 1) {
  const session = `s${index}`;
  const start = entry(session, 'user', { role: 'user', content: 'Run the parts of the suite' });
  writeFileSync(fileOf(index), start + Array.from({ length: 20 }, (_, number) => call(session, number)).join(''));
  const oldS = Date.now() / 1_000 - 86_400 * (2 + (index % 60));
  if (index >= active) utimesSync(fileOf(index), oldS, oldS);
}
const [, pid = ''] = /process (\d+)/.exec(coxswain('watch', '--background')) ?? [];
const cpuSeconds = (): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};
const memoryMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
try {
  await sleep(15_000);
  const [startMs, startCpu] = [performance.now(), cpuSeconds()];
  let largest = 0;
  for (let round = 0; performance.now() - startMs < minutes * 60_000; round += 1) {
    for (let index = 0; index < active; index += 1) {
      appendFileSync(fileOf(index), call(`s${index}`, 20 + round));
      await sleep(CALL_MS / active);
    }
    largest = Math.max(largest, memoryMb());
  }
  const share = ((cpuSeconds() - startCpu) / ((performance.now() - startMs) / 1_000)) * 100;
  console.log(
    `${active} active, ${old} old, ${minutes} minutes: ${share.toFixed(2)} % of a core, ${largest.toFixed(1)} MB at most, ${memoryMb().toFixed(1)} MB at the end`,
  );
} finally {
  coxswain('watch', '--stop');
  rmSync(home, { recursive: true, force: true });
}
