import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { findSessions } from '../../src/formats/find-sessions.ts';
import type { HostName } from '../../src/hosts/dialects/hook-dialect.ts';
import type { ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { HOST_DRIVERS, type HostDriver } from './host-drivers.ts';
import { importedFacts, liveFacts } from './run-facts.ts';

const BIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
const USAGE = { inputTokens: 1_200, outputTokens: 34 };
const homes: string[] = [];

afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

const programOf = (host: HostName): string => {
  const { program, version } = HOST_DRIVERS[host];
  return join(process.env['COXSWAIN_HOSTS'] ?? '', `${host}-${version}`, 'node_modules', '.bin', program);
};

/** A user's home with one project, in which a host runs against a fake model. */
class Home {
  readonly driver: HostDriver;
  readonly folder: string = mkdtempSync(join(tmpdir(), 'coxswain-truth-'));
  readonly project: string = join(this.folder, 'project');
  readonly #host: HostName;
  #calls = 0;

  constructor(host: HostName) {
    homes.push(this.folder);
    this.#host = host;
    this.driver = HOST_DRIVERS[host];
    mkdirSync(join(this.project, '.git'), { recursive: true });
    writeFileSync(join(this.project, 'a.txt'), 'hello\n');
  }

  get env(): Readonly<Record<string, string>> {
    const PATH = `${dirname(process.execPath)}:${dirname(programOf(this.#host))}:${process.env['PATH'] ?? ''}`;
    return { HOME: this.folder, PATH, XDG_STATE_HOME: join(this.folder, 'state') };
  }

  /** Installs the hooks. */
  init(): void {
    const scope = this.driver.scope === 'user' ? ['--user'] : [];
    const args = [BIN, 'init', this.#host, '--yes', ...scope];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`init: ${String(status)} ${stderr}`);
  }

  async run(turns: readonly ModelTurn[], { resumes = false }: { readonly resumes?: boolean } = {}): Promise<void> {
    const left = [...turns];
    const script = (): ModelTurn => {
      const turn = left.shift() ?? { text: 'Nothing more.' };
      const calls = turn.calls?.map((call) => Object.assign({ id: `call_${(this.#calls += 1)}` }, call));
      return { usage: USAGE, ...turn, ...(calls === undefined ? {} : { calls }) };
    };
    const server = await this.driver.startServer({ script });
    const place = { home: this.folder, project: this.project, url: server.url };
    this.driver.prepare?.(place);
    if (this.isHooked) this.init();
    const args = (resumes ? this.driver.resumeArgs : this.driver.args)('Investigate', place);
    const child = spawn(programOf(this.#host), args, {
      cwd: this.project,
      env: { ...this.env, ...this.driver.env(place) },
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
    await new Promise((resolve) => child.on('close', resolve));
    clearTimeout(timer);
    await server.close();
  }

  isHooked = true;

  async imported(): Promise<ReturnType<typeof importedFacts>> {
    const hosts = await findSessions({ home: this.folder, env: {} });
    return importedFacts(hosts.find(({ format }) => format === this.#host)?.sessions.map(({ path }) => path) ?? []);
  }
}

const one = (call: ModelCall | undefined): ModelTurn => ({ calls: call === undefined ? [] : [call] });
const DONE: ModelTurn = { text: 'Done.' };

const SITUATIONS: Readonly<Record<string, (home: Home) => Promise<void>>> = {
  plain: async (home) => home.run([one(home.driver.shell('echo one')), one(home.driver.shell('ls')), DONE]),
  'failing command': async (home) =>
    home.run([one(home.driver.shell('exit 4')), one(home.driver.shell('cat no')), DONE]),
  'calls that fail without a shell': async (home) => home.run([...home.driver.failing.map(one), DONE]),
  'unknown tool': async (home) => home.run([one(NOPE), one(NOPE), DONE]),
  'invalid arguments': async (home) => home.run([one({ ...home.driver.shell('ls'), args: { bad: 1 } }), DONE]),
  'parallel calls': async (home) => {
    const { shell } = home.driver;
    await home.run([{ calls: [shell('echo 1'), shell('exit 3'), NOPE, shell('echo 2')] }, one(shell('ls')), DONE]);
  },
  'equal calls': async (home) => {
    const { shell } = home.driver;
    await home.run([one(shell('cat no')), one(shell('cat no')), one(shell('cat no')), one(shell('cat no')), DONE]);
  },
  resume: async (home) => {
    await home.run([one(home.driver.shell('echo one')), DONE]);
    await home.run([one(home.driver.shell('echo two')), DONE], { resumes: true });
  },
  'installed in the middle': async (home) => {
    home.isHooked = false;
    await home.run([one(home.driver.shell('echo one')), one(NOPE), DONE]);
    home.isHooked = true;
    await home.run([one(home.driver.shell('echo two')), DONE], { resumes: true });
  },
};
const NOPE: ModelCall = { name: 'nope_tool', args: {} };

const HOSTS: readonly HostName[] = ['codex', 'gemini', 'copilot', 'pi', 'opencode'];

for (const host of HOSTS) {
  describe.skipIf(!existsSync(programOf(host)))(
    `${host} ${HOST_DRIVERS[host].version}: the run recorded live equals the run imported`,
    () => {
      test.each(Object.entries(SITUATIONS))('%s', async (name, play) => {
        const home = new Home(host);
        await play(home);
        const imported = await home.imported();
        const live = await liveFacts(home.project, home.folder);
        process.stdout.write(`${host}, ${name}: ${JSON.stringify(Object.values(live))}\n`);
        expect(Object.keys(imported)).not.toEqual([]);
        for (const [id, { end, ...figures }] of Object.entries(imported)) {
          expect(live[id]).toMatchObject(figures);
          // A chat of Gemini CLI does not say how it ended.
          expect(live[id]?.end).toBe(end ?? live[id]?.end);
        }
      });
    },
  );
}
