/**
 * Runs every gate, with one line and the time per step. A failing step prints its output; the rest still run.
 * `--only NAME,NAME` selects steps, `--without NAME,NAME` excludes steps.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

interface Gate {
  readonly name: string;
  readonly command: readonly string[];
  /** Prints the output even on success, for the test runner's closing lines. */
  readonly show?: boolean;
}

const SOURCES = ['src', 'test', 'scripts', 'bench'];
/** The rules that need types need the SDKs' types here; `scripts/test-sdk.ts` applies these rules. */
const WITH_SDKS = ['integration', 'examples'];

const GATES: readonly Gate[] = [
  { name: 'format', command: ['oxfmt', '--check', ...SOURCES, ...WITH_SDKS] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings', ...SOURCES] },
  { name: 'lint with SDKs', command: ['oxlint', '--deny-warnings', ...WITH_SDKS] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'page types', command: ['tsc', '--noEmit', '-p', 'src/viewer/page/tsconfig.json'] },
  { name: 'browser types', command: ['tsc', '--noEmit', '-p', 'test/viewer/tsconfig.json'] },
  { name: 'folders', command: ['depcruise', '--config', '.dependency-cruiser.cjs', 'src'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'doc links', command: ['node', 'scripts/check-links.ts'] },
  { name: 'build', command: ['node', 'scripts/build.ts'] },
  { name: 'public types', command: ['node', 'scripts/public-types.ts'] },
  { name: 'publint', command: ['publint', '--strict'] },
  { name: 'attw', command: ['attw', '--pack', '.', '--profile', 'esm-only'] },
  { name: 'tests', command: ['vitest', 'run', '--reporter=dot'], show: true },
];

const { values } = parseArgs({ options: { only: { type: 'string' }, without: { type: 'string' } } });
const only = values.only?.split(',');
const without = values.without?.split(',') ?? [];
const unknown = [...(only ?? []), ...without].filter((name) => !GATES.some((gate) => gate.name === name));
if (unknown.length > 0) throw new Error(`no such step: ${unknown.join(', ')}`);
const gates = GATES.filter(({ name }) => only?.includes(name) !== false && !without.includes(name));
let failed = 0;
for (const gate of gates) {
  const [program = '', ...args] = gate.command;
  const started = performance.now();
  const run = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const ok = run.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${gate.name.padEnd(14)} ${seconds.padStart(6)} s`);
  if (!ok) failed += 1;
  if (!ok || gate.show === true) process.stdout.write(`${run.stdout}${run.stderr}${run.error?.message ?? ''}\n`);
}
console.log(failed === 0 ? `check passed: ${gates.length} steps` : `check failed: ${failed} of ${gates.length} steps`);
process.exitCode = failed === 0 ? 0 : 1;
