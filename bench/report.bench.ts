/**
 * Time of the first screen on a home folder with many sessions: the last 12 hours (60 sessions) and all, each against a bare Node: with an
 * empty cache folder, with only the compiled code of coxswain, and with what the same report kept. Run `npm run build`, then
 * `npx node bench/report.bench.ts [sessions] [megabytes]`; default: 2,000 sessions of 1,000 MB.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [sessions = 2_000, megabytes = 1_000] = process.argv.slice(2).map(Number);
const RECENT = 60;
const CALLS = 40;
const DAY_MS = 86_400_000;
const bin = resolve('dist/cli/bin.js');

/** A session of Claude Code with 40 calls and results of equal size. */
function sessionText(id: string, startMs: number, resultChars: number): string {
  const lines: object[] = [];
  const add = (type: string, message: object): void => {
    const at = lines.length;
    const timestamp = new Date(startMs + at * 5_000).toISOString();
    lines.push({ type, uuid: `${id}-${at}`, sessionId: id, cwd: `/w/project-${id.length % 7}`, timestamp, message });
  };
  add('user', { role: 'user', content: `Fix the part ${id}` });
  for (let call = 0; call < CALLS; call += 1) {
    const use = { type: 'tool_use', id: `c${call}`, name: 'Bash', input: { command: `sed -n ${call}p a.txt` } };
    add('assistant', {
      id: `m${call}`,
      role: 'assistant',
      model: 'claude-opus-4-8',
      content: [use],
      stop_reason: 'tool_use',
    });
    const content = `${call} ${'lorem ipsum '.repeat(resultChars / 12)}`;
    add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${call}`, content }] });
  }
  add('assistant', {
    id: 'end',
    role: 'assistant',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
  });
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** Other folders of the user, and compiled code of an earlier build, would be found too. */
function environment(home: string): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _compiled, XDG_CACHE_HOME: _cache, ...inherited } = process.env;
  return { ...inherited, HOME: home };
}

function secondsOf(args: readonly string[], home: string): number {
  const started = performance.now();
  const done = spawnSync(process.execPath, args, { cwd: home, env: environment(home), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return (performance.now() - started) / 1_000;
}

const home = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
try {
  const folder = join(home, '.claude', 'projects', '-w');
  mkdirSync(folder, { recursive: true });
  const resultChars = Math.round((megabytes * 1e6) / sessions / CALLS);
  for (let index = 0; index < sessions; index += 1) {
    const startMs = Date.now() - (index < RECENT ? 3_600_000 : 30 * DAY_MS);
    const path = join(folder, `s${index}.jsonl`);
    writeFileSync(path, sessionText(`s${index}`, startMs, resultChars));
    utimesSync(path, startMs / 1_000, startMs / 1_000);
  }
  const bare = Math.min(...[0, 1, 2].map(() => secondsOf(['-e', '0'], home)));
  const cache = join(home, '.cache', 'coxswain');
  /** What a command finds in the cache folder. */
  const stages = {
    'the first command': () => rmSync(cache, { recursive: true, force: true }),
    'its code compiled before': () => rmSync(join(cache, 'reports.db'), { force: true }),
    'the same report again': () => undefined,
  };
  for (const [name, args] of [
    ['the last 12 hours', [bin]],
    ['all', [bin, '--since', 'all']],
  ] as const)
    for (const [stage, prepare] of Object.entries(stages)) {
      const times = [0, 1, 2].map(() => {
        prepare();
        return secondsOf(args, home);
      });
      const seconds = Math.min(...times);
      const ratio = (seconds / bare).toFixed(0);
      console.log(`${name.padEnd(18)} ${stage.padEnd(25)} ${seconds.toFixed(2)} s, ${ratio}x a bare node`);
    }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
