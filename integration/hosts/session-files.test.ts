import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { findSessions } from '../../src/formats/find-sessions.ts';
import type { ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { FILE_HOSTS, type HostRun } from './host-drivers.ts';
import { startProgram } from './host-program.ts';
import { importedFacts, type Facts } from './run-facts.ts';

const { program, version, ...driver } = FILE_HOSTS['kimi-code'];
const PROGRAM = join(process.env['COXSWAIN_HOSTS'] ?? '', `kimi-code-${version}`, 'node_modules', '.bin', program);
const USAGE = { inputTokens: 1_200, outputTokens: 34 };
const DONE: ModelTurn = { text: 'Done.' };
const homes: string[] = [];

afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

const tokens = (answers: number): number => answers * (USAGE.inputTokens + USAGE.outputTokens);
const shell = (command: string): ModelCall => driver.shell(command);
const one = (...calls: readonly ModelCall[]): ModelTurn => ({ calls });

class Home {
  readonly place: Omit<HostRun, 'url'>;
  #calls = 0;

  constructor() {
    const home = mkdtempSync(join(tmpdir(), 'coxswain-files-'));
    homes.push(home);
    this.place = { home, project: join(home, 'project') };
    mkdirSync(join(home, 'project', '.git'), { recursive: true });
    writeFileSync(join(home, 'project', 'a.txt'), 'hello\n');
  }

  /** Runs the program with these answers of the model. */
  async run(
    turns: readonly ModelTurn[],
    { args = driver.args, killAfterMs, sub = [] }: Partial<typeof HOW> = {},
  ): Promise<void> {
    const left = { main: [...turns], sub: [...sub] };
    let kill = (): void => undefined;
    const script = (request: unknown): ModelTurn => {
      const text = JSON.stringify(request);
      const turn = left[text.includes('SUBTASK') && !text.includes('Investigate') ? 'sub' : 'main'].shift() ?? DONE;
      if (killAfterMs !== undefined && left.main.length === 0) setTimeout(kill, killAfterMs);
      const calls = turn.calls?.map((call) => Object.assign({ id: `call_${(this.#calls += 1)}` }, call));
      return { usage: USAGE, ...turn, ...(calls === undefined ? {} : { calls }) };
    };
    const server = await driver.startServer({ script });
    const place = { ...this.place, url: server.url };
    driver.prepare?.(place);
    const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    const env = { HOME: place.home, PATH, ...driver.env(place) };
    const started = startProgram(PROGRAM, args('Investigate', place), { cwd: place.project, env });
    kill = started.kill;
    await started.ended;
    await server.close();
    // The program asked for every answer, so it did what the situation says.
    const leftOver = left.main.length + left.sub.length;
    if (leftOver > 0) throw new Error(`the program did not ask for ${leftOver} answers`);
  }

  async facts(): Promise<readonly Facts[string][]> {
    const sessions = findSessions({ home: this.place.home, env: {} });
    const files = sessions.find(({ format }) => format === 'kimi-code')?.sessions.map(({ path }) => path) ?? [];
    const facts = await importedFacts(files);
    return Object.keys(facts)
      .toSorted((a, b) => a.length - b.length)
      .flatMap((id) => facts[id] ?? []);
  }
}

const HOW = { args: driver.args, killAfterMs: 0, sub: [] as readonly ModelTurn[] };
const ended = { compactions: 0, end: 'ended, answered' };

describe.skipIf(!existsSync(PROGRAM))(`kimi-code ${version}: a session file says what the program did`, () => {
  test('calls that succeed, fail, do not exist, and run in parallel', async () => {
    const home = new Home();
    const nope = { name: 'nope_tool', args: {} };
    const failing = driver.failing[0] ?? nope;
    await home.run([one(shell('echo one')), one(shell('exit 4'), failing, nope, shell('ls')), DONE]);
    const calls = 'Bash, Bash, Bash!, Read!, nope_tool!';
    expect(await home.facts()).toMatchObject([{ calls, tokens: tokens(3), turns: 3, ...ended }]);
  });

  test('a session that is continued is one run', async () => {
    const home = new Home();
    await home.run([one(shell('echo one')), DONE]);
    await home.run([one(shell('echo two')), DONE], { args: driver.resumeArgs });
    expect(await home.facts()).toMatchObject([{ calls: 'Bash, Bash', tokens: tokens(4), turns: 4, ...ended }]);
  });

  test('a subagent is a run of its own', async () => {
    const home = new Home();
    const agent = { name: 'Agent', args: { description: 'sub', prompt: 'SUBTASK', subagent_type: 'coder' } };
    await home.run([one(agent), DONE], { sub: [one(shell('echo sub')), DONE] });
    expect(await home.facts()).toMatchObject([
      { calls: 'Agent', tokens: tokens(2), turns: 2, ...ended },
      { calls: 'Bash', tokens: tokens(2), turns: 2, ...ended },
    ]);
  });

  test('a program that is killed while a command runs leaves no end', async () => {
    const home = new Home();
    await home.run([one(shell('echo one')), one(shell('sleep 60'))], { killAfterMs: 5_000 });
    expect(await home.facts()).toMatchObject([{ calls: 'Bash, Bash', tokens: tokens(2), turns: 2, end: undefined }]);
  });
});
