/**
 * Bundles a fresh install of the packed package, without any optional package, and runs the result: `npm run test:bundles`, or some of
 * the bundlers: `npm run test:bundles -- next`. Needs a build. Installs the bundlers into a temporary folder.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { BUN, installPackage, programOf, run } from './runtimes.ts';

const PROGRAM = `
import { createCoxswain } from 'coxswain';
import { sqliteStore } from 'coxswain/sqlite';

export async function record() {
  const cox = createCoxswain({ store: sqliteStore('runs-' + process.pid + '.db') });
  const run = cox.startRun({ task: 'Bundle.' });
  run.emit({ type: 'tool_execution_start', toolCallId: 'a', toolName: 'read', args: {} });
  run.emit({ type: 'tool_execution_end', toolCallId: 'a', toolName: 'read', result: 'ok', isError: false });
  const { stored } = await run.end();
  await cox.close();
  return 'stored: ' + stored;
}
`;
const MAIN = `import { record } from './program.mjs';\nconsole.log(await record());\n`;
const WEBPACK = `export default { mode: 'production', target: 'node22', entry: './main.mjs', externalsPresets: { node: true },
  output: { path: import.meta.dirname, filename: 'webpack.out.mjs', module: true, chunkFormat: 'module' } };\n`;
const ROUTE = `import { record } from '../../../program.mjs';
export const GET = async () => new Response(await record());\n`;
const EDGE_ROUTE = `import { createSession } from 'coxswain/edge';
export const runtime = 'edge';
export const GET = () => new Response(typeof createSession({ clock: { nowMs: () => 0 } }).dispatch);\n`;
const LAYOUT = `export default ({ children }) => <html><body>{children}</body></html>;\n`;

interface Bundler {
  readonly packages: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Commands without a shell; the first word is a program of the packages or of a runtime. */
  readonly build: readonly string[];
  /** The bundle that Node then runs; without one, the build alone is the test. */
  readonly output?: string;
}

const ESBUILD = ['--bundle', '--platform=node', '--format=esm', '--outfile=esbuild.out.mjs'];
const BUNDLERS: Readonly<Record<string, Bundler>> = {
  esbuild: { packages: ['esbuild@0.28.2'], build: ['esbuild', 'main.mjs', ...ESBUILD], output: 'esbuild.out.mjs' },
  rollup: {
    packages: ['rollup@4.68.8', '@rollup/plugin-node-resolve@16.0.3'],
    build: ['rollup', 'main.mjs', '-p', '@rollup/plugin-node-resolve', '--file', 'rollup.out.mjs'],
    output: 'rollup.out.mjs',
  },
  webpack: {
    packages: ['webpack@5.113.0', 'webpack-cli@7.3.1'],
    files: { 'webpack.config.mjs': WEBPACK },
    build: ['webpack', '--config', 'webpack.config.mjs'],
    output: 'webpack.out.mjs',
  },
  bun: {
    packages: [],
    build: ['bun', 'build', 'main.mjs', '--target=node', '--outfile=bun.out.mjs'],
    output: 'bun.out.mjs',
  },
  next: {
    packages: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    files: { 'app/layout.jsx': LAYOUT, 'app/api/node/route.js': ROUTE, 'app/api/edge/route.js': EDGE_ROUTE },
    build: ['next', 'build'],
  },
};

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bundles-'));
let failures = 0;
try {
  installPackage(folder);
  for (const [name, text] of [
    ['program.mjs', PROGRAM],
    ['main.mjs', MAIN],
  ] as const)
    writeFileSync(join(folder, name), text);
  const wanted = process.argv.slice(2);
  for (const [name, { build, files = {}, output, packages }] of Object.entries(BUNDLERS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const [program = '', ...args] = build;
    const install =
      packages.length === 0
        ? { code: 0, text: '' }
        : run('npm', ['install', '--no-audit', '--no-fund', ...packages], folder);
    const bin = name === 'bun' ? programOf(BUN) : join(folder, 'node_modules', '.bin', program);
    const built = install.code === 0 ? run(bin, args, folder) : install;
    const ran = built.code === 0 && output !== undefined ? run(process.execPath, [output], folder) : built;
    const isGood =
      ran.code === 0 &&
      !/pg\b.*(?:resolve|not found)|can't resolve|critical dependency/i.test(built.text) &&
      (output === undefined || ran.text.includes('stored: true'));
    console.log(`${isGood ? 'ok  ' : 'FAIL'} ${name}${isGood ? '' : `\n${built.text}\n${ran.text}`}`);
    if (!isGood) failures += 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
