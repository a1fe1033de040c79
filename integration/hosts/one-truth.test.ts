import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { startFakeAnthropicServer } from '../../src/testing/fake-anthropic-server.ts';
import type { ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { HOST_DRIVERS } from './host-drivers.ts';
import { trustAs } from '../../test/user-state.ts';
import { startProgram } from './host-program.ts';
import { importedFacts, liveFacts } from './run-facts.ts';

const BIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
const { version } = HOST_DRIVERS['claude-code'];
const CLAUDE = join(process.env['COXSWAIN_HOSTS'] ?? '', `claude-code-${version}`, 'node_modules', '.bin', 'claude');
const USAGE = { inputTokens: 1_200, outputTokens: 34 };
const homes: string[] = [];

afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

/** A user's home with one project, in which Claude Code runs against a fake model. */
class Home {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'coxswain-truth-'));
  readonly project: string = join(this.folder, 'project');
  readonly settings: string = join(this.folder, '.claude', 'settings.json');
  /** The requests of the main thread. */
  readonly requests: string[] = [];
  #calls = 0;

  constructor() {
    homes.push(this.folder);
    mkdirSync(join(this.project, '.git'), { recursive: true });
    mkdirSync(dirname(this.settings));
    writeFileSync(join(this.project, 'a.txt'), 'hello\n');
    const permissions = { allow: ['Bash', 'Agent', 'Task', 'Edit', 'Read'], deny: ['Bash(rm:*)'] };
    writeFileSync(this.settings, JSON.stringify({ permissions }));
  }

  get env(): Readonly<Record<string, string>> {
    const { PATH = '' } = process.env;
    return { HOME: this.folder, PATH, XDG_STATE_HOME: join(this.folder, 'state') };
  }

  /** Installs the hooks, for this version of Claude Code if it is given. */
  init(scope: readonly string[] = ['--user'], olderVersion?: string): void {
    const bin = join(this.folder, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho ${olderVersion ?? version}\n`, { mode: 0o755 });
    const env = { ...this.env, PATH: `${bin}:${this.env['PATH'] ?? ''}` };
    const args = [BIN, 'init', 'claude-code', '--yes', ...scope];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: this.project, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`init: ${String(status)} ${stderr}`);
  }

  /** Writes a configuration, and trusts the project. */
  configure(config: object): void {
    writeFileSync(join(this.project, 'coxswain.config.json'), JSON.stringify(config));
    trustAs({ project: this.project, env: this.env });
  }

  async run(
    turns: readonly ModelTurn[],
    { args = [], prompt = 'MAINTASK', sub = [], killAt }: RunOptions = {},
  ): Promise<void> {
    const left = { main: [...turns], sub: [...sub] };
    let kill = (): void => undefined;
    const server = await startFakeAnthropicServer({
      script: (request) => {
        const first = JSON.stringify((request as { readonly messages?: readonly unknown[] }).messages?.[0] ?? '');
        const isSub = first.includes('SUBTASK') && !first.includes('MAINTASK');
        const turn = left[isSub ? 'sub' : 'main'].shift() ?? { text: 'Nothing more.' };
        if (killAt !== undefined && !isSub && left.main.length < turns.length - killAt) setTimeout(kill, 3_000);
        const calls = turn.calls?.map((call) => Object.assign({ id: `toolu_${(this.#calls += 1)}` }, call));
        if (!isSub) this.requests.push(JSON.stringify(request));
        return { usage: USAGE, ...turn, ...(calls === undefined ? {} : { calls }) };
      },
    });
    const started = startProgram(CLAUDE, ['-p', prompt, '--model', 'claude-sonnet-4-5', '--max-turns', '40', ...args], {
      cwd: this.project,
      env: {
        ...this.env,
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: 'sk-ant-dummy',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
      },
    });
    kill = started.kill;
    await started.ended;
    await server.close();
  }

  /** Facts by run id, as the hooks recorded them. */
  async live(): Promise<Readonly<Record<string, object>>> {
    const facts = await liveFacts(this.project, this.folder);
    return Object.fromEntries(Object.entries(facts).map(([id, one]) => [id.replace('/', '/agent-'), one]));
  }

  /** Facts by run id, as imported from the session files. */
  async imported(): Promise<Readonly<Record<string, object>>> {
    return importedFacts(globSync(join(this.folder, '.claude', 'projects', '*', '**', '*.jsonl')));
  }
}

interface RunOptions {
  readonly args?: readonly string[];
  readonly prompt?: string;
  readonly sub?: readonly ModelTurn[];
  /** Kills the host three seconds after this answer, counted from 0. */
  readonly killAt?: number;
}

const bash = (command: string, more: object = {}): ModelCall => ({
  name: 'Bash',
  args: { command, description: 'x', ...more },
});
const one = (call: ModelCall): ModelTurn => ({ calls: [call] });
const DONE: ModelTurn = { text: 'Done.' };
const AGENT: ModelCall = {
  name: 'Agent',
  args: { description: 'sub', prompt: 'SUBTASK', subagent_type: 'general-purpose' },
};
const nope: ModelCall = { name: 'Nope', args: {} };
const again = { args: ['-c'], prompt: 'MAINTASK again' };

const SITUATIONS: Readonly<Record<string, (home: Home) => Promise<void>>> = {
  async plain(home) {
    home.init();
    await home.run([one(bash('echo one')), one(bash('ls')), DONE]);
  },
  async 'refused calls'(home) {
    home.init();
    const edit = { file_path: join(home.project, 'a.txt'), old_string: 'zz', new_string: 'y' };
    await home.run([one(bash('rm -f x')), one({ name: 'Edit', args: edit }), one({ name: 'Edit', args: edit }), DONE]);
  },
  async 'unknown tool'(home) {
    home.init();
    await home.run([one(nope), one(nope), DONE]);
  },
  async 'invalid arguments'(home) {
    home.init();
    await home.run([one({ name: 'Read', args: { bad: 1 } }), DONE]);
  },
  async 'failing command'(home) {
    home.init();
    await home.run([one(bash('exit 4')), one(bash('cat missing')), DONE]);
  },
  async 'hung command'(home) {
    home.init();
    const wait = bash('python3 -c "import time; time.sleep(30)"', { timeout: 1_000 });
    await home.run([one(wait), one(bash('echo after')), DONE]);
  },
  async subagent(home) {
    home.init();
    await home.run([one(AGENT), { text: 'I wait.' }, DONE], { sub: [one(bash('echo sub')), one(nope), DONE] });
  },
  async 'parallel calls'(home) {
    home.init();
    await home.run([{ calls: [bash('echo 1'), bash('exit 3'), bash('echo 2'), nope] }, DONE]);
  },
  async compaction(home) {
    home.init();
    await home.run([one(bash('echo one')), DONE]);
    await home.run([{ text: '<summary>short</summary>' }], { args: ['-c'], prompt: '/compact' });
    await home.run([one(bash('echo two')), DONE], again);
  },
  async resume(home) {
    home.init();
    await home.run([one(bash('echo one')), DONE]);
    await home.run([one(bash('echo two')), DONE], again);
  },
  async fork(home) {
    home.init();
    await home.run([one(bash('echo one')), DONE]);
    await home.run([one(bash('echo two')), DONE], { ...again, args: ['-c', '--fork-session'] });
  },
  async 'hook killed'(home) {
    home.init();
    const settings = JSON.parse(readFileSync(home.settings, 'utf8')) as {
      readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { command: string }[] }[]>>;
    };
    const hook = settings.hooks['PostToolBatch']?.[0]?.hooks[0];
    if (hook === undefined) throw new Error('there is no hook');
    const count = join(home.folder, 'count');
    const script = join(home.folder, 'hook.sh');
    const lines = [
      `echo x >> '${count}'`,
      `if [ $(wc -l < '${count}') -eq 2 ]; then kill -9 $$; fi`,
      `exec ${hook.command}`,
    ];
    writeFileSync(script, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
    hook.command = `${script} coxswain-hook`;
    writeFileSync(home.settings, JSON.stringify(settings));
    await home.run([one(bash('echo one')), one(bash('exit 4')), one(bash('echo three')), DONE]);
  },
  async 'host killed and resumed'(home) {
    home.init();
    const wait = bash('python3 -c "import time; time.sleep(60)"');
    await home.run([one(bash('echo one')), one(wait), DONE], { killAt: 1 });
    await home.run([one(bash('echo two')), DONE], again);
  },
  async 'upgrade in place'(home) {
    home.init(['--user'], '2.1.117');
    await home.run([{ calls: [bash('echo one'), bash('exit 3')] }, one(nope), DONE]);
    home.init();
    await home.run([one(bash('echo two')), DONE], again);
  },
  async 'installed in the middle'(home) {
    await home.run([one(bash('echo one')), one(nope), DONE]);
    home.init();
    await home.run([one(bash('echo two')), DONE], again);
  },
  async 'two installations'(home) {
    home.init();
    home.init([]);
    const local = join(home.project, '.claude', 'settings.local.json');
    // Claude Code runs equal commands once.
    writeFileSync(local, readFileSync(local, 'utf8').replaceAll(' coxswain-hook', '  coxswain-hook'));
    await home.run([one(bash('echo one')), { calls: [bash('exit 4'), bash('ls')] }, DONE]);
  },
  async 'turn limit'(home) {
    home.init();
    await home.run(
      Array.from({ length: 5 }, (_, at) => one(bash(`echo ${at}`))),
      { args: ['--max-turns', '3'] },
    );
  },
};

const isThere = existsSync(CLAUDE);
describe.skipIf(!isThere)(`claude-code ${version}: the run recorded live equals the run imported`, () => {
  test.each(Object.entries(SITUATIONS))('%s', async (name, play) => {
    const home = new Home();
    await play(home);
    const [live, imported] = [await home.live(), await home.imported()];
    process.stdout.write(`${name}: ${JSON.stringify(Object.values(live))}\n`);
    expect(Object.keys(imported)).not.toEqual([]);
    expect(live).toEqual(imported);
  });
});

describe.skipIf(!isThere)(`claude-code ${version}: a budget fires at the right call`, () => {
  test.each([
    // 4,034 tokens an answer.
    ['50,000 tokens', { tokens: 50_000 }, { inputTokens: 4_000, outputTokens: 34 }, 13],
    // 0.0765 dollars an answer.
    ['1 dollar', { costUsd: 1 }, { inputTokens: 25_000, outputTokens: 100 }, 14],
  ])('%s', async (_name, budget, usage, lastCall) => {
    const home = new Home();
    home.configure({ budget, stop: { budget: true } });
    home.init();
    await home.run(Array.from({ length: 16 }, (_, at) => ({ ...one(bash(`echo ${at}`)), usage })));
    const [run] = Object.values(await home.live());
    expect(run).toMatchObject({ calls: Array.from({ length: lastCall }, () => 'Bash').join(', '), turns: lastCall });
    expect(home.requests).toHaveLength(lastCall);
    // The request after the fifth call.
    expect(home.requests.findIndex((request) => request.includes('budget lasts for about'))).toBe(5);
  });
});
