/** JavaScript runtimes from npm, and the packed package, for tests and builds. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface Runtime {
  readonly name: string;
  /** Name and exact version of its npm package. */
  readonly install: string;
  readonly program: string;
  /** Arguments before the program file. */
  readonly args: readonly string[];
}

export const BUN: Runtime = { name: 'bun', install: 'bun@1.4.5', program: 'bun', args: ['run'] };

export const RUNTIMES: readonly Runtime[] = [
  { name: 'node22', install: 'node@22.23.3', program: 'node', args: [] },
  { name: 'node26', install: 'node@26.10.0', program: 'node', args: [] },
  BUN,
  { name: 'deno', install: 'deno@2.9.6', program: 'deno', args: ['run', '-A'] },
];

export function run(
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

/** The path of a runtime's program; installs the runtime if missing. */
export function programOf({ name, install, program }: Runtime): string {
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

/** Packs the built package and installs it with its dependencies into an empty folder. */
export function installPackage(folder: string): void {
  must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], resolve('.'));
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  must('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball)], folder);
}
