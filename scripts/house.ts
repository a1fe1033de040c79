/** Prints the size of the source for each folder: files and lines without tests, with CSS; and those of tests, scripts and docs. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n').filter(Boolean);
const isTest = (name: string): boolean => /\.test\.tsx?$/.test(name);
const groups: readonly (readonly [string, (name: string) => boolean])[] = [
  ...['core', 'stores', 'formats', 'adapters', 'hosts', 'lab', 'viewer', 'cli', 'testing'].map(
    (folder) => [`src/${folder}`, (name: string) => name.startsWith(`src/${folder}/`) && !isTest(name)] as const,
  ),
  ['src', (name) => name.startsWith('src/') && !isTest(name)],
  ['tests', (name) => /^(?:src|test)\/.*\.tsx?$/.test(name) && (isTest(name) || name.startsWith('test/'))],
  ['scripts, bench', (name) => /^(?:scripts|bench)\//.test(name)],
  ['docs', (name) => name.endsWith('.md') && !name.startsWith('.changeset/')],
];
for (const [name, holds] of groups) {
  const files = tracked.filter(holds);
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  console.log(`${name.padEnd(16)} ${String(files.length).padStart(5)} files ${String(lines).padStart(7)} lines`);
}
