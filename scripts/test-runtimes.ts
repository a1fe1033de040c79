/**
 * The packed package on each runtime: `npm run test:runtimes`. Installs the runtimes from npm, once and into `node_modules/.cache`,
 * packs and installs coxswain into a temporary folder, and there runs a first program and five commands on each. All must print what
 * the Node of this process prints; an old Node says in one sentence what it lacks. Names on the command line choose some: `npm run test:runtimes -- bun deno`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Runtime {
  readonly name: string;
  /** Name and exact version of the npm package that brings it. */
  readonly install: string;
  readonly program: string;
  /** Before the file that is run. */
  readonly args: readonly string[];
}

const RUNTIMES: readonly Runtime[] = [
  { name: 'node22', install: 'node@22.23.3', program: 'node', args: [] },
  { name: 'node26', install: 'node@26.10.0', program: 'node', args: [] },
  { name: 'bun', install: 'bun@1.4.5', program: 'bun', args: ['run'] },
  { name: 'deno', install: 'deno@2.9.6', program: 'deno', args: ['run', '-A'] },
];

const FIRST_PROGRAM = `
import { createCoxswain, viewOf } from 'coxswain';
import { sqliteStore } from 'coxswain/sqlite';

const clock = { nowMs: () => 1_767_225_600_000 };
const store = sqliteStore(process.argv[2]);
const cox = createCoxswain({ store, clock, newRunId: () => 'first' });
const run = cox.startRun({ deadline: { minutes: 5 } });
for (let at = 0; at < 6; at += 1) {
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'tool_execution_start', toolCallId: 'c' + at, toolName: 'bash', args: { command: 'make' } });
  run.emit({ type: 'tool_execution_end', toolCallId: 'c' + at, toolName: 'bash', result: 'make: *** No rule', isError: true });
  console.log(run.feedback() ?? '-');
}
console.log(await run.end());
const records = [];
for await (const record of store.readRun('first')) records.push(record);
console.log(records.length, viewOf(records).calls);
await cox.close();
`;
const OLD: Runtime = { name: 'node20', install: 'node@20.20.2', program: 'node', args: [] };
/** What an old Node prints, in one line each. */
const SENTENCES: readonly (readonly [args: readonly string[], sentence: RegExp])[] = [
  [['node_modules/coxswain/dist/cli/bin.js', 'runs'], /^coxswain needs Node 22\.23 or newer, this is v20\..*\n$/],
  [
    ['-e', "import('coxswain/sqlite').then((m) => m.sqliteStore('x.db')).catch((e) => console.log(e.message))"],
    /^this runtime has no node:sqlite; use Node 22\.23\.3 or newer.*\n$/,
  ],
];

/** Needs no permission where a runtime asks for them. */
const EDGE_PROGRAM = `
import { collectFeedback, createSession, definePrompt, patternFeedback, toolInvoked } from 'coxswain/edge';

const session = createSession({ clock: { nowMs: () => 1_000_000 } });
const prompt = definePrompt({ ns: 'a', key: 'b', feedbackProviders: [{ provider: patternFeedback(), trigger: { everyNCalls: 1 } }] });
for (let at = 0; at < 4; at += 1)
  session.dispatch(toolInvoked({ name: 'bash', params: { command: 'make | tail -1' }, result: 'No rule', success: false }));
console.log(collectFeedback({ prompt, session }));
`;
const SAMPLE = 'node_modules/coxswain/samples/stuck-run.jsonl';
const COMMANDS: readonly (readonly string[])[] = [
  ['--version'],
  ['analyze', SAMPLE],
  ['import', SAMPLE, '--store', 'runs.db'],
  ['verify', 'runs.db'],
  ['search', 'npm', '--store', 'runs.db'],
];

function run(
  program: string,
  args: readonly string[],
  cwd: string,
): { readonly code: number | null; readonly text: string } {
  const env = { ...process.env, NO_COLOR: '1', TZ: 'UTC', HOME: cwd, XDG_STATE_HOME: cwd, XDG_CONFIG_HOME: cwd };
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: 300_000 });
  return { code: status, text: `${stdout}${stderr}${error === undefined ? '' : error.message}` };
}

function must(program: string, args: readonly string[], cwd: string): void {
  const { code, text } = run(program, args, cwd);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${text}`);
}

/** The program of a runtime, installed where it is missing. */
function programOf({ name, install, program }: Runtime): string {
  const folder = resolve('node_modules/.cache/runtimes', install);
  const file = join(folder, 'node_modules', '.bin', program);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    must('npm', ['install', '--no-audit', '--no-fund', install], folder);
    if (!existsSync(file)) throw new Error(`${install} brought no ${name}`);
  }
  return file;
}

/** What a runtime prints for each program, by name, with what differs from run to run taken out. */
function printed(program: string, args: readonly string[], folder: string): ReadonlyMap<string, string> {
  const outputs = new Map<string, string>();
  rmSync(join(folder, 'runs.db'), { force: true });
  const bin = 'node_modules/coxswain/dist/cli/bin.js';
  const shown = (name: string, ran: ReturnType<typeof run>): void => {
    // Node 22 says so of its SQLite; the library leaves the process's warnings alone.
    const said = ran.text.replace(/\(node:\d+\) ExperimentalWarning: SQLite.*\n.*trace-warnings.*\n/, '');
    const text = said.replaceAll(/\d+(?:\.\d+)? (?:ms|s|KB|kB|MB)\b/g, 'N');
    outputs.set(name, `exit ${ran.code}\n${text}`);
  };
  shown(
    'first program',
    run(program, [...args, 'first.mjs', join(folder, `first-${outputs.size}-${Date.now()}.db`)], folder),
  );
  shown('edge program', run(program, [...args.filter((arg) => arg !== '-A'), 'edge.mjs'], folder));
  for (const command of COMMANDS)
    shown(`coxswain ${command.join(' ')}`, run(program, [...args, bin, ...command], folder));
  return outputs;
}

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'coxswain-runtimes-'));
let failed = 0;
try {
  must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], resolve('.'));
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  must('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball)], folder);
  writeFileSync(join(folder, 'first.mjs'), FIRST_PROGRAM);
  writeFileSync(join(folder, 'edge.mjs'), EDGE_PROGRAM);
  const expected = printed(process.execPath, [], folder);
  for (const [name, text] of expected) {
    if (text.startsWith('exit 0\n')) continue;
    failed += 1;
    console.error(`${process.version} ${name}: ${text}`);
  }
  for (const runtime of RUNTIMES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const outputs = printed(programOf(runtime), runtime.args, folder);
    const different = [...expected].filter(([name, text]) => outputs.get(name) !== text);
    console.log(`${runtime.install}: ${outputs.size - different.length} of ${outputs.size} print the same`);
    for (const [name, text] of different) {
      failed += 1;
      console.error(`--- ${name}, expected:\n${text}\n--- got:\n${outputs.get(name) ?? 'nothing'}`);
    }
  }
  if (wanted.length === 0 || wanted.includes(OLD.name)) {
    for (const [args, sentence] of SENTENCES) {
      const { text } = run(programOf(OLD), args, folder);
      if (sentence.test(text)) continue;
      failed += 1;
      console.error(`--- ${OLD.install} ${args.join(' ')} printed:\n${text}`);
    }
    console.log(`${OLD.install}: asked for a newer version ${SENTENCES.length} times`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
