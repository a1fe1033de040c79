import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { HOST_PLACES } from '../src/hosts/claude-code/host-places.ts';
import { thorough } from './support/rounds.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'coxswain-package-'));
const installed = join(folder, 'node_modules', 'coxswain');

function run(command: string, args: readonly string[], cwd: string): { code: number | null; out: string; err: string } {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

function succeed(command: string, args: readonly string[], cwd: string): void {
  const { code, err } = run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${err}`);
}

/** Paths that are not sources of the package, or belong to another installation. */
const LEFT_OUT = /^(?:\.git|dist)$|(?:^|\/)node_modules$/;

beforeAll(() => {
  // Packing builds, and a build removes `dist` first, which other tests start programs of: so a copy of the sources is packed.
  const copy = join(folder, 'sources');
  const isSource = (path: string): boolean => !LEFT_OUT.test(relative(root, path).replaceAll(sep, '/'));
  cpSync(root, copy, { recursive: true, filter: isSource });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  succeed('npm', ['pack', '--silent', '--pack-destination', folder], copy);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
  succeed('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball)], folder);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Manifest {
  readonly scripts?: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
}

function manifest(): Manifest {
  // Our own package.json, whose shape this test is about.
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
}

test('the packed package has no scripts, which npm would warn about, and the sources keep theirs', () => {
  expect(manifest().scripts).toBeUndefined();
  const sources = readFileSync(join(folder, 'sources', 'package.json'), 'utf8');
  expect(sources).toBe(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(sources).toContain('"prepare": ');
});

test('an error that a program does not catch is printed with one line of code, so that its message is seen', () => {
  const path = join(folder, 'package.json', 'runs.db');
  const script = `const { sqliteStore } = await import('coxswain/sqlite'); sqliteStore(${JSON.stringify(path)})`;
  const { code, err } = run(process.execPath, ['--input-type=module', '-e', script], folder);
  expect(code).toBe(1);
  expect(err).toContain(`CoxswainError: cannot open ${path}: `);
  expect(err.length).toBeLessThan(4_000);
});

test('every subpath of the packed package can be imported and exports something, but for the one that is imported for its effect', () => {
  const subpaths = Object.keys(manifest().exports).filter((name) => name !== './package.json');
  expect(subpaths.length).toBeGreaterThan(3);
  for (const subpath of subpaths) {
    const name = `coxswain${subpath.slice(1)}`;
    const options = subpath.endsWith('.json') ? ", { with: { type: 'json' } }" : '';
    const script = `const m = await import(${JSON.stringify(name)}${options}); console.log(Object.keys(m).length > 0)`;
    const imported = run(process.execPath, ['--input-type=module', '-e', script], folder);
    const exportsSome = name !== 'coxswain/ai-sdk/register';
    expect({ name, ...imported }).toEqual({ name, code: 0, out: `${exportsSome}\n`, err: '' });
  }
});

test('the files that init writes for opencode and pi load their plugins from the packed package', () => {
  for (const host of ['opencode', 'pi'] as const) {
    const program = { node: process.execPath, hookFile: join(installed, 'dist', 'hook.cjs') };
    const [, path = ''] = /import\((".*?")\)/.exec(HOST_PLACES[host].edit('', program)) ?? [];
    const script = `const m = await import(${path}); console.log(Object.keys(m).join())`;
    const imported = run(process.execPath, ['--input-type=module', '-e', script], folder);
    expect(imported).toEqual({ code: 0, out: `${host === 'pi' ? 'piExtension' : 'opencodePlugin'}\n`, err: '' });
  }
});

test('the declarations of every entry point compile', () => {
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--types', 'node'];
  const types = ['--typeRoots', join(root, 'node_modules', '@types')];
  const subpaths = Object.keys(manifest().exports).filter((name) => !name.endsWith('.json'));
  writeFileSync(join(folder, 'all.ts'), subpaths.map((name) => `import 'coxswain${name.slice(1)}';\n`).join(''));
  expect(run('tsc', [...options, ...types, 'all.ts'], folder)).toEqual({ code: 0, out: '', err: '' });
});

function addressesLoadedBy(program: string): readonly string[] {
  const coverage = mkdtempSync(join(folder, 'coverage-'));
  const env = { ...process.env, NODE_V8_COVERAGE: coverage };
  spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, env });
  // The shape is that of V8.
  const { result } = JSON.parse(readFileSync(join(coverage, readdirSync(coverage)[0] ?? ''), 'utf8')) as {
    readonly result: readonly { readonly url: string }[];
  };
  return result.map(({ url }) => url);
}

/** The names of the files that a program loads from the installed package. */
function filesLoadedBy(program: string): readonly string[] {
  return addressesLoadedBy(program).map((url) => basename(url));
}

test('the shell parser is a separate file, which is loaded when a command is read', () => {
  const start = "const { createCoxswain, memoryStore } = await import('coxswain');";
  const call = `const run = createCoxswain({ store: memoryStore() }).startRun();
    run.emit({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'bash', args: { command: 'ls | wc' } });
    run.emit({ type: 'tool_execution_end', toolCallId: 'c', toolName: 'bash', result: '1', isError: false });
    await run.end();`;
  expect(filesLoadedBy(start)).toContain('index.js');
  expect(filesLoadedBy(start)).not.toContain('unbash.cjs');
  expect(filesLoadedBy(`${start}${call}`)).toContain('unbash.cjs');
  const chunks = join(installed, 'dist', 'chunks');
  // A text of the parser, which no other code holds.
  const isParser = (file: string): boolean =>
    /\.c?js$/.test(file) && readFileSync(join(chunks, file), 'utf8').includes('unterminated arithmetic expansion');
  expect(readdirSync(chunks).filter(isParser)).toEqual(['unbash.cjs']);
});

test('an entry point whose functions load the library when they are called imports less than half of its code', () => {
  const bytesLoadedBy = (name: string): number =>
    addressesLoadedBy(`await import('${name}')`)
      .filter((url) => url.includes('/dist/'))
      .reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
  const library = bytesLoadedBy('coxswain');
  for (const subpath of ['testing', 'backtest', 'ai-sdk/register']) {
    expect({ subpath, share: bytesLoadedBy(`coxswain/${subpath}`) / library < 0.5 }).toEqual({ subpath, share: true });
  }
});

test('an import of the package does not load the parts of node:fs that are loaded on demand', () => {
  const parts = ['internal/fs/promises', 'internal/fs/streams'].map((name) => `NativeModule ${name}`);
  const list = `console.log(${JSON.stringify(parts)}.filter((name) => process.moduleLoadList.includes(name)).join())`;
  const loadedBy = (name: string): string =>
    run(process.execPath, ['--input-type=module', '-e', `await import('${name}');${list}`], folder).out.trim();
  expect(loadedBy('node:fs')).toBe(parts.join());
  expect(loadedBy('coxswain')).toBe('');
  expect(loadedBy('coxswain/sqlite')).toBe('');
});

test('the entry for edge runtimes imports nothing and needs the globals of the web alone', () => {
  const edge = join(installed, 'dist', 'edge.js');
  const program = ['--experimental-vm-modules', '--no-warnings', join(root, 'test', 'edge-alone.mjs'), edge];
  const { out, err } = run(process.execPath, program, folder);
  expect(err).toBe('');
  expect(out).toContain('bash');
});

test('the package can also be required', () => {
  const required = run(process.execPath, ['-e', "console.log(typeof require('coxswain').TrajectoryAnalysis)"], folder);
  expect(required.out).toBe('function\n');
});

test('both bins run from plain JavaScript and say their version', () => {
  expect(Object.keys(manifest().bin)).toEqual(['coxswain', 'cox']);
  for (const path of Object.values(manifest().bin)) {
    expect(path.endsWith('.js')).toBe(true);
    const version = run(process.execPath, [join(installed, path), '--version'], folder);
    expect(version).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  }
});

test('the packed bin analyses the bundled sample', () => {
  const bin = join(installed, manifest().bin['coxswain'] ?? '');
  const analysed = run(
    process.execPath,
    [bin, 'analyze', join(installed, 'samples/stuck-run.jsonl'), '--json'],
    folder,
  );
  expect(analysed.err).toBe('');
  // The line's documented shape.
  const report = JSON.parse(analysed.out) as { readonly calls: number; readonly patterns: readonly { kind: string }[] };
  expect(report.calls).toBe(39);
  expect(report.patterns.map((pattern) => pattern.kind)).toContain('ping_pong');
});

/** Packages that the sources of the viewer's page import, and some that these bring. Unbundled packages need no licence. */
function packagesOfThePage(): ReadonlySet<string> {
  const page = join(root, 'src', 'viewer', 'page');
  const sources = readdirSync(page).filter((name) => /\.tsx?$/.test(name) && !/\.test\.|\.config\./.test(name));
  const imported = sources.flatMap((source) =>
    [...readFileSync(join(page, source), 'utf8').matchAll(/ from '((?:@[^/']+\/)?[\w-][^/']*)(?:\/[^']*)?'/g)].map(
      ([, name = '']) => name,
    ),
  );
  return new Set([...imported, 'scheduler', '@tanstack/virtual-core', '@shikijs/core', 'oniguruma-to-es']);
}

test('every package in the viewer`s page has its licence in the notices and stands in the bill of materials', () => {
  const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  const text = readFileSync(join(installed, 'dist', 'sbom.cdx.json'), 'utf8');
  // CycloneDX.
  const bill = JSON.parse(text) as { readonly components: readonly { readonly name: string }[] };
  const listed = bill.components.map(({ name }) => name);
  const packages = [...packagesOfThePage()];
  expect(packages).toContain('react-dom');
  expect(packages.filter((name) => !new RegExp(`^${name} \\d\\S* \\(`, 'm').test(notices))).toEqual([]);
  expect([...packages, 'hono', 'unbash'].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed).not.toContain('vitest');
  expect(text).not.toMatch(/registry|timestamp|serialNumber/);
  expect(text).not.toContain(root);
});

test('nothing but what users need is packed: no tests, no sources of tests, no benchmarks', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /\.test\.|^src|^test|^bench|^scripts/.test(file))).toEqual([]);
});

test('every built-in provider, classifier and observer of the packed package speaks with a session alone', () => {
  copyFileSync(join(root, 'test', 'every-builtin-alone.mjs'), join(folder, 'every-builtin-alone.mjs'));
  const { out, err } = run(process.execPath, ['every-builtin-alone.mjs'], folder);
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({ silent: [], loud: [], asked: 30, notAsked: [] });
});

/** The steps of action.yml that run a script, with the environment that GitHub would give them. */
function stepsOf(inputs: Readonly<Record<string, string>>, temp: string): readonly (readonly [string, object])[] {
  const text = readFileSync(join(root, 'action.yml'), 'utf8');
  const defaults = new Map(
    [...text.matchAll(/^ {2}([\w-]+):\n {4}description: .*\n {4}default: (.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value === "''" ? '' : value,
    ]),
  );
  for (const [name, value] of Object.entries(inputs)) defaults.set(name, value);
  const filled = (value: string): string =>
    value
      .replace(/\$\{\{ inputs\.([\w-]+) \}\}/, (_all, name: string) => defaults.get(name) ?? `no input ${name}`)
      .replace('${{ runner.temp }}', temp);
  return [...text.matchAll(/^ {6}run: (.*)\n {6}env:\n((?: {8}.*\n)+)/gm)].map(([, script = '', env = '']) => [
    script,
    Object.fromEntries([...env.matchAll(/^ {8}(\w+): (.*)$/gm)].map(([, name, value = '']) => [name, filled(value)])),
  ]);
}

test('the steps of the GitHub action gate a configuration and show the moments worth a look, from the packed package', () => {
  const sample = join(installed, 'samples', 'stuck-run.jsonl');
  const act = (
    inputs: Readonly<Record<string, string>>,
  ): { readonly codes: readonly (number | null)[]; readonly temp: string; readonly summary: string } => {
    const temp = mkdtempSync(join(folder, 'runner-'));
    const summary = join(temp, 'summary.md');
    const codes = stepsOf({ runs: sample, transcripts: `  ${sample}\n\n`, ...inputs }, temp).map(
      ([script, defaults]) => {
        const env = { ...process.env, ...defaults, GITHUB_ACTION_PATH: root, GITHUB_STEP_SUMMARY: summary };
        return spawnSync('bash', ['-c', script], { cwd: folder, env }).status;
      },
    );
    return { codes, temp, summary: readFileSync(summary, 'utf8') };
  };
  const passed = act({ 'max-advice-per-100-calls': '100' });
  expect(passed.codes).toEqual([0, 0]);
  expect(passed.summary).toContain('## Steering configuration on recorded runs: every gate kept\n\n    ');
  expect(passed.summary).toContain('## What the agents did\n\n    ');
  expect(passed.summary).toMatch(/^ {4}.*worth a look/im);
  expect(readdirSync(join(passed.temp, 'coxswain')).toSorted()).toEqual([
    'backtest-problems.txt',
    'backtest.txt',
    'report-problems.txt',
    'report.html',
    'report.ndjson',
    'report.txt',
  ]);
  if (!thorough) return;
  const broken = act({ 'max-advice-per-100-calls': '0.01', transcripts: 'no such file; exit 7' });
  expect(broken.codes).toEqual([1, 0]);
  expect(broken.summary).toContain('failed with exit code 1');
  expect(broken.summary).toContain('    coxswain: no such file; exit 7');
});
