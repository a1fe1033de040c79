import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { projectStoreFile } from '../../src/core/node/git-folder.ts';
import { completeRuns, incompleteRuns } from '../../src/hosts/claude-code/complete-sessions.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { findSessions } from '../../src/formats/find-sessions.ts';
import type { HostName } from '../../src/hosts/dialects/hook-dialect.ts';
import type { ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { HOST_DRIVERS, type HostDriver, type HostRun, type HostScene, type SceneName } from './host-drivers.ts';
import { startProgram } from './host-program.ts';
import { importedFacts, liveFacts } from './run-facts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BIN = join(ROOT, 'src', 'cli', 'bin.ts');
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const USAGE = { inputTokens: 1_200, outputTokens: 34 };
const homes: string[] = [];

afterAll(
  () =>
    process.env['KEEP_HOMES'] === undefined && homes.forEach((home) => rmSync(home, { recursive: true, force: true })),
);

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
    const args = [this.bin, 'init', this.#host, '--yes', ...scope];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`init: ${String(status)} ${stderr}`);
  }

  /** The CLI that installs the hooks. */
  bin: string = BIN;

  /** Copies coxswain as another version of it. */
  copyOther(): string {
    const folder = join(this.folder, 'other');
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['package.json', ...globSync('dist/*.cjs', { cwd: ROOT })]) {
      const text = readFileSync(join(ROOT, name), 'utf8');
      writeFileSync(join(folder, name), text.replaceAll(`"${VERSION}`, '"0.0.9'));
    }
    return join(folder, 'dist', 'cli', 'bin.js');
  }

  /** Runs the program until it ends, with answers of the model in this order. */
  async run(turns: readonly ModelTurn[], { args, killAt, scene, sub = [] }: RunOptions = {}): Promise<void> {
    const left = { main: [...turns], sub: [...sub] };
    let kill = (): void => undefined;
    const script = (request: unknown): ModelTurn => {
      const text = JSON.stringify(request);
      const isSub = text.includes('SUBTASK') && !text.includes('Investigate');
      const turn = left[isSub ? 'sub' : 'main'].shift() ?? { text: 'Nothing more.' };
      if (killAt !== undefined && !isSub && left.main.length < turns.length - killAt) setTimeout(kill, 3_000);
      const calls = turn.calls?.map((call) => Object.assign({ id: `call_${(this.#calls += 1)}` }, call));
      return { usage: USAGE, ...turn, ...(calls === undefined ? {} : { calls }) };
    };
    const server = await this.driver.startServer({ script });
    const place = { home: this.folder, project: this.project, url: server.url };
    this.driver.prepare?.(place);
    scene?.prepare?.(place);
    if (this.isHooked) this.init();
    const { options = [] } = scene ?? {};
    const files = await this.files();
    const started = startProgram(
      programOf(this.#host),
      [
        ...(args === undefined ? this.driver.args('Investigate', place) : args('Investigate', files, place)),
        ...(typeof options === 'function' ? options(place) : options),
      ],
      { cwd: this.project, env: { ...this.env, ...this.driver.env(place), ...this.more } },
    );
    kill = started.kill;
    await started.ended;
    await server.close();
    // The program asked for every answer, so it did what the situation says.
    const leftOver = left.main.length + left.sub.length;
    if (killAt === undefined && leftOver > 0) throw new Error(`the program did not ask for ${leftOver} answers`);
  }

  /** Environment variables beside those of every run. */
  more: Readonly<Record<string, string>> = {};

  async files(): Promise<readonly string[]> {
    const hosts = findSessions({ home: this.folder, env: {} });
    return hosts.find(({ format }) => format === this.#host)?.sessions.map(({ path }) => path) ?? [];
  }

  isHooked = true;

  /** Reads the session files once more, as every command does some time after a fault. */
  async complete(): Promise<void> {
    const store = sqliteStore(projectStoreFile(this.project, { env: { HOME: this.folder } }));
    const places = { home: this.folder, env: this.env, store };
    try {
      const { runs } = await store.listRuns();
      const incomplete = await incompleteRuns(runs, { ...places, nowMs: Date.now() + 60_000 });
      await completeRuns(incomplete, store, this.project, this.env);
    } finally {
      await store.close();
    }
  }

  async imported(): Promise<ReturnType<typeof importedFacts>> {
    return importedFacts(await this.files());
  }
}

interface RunOptions {
  /** Arguments of the program. Default: those of a new session. */
  readonly args?: (prompt: string, files: readonly string[], run: HostRun) => readonly string[];
  readonly scene?: HostScene;
  /** Answers to the subagent. */
  readonly sub?: readonly ModelTurn[];
  /** Kills the host three seconds after this answer, counted from 0. */
  readonly killAt?: number;
}

const resumed = ({ driver }: Home): RunOptions => ({
  args: (prompt, _files, place) => driver.resumeArgs(prompt, place),
});
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
    await home.run([one(home.driver.shell('echo two')), DONE], resumed(home));
  },
  'hook killed': async (home) => {
    const script = join(home.folder, 'kill.cjs');
    const count = join(home.folder, 'count');
    writeFileSync(
      script,
      `if (process.argv.includes('coxswain-hook')) {
        const fs = require('fs');
        fs.appendFileSync(${JSON.stringify(count)}, 'x');
        const { size } = fs.statSync(${JSON.stringify(count)});
        const isLines = process.argv.includes('lines');
        if (isLines && size === 1) setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000);
        if (!isLines && size % 3 === 0) process.kill(process.pid, 'SIGKILL');
      }`,
    );
    home.more = { NODE_OPTIONS: `--require ${script}` };
    const { shell } = home.driver;
    await home.run([one(shell('echo one')), one(shell('exit 4')), one(NOPE), one(shell('echo three')), DONE]);
  },
  'host killed and resumed': async (home) => {
    const { shell } = home.driver;
    await home.run([one(shell('echo one')), one(shell('sleep 60')), DONE], { killAt: 1 });
    await home.run([one(shell('echo two')), DONE], resumed(home));
  },
  'upgrade in place': async (home) => {
    home.bin = home.copyOther();
    await home.run([one(home.driver.shell('echo one')), one(NOPE), DONE]);
    home.bin = BIN;
    await home.run([one(home.driver.shell('echo two')), DONE], resumed(home));
  },
  'installed in the middle': async (home) => {
    home.isHooked = false;
    await home.run([one(home.driver.shell('echo one')), one(NOPE), DONE]);
    home.isHooked = true;
    await home.run([one(home.driver.shell('echo two')), DONE], resumed(home));
  },
};

/** Situations for which each program needs something else. */
const SCENES: Readonly<Record<SceneName, (home: Home, scene: HostScene) => Promise<void>>> = {
  'refused call': async (home, scene) =>
    home.run([one(scene.call), one(home.driver.shell('echo one')), DONE], { scene }),
  'hung command': async (home, scene) =>
    home.run([one(scene.call), one(home.driver.shell('echo after')), DONE], { scene }),
  subagent: async (home, scene) =>
    home.run([...(scene.turns ?? [one(scene.call)]), one(home.driver.shell('echo one')), DONE], {
      scene,
      sub: [one(home.driver.shell('echo sub')), one(NOPE), { text: 'Done below.' }],
    }),
  compaction: async (home, scene) => {
    const { shell } = home.driver;
    const large = { ...one(shell('echo one')), usage: { inputTokens: 2_900, outputTokens: 34 } };
    await home.run([large, one(shell('echo two')), DONE], { scene });
    await home.run([one(shell('echo three')), DONE], { scene, ...resumed(home) });
  },
  fork: async (home, scene) => {
    await home.run([one(home.driver.shell('echo one')), DONE]);
    await home.run(
      [one(home.driver.shell('echo two')), DONE],
      scene.nextArgs === undefined ? {} : { args: scene.nextArgs },
    );
  },
};

const NOPE: ModelCall = { name: 'nope_tool', args: {} };

const HOSTS: readonly HostName[] = ['codex', 'gemini', 'copilot', 'pi', 'opencode', 'qwen-code'];

for (const host of HOSTS) {
  describe.skipIf(!existsSync(programOf(host)))(
    `${host} ${HOST_DRIVERS[host].version}: the run recorded live equals the run imported`,
    () => {
      const { scenes } = HOST_DRIVERS[host];
      const names = [...Object.keys(SITUATIONS), ...Object.keys(SCENES)];
      // `Object.keys` does not say that these are the keys.
      const sceneOf = (name: string): HostScene | string | undefined => scenes[name as SceneName];
      for (const name of names) {
        const scene = sceneOf(name);
        test.skipIf(typeof scene === 'string')(
          `${name}${typeof scene === 'string' ? `, not possible: ${scene}` : ''}`,
          async () => {
            const home = new Home(host);
            // The file of a subagent of Codex has the id of the subagent.
            const importedId = (id: string): string =>
              host === 'codex' ? id.replace(/^.*\//, '') : id.replace('/', '/agent-');
            await (typeof scene === 'object' ? SCENES[name as SceneName](home, scene) : SITUATIONS[name]?.(home));
            if (name.includes('killed')) await home.complete();
            const imported = await home.imported();
            const facts = await liveFacts(home.project, home.folder);
            const live = Object.fromEntries(Object.entries(facts).map(([id, fact]) => [importedId(id), fact]));
            process.stdout.write(`${host}, ${name}: ${JSON.stringify(live)}\n`);
            expect(Object.keys(imported)).not.toEqual([]);
            expect(Object.keys(live).toSorted()).toEqual(Object.keys(imported).toSorted());
            for (const [id, { end, ...figures }] of Object.entries(imported)) {
              const forgets = name === 'host killed and resumed' && HOST_DRIVERS[host].forgetsKilledCalls === true;
              const { calls } = figures;
              expect(live[id]).toMatchObject(forgets ? { ...figures, calls: `${calls}, run_shell_command` } : figures);
              // A chat of Gemini CLI does not say how it ended.
              const isUntold = HOST_DRIVERS[host].hasNoEnd === true && !id.includes('/');
              expect(live[id]?.end).toBe(isUntold ? undefined : (end ?? live[id]?.end));
            }
          },
        );
      }
    },
  );
}
