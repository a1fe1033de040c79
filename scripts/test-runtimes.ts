/**
 * Tests the packed package on each runtime: `npm run test:runtimes`, or some of them: `npm run test:runtimes -- bun deno`. Installs the
 * runtimes from npm into `node_modules/.cache`, installs coxswain into a temporary folder, and runs a first program and five commands on
 * each, the commands also with the single-file executable. The output must equal that of this process's Node; an old Node must name the
 * missing feature in one sentence.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildExecutable } from './executable.ts';
import { BUN, installPackage, programOf, run, RUNTIMES, type Runtime } from './runtimes.ts';

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
console.log(JSON.stringify(await run.end()));
const records = [];
for await (const record of store.readRun('first')) records.push(record);
console.log(records.length, viewOf(records).calls);
await cox.close();
`;
const OLD: Runtime = { name: 'node20', install: 'node@20.20.2', program: 'node', args: [] };
/** The messages of an old Node, one line each. */
const SENTENCES: readonly (readonly [args: readonly string[], sentence: RegExp])[] = [
  [['node_modules/coxswain/dist/cli/bin.js', 'runs'], /^coxswain needs Node 22\.23\.3 or newer, this is v20\..*\n$/],
  [
    ['-e', "import('coxswain/sqlite').then((m) => m.sqliteStore('x.db')).catch((e) => console.log(e.message))"],
    /^this runtime has no node:sqlite; use Node 22\.23\.3 or newer.*\n$/,
  ],
];

/** Runs without permissions on a runtime that has them. */
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

/** The output of each program on a runtime, by name, without values that differ between runs. */
function printed(program: string, args: readonly string[], folder: string): ReadonlyMap<string, string> {
  const bin = 'node_modules/coxswain/dist/cli/bin.js';
  const first = run(program, [...args, 'first.mjs', join(folder, `first-${Date.now()}.db`)], folder);
  const edge = run(program, [...args.filter((arg) => arg !== '-A'), 'edge.mjs'], folder);
  return new Map([
    ['first program', shown(first)],
    ['edge program', shown(edge)],
    ...printedByCommands(program, [...args, bin], folder),
  ]);
}

function printedByCommands(
  program: string,
  args: readonly string[],
  folder: string,
): readonly (readonly [string, string])[] {
  rmSync(join(folder, 'runs.db'), { force: true });
  return COMMANDS.map((command) => [
    `coxswain ${command.join(' ')}`,
    shown(run(program, [...args, ...command], folder)),
  ]);
}

function shown({ code, text }: ReturnType<typeof run>): string {
  // Node 22 warns that its SQLite is experimental; the library does not suppress warnings.
  const output = text.replace(/\(node:\d+\) ExperimentalWarning: SQLite.*\n.*trace-warnings.*\n/, '');
  return `exit ${code}\n${output.replaceAll(/\d+(?:\.\d+)? (?:ms|s|KB|kB|MB)\b/g, 'N')}`;
}

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'coxswain-runtimes-'));
let failed = 0;
try {
  installPackage(folder);
  writeFileSync(join(folder, 'first.mjs'), FIRST_PROGRAM);
  writeFileSync(join(folder, 'edge.mjs'), EDGE_PROGRAM);
  const expected = printed(process.execPath, [], folder);
  const compare = (who: string, outputs: Iterable<readonly [string, string]>): void => {
    const all = [...outputs];
    const different = all.filter(([name, text]) => expected.get(name) !== text);
    console.log(`${who}: ${all.length - different.length} of ${all.length} print the same`);
    for (const [name, text] of different) {
      failed += 1;
      console.error(`--- ${name}, expected:\n${expected.get(name)}\n--- got:\n${text}`);
    }
  };
  for (const [name, text] of expected) {
    if (text.startsWith('exit 0\n')) continue;
    failed += 1;
    console.error(`${process.version} ${name}: ${text}`);
  }
  for (const runtime of RUNTIMES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    compare(runtime.install, printed(programOf(runtime), runtime.args, folder));
  }
  if (wanted.length === 0 || wanted.includes('executable')) {
    const executable = join(folder, 'coxswain-executable');
    buildExecutable(programOf(BUN), folder, executable);
    compare('the executable', printedByCommands(executable, [], folder));
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
