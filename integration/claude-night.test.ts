import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { buildHook } from '../scripts/build-hook.ts';
import { isJsonObject } from '../src/core/base/json.ts';
import { addHooks } from '../src/hosts/claude-code/edit-settings.ts';
import { hookCommand, hookGroups } from '../src/hosts/claude-code/init-hooks.ts';
import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import type { FakeModelServer, ModelFault, ModelTurn } from '../src/testing/model-script.ts';
import { homeOnly, jsonLines, runCli } from '../test/run-cli.ts';
import { storeFileOf } from '../test/user-state.ts';

/** Another installation of the program may be named; default: that of this folder. */
const CLAUDE = process.env['COXSWAIN_TEST_CLAUDE'] ?? join(import.meta.dirname, 'node_modules', '.bin', 'claude');
const PROJECTS = 6;
/** Sessions that run at a time. */
const AT_ONCE = 3;
const FOR_EVER_MS = 3_600_000;

/** How a session of that kind ends in fact: its verdict, words of the evidence, and whether it is stuck at its end. */
interface Ending {
  readonly count: number;
  readonly verdict: 'worked' | 'answered' | 'waiting' | 'cut_off' | 'failed';
  readonly evidence: RegExp;
  readonly stuck?: true;
  readonly script: (step: number) => ModelTurn | ModelFault;
}

const run = (command: string): ModelTurn => ({
  text: 'Let me see.',
  calls: [
    { id: `toolu_${Math.random().toString(36).slice(2)}`, name: 'Bash', args: { command, description: 'Run it' } },
  ],
});
const done: ModelTurn = { text: 'All done.' };
const steps =
  (...turns: readonly (ModelTurn | ModelFault)[]) =>
  (step: number): ModelTurn | ModelFault =>
    turns[Math.min(step, turns.length - 1)] ?? done;
const fails = (status: number, message: string): ModelFault => ({ error: { status, message } });
const hangs: ModelTurn = { ...done, answerAfterMs: FOR_EVER_MS };
const look = run('echo looking');

const ENDINGS: Readonly<Record<string, Ending>> = {
  answered: { count: 5, verdict: 'answered', evidence: /answered; no check/, script: steps(look, done) },
  checked: { count: 4, verdict: 'worked', evidence: /make test.*passed/, script: steps(look, run('make test'), done) },
  repaired: {
    count: 2,
    verdict: 'worked',
    evidence: /make test.*passed/,
    script: steps(run('make test BROKEN=1'), run('echo repaired'), run('make test'), done),
  },
  unrepaired: {
    count: 3,
    verdict: 'answered',
    evidence: /make test.*failed/,
    script: steps(look, run('make test BROKEN=1'), done),
  },
  rate: { count: 3, verdict: 'failed', evidence: /^rate limit/, script: steps(look, fails(429, 'rate limit')) },
  login: {
    count: 2,
    verdict: 'failed',
    evidence: /^login failed/,
    script: steps(look, fails(401, 'invalid x-api-key')),
  },
  overload: {
    count: 3,
    verdict: 'failed',
    evidence: /^model overloaded/,
    script: steps(look, fails(529, 'Overloaded')),
  },
  server: { count: 1, verdict: 'failed', evidence: /^model server error/, script: steps(look, fails(500, 'Internal')) },
  credit: {
    count: 1,
    verdict: 'failed',
    evidence: /^out of credit/,
    script: steps(look, fails(400, 'Your credit balance is too low to access the Anthropic API.')),
  },
  context: {
    count: 2,
    verdict: 'failed',
    evidence: /^context too long/,
    script: steps(look, fails(400, 'prompt is too long: 250000 tokens > 200000 maximum')),
  },
  length: {
    count: 1,
    verdict: 'failed',
    evidence: /^answer too long/,
    script: steps(look, { text: 'cut', finish: 'length' }),
  },
  turns: { count: 3, verdict: 'failed', evidence: /^turn limit/, script: (step) => run(`echo ${step}`) },
  killed: { count: 3, verdict: 'cut_off', evidence: /^its process ended/, script: steps(look, hangs) },
  stuck: {
    count: 2,
    verdict: 'answered',
    evidence: /answered; no check/,
    stuck: true,
    script: (step) => (step < 6 ? run('cat missing.txt') : done),
  },
  permission: {
    count: 2,
    verdict: 'waiting',
    evidence: /^waiting for permission/,
    script: steps(look, { calls: [{ id: 'toolu_w', name: 'Write', args: { file_path: '/etc/night', content: 'x' } }] }),
  },
  resumed: { count: 1, verdict: 'answered', evidence: /answered; no check/, script: steps(look, done) },
};

const base = mkdtempSync(join(tmpdir(), 'coxswain-night-'));
const home = join(base, 'home');
const projects = Array.from({ length: PROJECTS }, (_, index) => join(base, `project-${index}`));
const children: ChildProcess[] = [];
let server: FakeModelServer;
const isThere = existsSync(CLAUDE);

beforeAll(async () => {
  if (!isThere) return;
  await buildHook(base);
  const command = hookCommand(process.execPath, join(base, 'hook.cjs'));
  mkdirSync(join(home, '.claude'), { recursive: true });
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ permissions: { allow: ['Bash'] } }));
  const trusted = Object.fromEntries(projects.map((project) => [project, { hasTrustDialogAccepted: true }]));
  const key = { approved: ['sk-ant-dummy'], rejected: [] };
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({ hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: key, projects: trusted }),
  );
  for (const project of projects) {
    mkdirSync(join(project, '.git'), { recursive: true });
    mkdirSync(join(project, '.claude'));
    writeFileSync(join(project, '.claude', 'settings.local.json'), addHooks('', hookGroups(command)));
    writeFileSync(join(project, 'Makefile'), 'test:\n\t@test -z "$(BROKEN)"\n');
  }
  server = await startFakeAnthropicServer({
    isMain: (body) =>
      (Array.isArray(body['tools']) && body['tools'].length > 0) || JSON.stringify(body).includes('[context'),
    script: (request) => {
      const text = JSON.stringify(request);
      const kind = /\[(\w+) \d+\]/.exec(text)?.[1] ?? '';
      const messages = isJsonObject(request) && Array.isArray(request['messages']) ? request['messages'] : [];
      const step = messages.filter((message) => isJsonObject(message) && message['role'] === 'assistant').length;
      // Neither is a request to sum such a context up answered.
      const isSummary = kind === 'context' && /summar/i.test(JSON.stringify(messages.at(-1)));
      return ENDINGS[kind]?.script(isSummary ? 1 : step) ?? done;
    },
  });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server?.close();
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
});

function start(project: string, args: readonly string[], program = CLAUDE): ChildProcess {
  const env = {
    HOME: home,
    // Its own: hooks of sessions that were killed may still come when the folder is gone.
    XDG_STATE_HOME: join(base, 'state'),
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    TERM: 'xterm',
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-ant-dummy',
    CLAUDE_CODE_MAX_RETRIES: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
  };
  const child = spawn(program, args, { cwd: project, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  children.push(child);
  return child;
}

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 1_800) throw new Error(`in vain waited for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

async function play(project: string, kind: string, prompt: string): Promise<void> {
  if (kind === 'permission') {
    // A person at a terminal is asked; the session waits on while the reports are made.
    start(project, ['-qfec', `'${CLAUDE}' '${prompt}' --model claude-sonnet-4-5`, '/dev/null'], 'script');
    await until(() => openSessionsText().includes(project) && waitsIn(project), `a question in ${project}`);
    return;
  }
  const args = ['-p', prompt, '--model', 'claude-sonnet-4-5', '--output-format', 'json', '--max-turns', '9'];
  const child = start(project, args);
  child.stdin?.end();
  const ended = new Promise((resolve) => child.on('close', resolve));
  if (kind === 'killed') {
    const requestCount = (): number => server.mainRequests().filter(({ raw }) => raw.includes(prompt)).length;
    await until(() => requestCount() >= 2, `the second request of ${prompt}`);
    child.kill('SIGKILL');
  }
  await ended;
}

function openSessionsText(): string {
  const folder = join(home, '.claude', 'sessions');
  if (!existsSync(folder)) return '';
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

function waitsIn(project: string): boolean {
  return openSessionsText()
    .split('\n')
    .some((text) => text.includes(`"${project}"`) && text.includes('"waitingFor"'));
}

interface Reported {
  readonly task?: string;
  readonly stuck: boolean;
  readonly project?: string;
  readonly calls: number;
  readonly costUsd?: number;
  readonly verdict: { readonly verdict: string; readonly evidence: string };
}

async function reported(cwd: string, args: readonly string[]): Promise<readonly Reported[]> {
  const { stdout } = await runCli(['report', ...args, '--json'], { cwd, env: homeOnly(home) });
  // The lines before the last one are runs, as the command documents them.
  return jsonLines(stdout).slice(0, -1) as unknown as readonly Reported[];
}

test.skipIf(!isThere || spawnSync('script', ['--version']).status !== 0)(
  'a night of 38 sessions in six projects is reported as it was: from hooks, from transcripts, and from both',
  { timeout: 3_000_000 },
  async () => {
    const kinds = Object.entries(ENDINGS).flatMap(([kind, { count }]) => Array<string>(count).fill(kind));
    const sessions = kinds.map((kind, index) => {
      const project = projects[index % PROJECTS] ?? base;
      return { kind, project, prompt: `Fix the build [${kind} ${index}]` };
    });
    expect(sessions.length).toBe(38);
    const waiting = sessions.toReversed();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          await play(next.project, next.kind, next.prompt);
        }
      }),
    );
    // One session goes on, and another one is forked from it.
    const resumed = sessions.find(({ kind }) => kind === 'resumed');
    const project = resumed?.project ?? base;
    for (const [prompt, ...more] of [['Go on'], ['Go another way', '--fork-session']]) {
      const id = sessionIdOf(resumed?.prompt ?? '');
      const child = start(project, ['-p', prompt ?? '', '--resume', id, '--output-format', 'json', ...more]);
      child.stdin?.end();
      await new Promise((resolve) => child.on('close', resolve));
    }

    const ways = {
      hooks: (
        await Promise.all(projects.map((one) => reported(base, [storeFileOf({ project: one, env: { HOME: home } })])))
      ).flat(),
      transcripts: await reported(base, []),
      both: await reported(projects[0] ?? base, []),
    };
    const rows = sessions.map(({ kind, prompt }) => {
      const cells = Object.values(ways).map((runs) => outcomeText(runs.filter(({ task }) => task === prompt)));
      return { kind, prompt, cells, isRight: cells.every((cell) => isAsExpected(kind, cell)) };
    });
    const table = rows.map(({ cells, isRight, prompt }) => [isRight ? 'ok' : 'NO', prompt, ...cells].join(' | '));
    process.stdout.write(`actual | ${Object.keys(ways).join(' | ')}\n${table.join('\n')}\n`);
    expect(rows.filter(({ isRight }) => !isRight)).toEqual([]);
    for (const runs of Object.values(ways)) {
      // The fork has what came after it and counts its own calls only.
      expect(runs.length).toBe(39);
      expect(runs.find(({ task }) => task === 'Go another way')?.calls).toBe(0);
    }
    expect(ways.transcripts.filter(({ costUsd }) => costUsd !== undefined).length).toBeGreaterThan(25);
  },
);

function outcomeText(runs: readonly Reported[]): string {
  return runs
    .map(({ stuck, verdict }) => `${verdict.verdict}: ${verdict.evidence}${stuck ? ', stuck' : ''}`)
    .join(' AND ');
}

function isAsExpected(kind: string, cell: string): boolean {
  const { evidence, stuck = false, verdict } = ENDINGS[kind] ?? { evidence: /^$/, verdict: '' };
  if (!cell.startsWith(`${verdict}: `) || cell.includes(' AND ')) return false;
  return evidence.test(cell.slice(verdict.length + 2)) && (stuck ? cell.endsWith(', stuck') : true);
}

function sessionIdOf(prompt: string): string {
  const folder = join(home, '.claude', 'projects');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  const file = files.find((name) => readFileSync(join(folder, name), 'utf8').includes(prompt)) ?? '';
  return file.slice(file.lastIndexOf('/') + 1, -'.jsonl'.length);
}
