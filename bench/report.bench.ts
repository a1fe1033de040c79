/**
 * Cost of `coxswain report --since 12h` over old transcripts: a HOME with a gigabyte of Claude Code sessions (`--megabytes 200` for another
 * size), ten of them written in the last hour. Prints the processor time of the command relative to checking the times of all files,
 * and relative to reading them all (`--since all`).
 *
 * `npx node bench/report.bench.ts [--megabytes N] [--recent N]`; needs twice that space in the temporary folder and deletes it afterwards.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { megabytes: { type: 'string', default: '1000' }, recent: { type: 'string', default: '10' } },
});
const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
/** Lines of about 2 kB. */
const CALLS = 115;
const SESSION_BYTES = 500_000;
const PROJECTS = 40;
const SESSIONS = Math.ceil((Number(values.megabytes) * 1_000_000) / SESSION_BYTES);
const RECENT = Math.min(SESSIONS, Number(values.recent));
const DAY_MS = 86_400_000;

/** A session of about half a megabyte: file reads with results of 4 kB. */
function session(id: string, atMs: number): string {
  const lines: string[] = [];
  const add = (type: string, message: object): void => {
    const timestamp = new Date(atMs + lines.length * 1_000).toISOString();
    const common = {
      sessionId: id,
      cwd: '/gone/project',
      uuid: `${id}-${lines.length}`,
      isSidechain: false,
      timestamp,
    };
    const line = JSON.stringify({ ...common, type, message });
    lines.push(line);
  };
  add('user', { role: 'user', content: `Work on ${id}.` });
  for (let call = 0; call < CALLS; call += 1) {
    const toolId = `t${call}`;
    const use = { type: 'tool_use', id: toolId, name: 'Read', input: { file_path: `src/part-${call}.ts` } };
    add('assistant', { id: `m${call}`, role: 'assistant', model: 'm', content: [use], usage: { output_tokens: 20 } });
    const content = `export const part${call} = '${String(call * 7919)
      .repeat(800)
      .slice(0, 4_000)}';`;
    add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: toolId, content }] });
  }
  const answer = [{ type: 'text', text: 'Done.' }];
  add('assistant', { id: 'last', role: 'assistant', model: 'm', stop_reason: 'end_turn', content: answer });
  return `${lines.join('\n')}\n`;
}

/** Processor time of this process in milliseconds. */
function timed(what: () => void): number {
  const { system, user } = process.cpuUsage();
  what();
  const after = process.cpuUsage();
  return (after.system + after.user - system - user) / 1_000;
}

/** Makes a process print its processor time at exit. */
const SAYS_COST =
  "data:text/javascript,process.on('exit',()=>{const{system,user}=process.cpuUsage();process.stderr.write('cost '+(system+user))})";

const home = mkdtempSync(join(tmpdir(), 'coxswain-report-'));
try {
  const projects = join(home, '.claude', 'projects');
  for (let at = 0; at < SESSIONS; at += 1) {
    const folder = join(projects, `-project-${at % PROJECTS}`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `session-${at}.jsonl`);
    const atMs = Date.now() - (at < RECENT ? 3_600_000 : 3 * DAY_MS + at * 60_000);
    writeFileSync(file, session(`session-${at}`, atMs));
    utimesSync(file, atMs / 1_000, atMs / 1_000);
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const run = (...args: readonly string[]): { readonly stdout: string; readonly costMs: number } => {
    const options = { cwd: home, env, encoding: 'utf8', maxBuffer: 1e9 } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, ['--import', SAYS_COST, BIN, ...args], options);
    if (status !== 0) throw new Error(stderr);
    return { stdout, costMs: Number(/cost (\d+)$/.exec(stderr)?.[1]) / 1_000 };
  };
  // After one uncounted run, so both sides find files in the cache.
  run('report', '--since', '12h');
  const timesMs = timed(() => globSync(join(projects, '*/*.jsonl')).forEach((file) => statSync(file)));
  const { costMs: startMs } = run('--version');
  const { costMs: nightMs, stdout } = run('report', '--since', '12h', '--json');
  const { costMs: allMs } = run('report', '--since', 'all', '--json');
  // The command's last line contains the totals.
  const { totals } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as {
    readonly totals: { readonly runs: number };
  };
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  console.log(
    `${SESSIONS} sessions, ${Math.round((SESSIONS * SESSION_BYTES) / 1e6)} MB, ${totals.runs} of them in the last 12 hours`,
  );
  console.log(`times of all files        ${seconds(timesMs)}`);
  console.log(`coxswain --version        ${seconds(startMs)}`);
  console.log(
    `report --since 12h        ${seconds(nightMs)}   ${(nightMs / (timesMs + startMs)).toFixed(1)}x both of these`,
  );
  console.log(`report --since all        ${seconds(allMs)}   ${(allMs / nightMs).toFixed(0)}x the report of the night`);
} finally {
  rmSync(home, { recursive: true });
}
