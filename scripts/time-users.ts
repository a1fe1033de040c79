/**
 * Times three users on a fresh machine: each has an empty HOME, an empty npm cache, and the packed package instead of the registry's.
 * Prints the commands, the seconds until their first output, and the total seconds.
 *
 * `npm run build && npx node scripts/time-users.ts [--files 10000]`; needs `script` of util-linux for a terminal.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { present } from '../src/base/present.ts';

const ROOT = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { files: { type: 'string', default: '10000' } } });
const base = mkdtempSync(join(tmpdir(), 'coxswain-users-'));

/** An empty HOME and a working folder. */
function freshHome(name: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const home = join(base, name);
  const cwd = join(home, 'work');
  mkdirSync(cwd, { recursive: true });
  // The registry setting belongs to the machine, not to the user.
  const { HOME = '', NODE_EXTRA_CA_CERTS, npm_config_userconfig = join(HOME, '.npmrc') } = process.env;
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const certificates = present({ NODE_EXTRA_CA_CERTS });
  const npm = { npm_config_userconfig, npm_config_cache: join(home, '.npm'), npm_config_audit: 'false' };
  return { cwd, env: { ...certificates, ...npm, HOME: home, PATH, TERM: 'xterm' } };
}

interface Timed {
  readonly command: string;
  /** Seconds until the expected output appeared. */
  readonly firstSeconds: number;
  readonly seconds: number;
  readonly output: string;
}

/** Runs a command line in a pseudo-terminal. */
async function timed(
  command: string,
  { cwd, env, firstOutput }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly firstOutput: RegExp },
): Promise<Timed> {
  const startMs = performance.now();
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let firstMs = Number.NaN;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (Number.isNaN(firstMs) && firstOutput.test(output)) firstMs = performance.now() - startMs;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${command}: exit code ${code}\n${output}`);
  return { command, firstSeconds: firstMs / 1_000, seconds: (performance.now() - startMs) / 1_000, output };
}

function report(user: string, steps: readonly Timed[]): void {
  console.log(`\n${user}`);
  for (const { command, firstSeconds, seconds } of steps) {
    console.log(`  ${command.replaceAll(tarball, 'coxswain')}`);
    console.log(`    first output after ${firstSeconds.toFixed(1)} s, ended after ${seconds.toFixed(1)} s`);
  }
  const lines =
    steps
      .at(-1)
      ?.output.split(/\r?\n|\r/)
      .filter((line) => line.trim() !== '') ?? [];
  for (const line of lines.slice(-8)) console.log(`    | ${line}`);
}

const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', base], { cwd: ROOT, encoding: 'utf8' });
if (packed.status !== 0) throw new Error(packed.stderr);
const tarball = join(base, readdirSync(base).find((name) => name.endsWith('.tgz')) ?? '');

async function noCode(): Promise<void> {
  const { cwd, env } = freshHome('no-code');
  const folder = join(env['HOME'] ?? '', '.claude', 'projects', '-shop');
  mkdirSync(folder, { recursive: true });
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  for (const [sessionId, failure] of [
    ['answered', {}],
    ['died', { isApiErrorMessage: true, error: 'rate_limit' }],
  ] as const) {
    const common = { sessionId, cwd: '/home/me/shop', timestamp, isSidechain: false };
    const answer = {
      role: 'assistant',
      model: 'm',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Done.' }],
    };
    const entries = [
      { ...common, type: 'user', uuid: '1', message: { role: 'user', content: `Do what has ${sessionId}.` } },
      { ...common, ...failure, type: 'assistant', uuid: '2', message: answer },
    ];
    writeFileSync(join(folder, `${sessionId}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
  const firstOutput = /2 runs/;
  report('No code: the truth about last night', [
    await timed(`npx --yes --package ${tarball} coxswain`, { cwd, env, firstOutput }),
  ]);
}

async function builder(): Promise<void> {
  const { cwd, env } = freshHome('builder');
  const page = readFileSync(join(ROOT, 'docs', 'start-typescript.md'), 'utf8');
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(cwd, 'agent.ts'), /```ts\n([^]*?)```/.exec(page)?.[1] ?? '');
  report('TypeScript: the first insight', [
    await timed(`npm install ${tarball}`, { cwd, env, firstOutput: /added/ }),
    await timed('node agent.ts', { cwd, env, firstOutput: /\[Feedback/ }),
    await timed('npx coxswain runs', { cwd, env, firstOutput: /calls/ }),
  ]);
}

async function owner(): Promise<void> {
  const { cwd, env } = freshHome('owner');
  mkdirSync(join(cwd, 'runs'));
  for (let at = 0; at < Number(values.files); at += 1) {
    const isStuck = at % 4 === 0;
    const calls = Array.from({ length: 8 }, (_, index) =>
      isStuck
        ? { tool: 'bash', args: { command: 'make' }, result: 'make: no rule', isError: true }
        : { tool: 'read_file', args: { path: `src/${index}.ts` }, result: `part ${at * 8 + index}`, isError: false },
    );
    writeFileSync(join(cwd, 'runs', `${at}.json`), JSON.stringify({ id: `run-${at}`, calls }));
  }
  report(`Evals: ${values.files} files`, [
    await timed(`npx --yes --package ${tarball} coxswain analyze runs --by folder`, {
      cwd,
      env,
      firstOutput: /\d of [\d,]+/,
    }),
  ]);
}

try {
  await noCode();
  await builder();
  await owner();
} finally {
  rmSync(base, { recursive: true, force: true });
}
