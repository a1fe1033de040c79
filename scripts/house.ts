/**
 * Prints the size of the source: files and lines, rooms and floors of `rooms.json`, imports between rooms ("arrows"), and names
 * exported by two files. Run it in two checkouts to compare them. With `--at-most N`, the exit code is 1 if more than N names are
 * exported twice.
 *
 * Not counted: re-exports by entry points, and names shared by several SDK adapters, whose files have the same
 * structure on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const { floors }: { readonly floors: readonly Readonly<Record<string, string>>[] } = JSON.parse(
  readFileSync('rooms.json', 'utf8'),
);
const rooms = floors
  .flatMap((floor) => Object.keys(floor))
  // Longest first: rooms may be nested.
  .toSorted((left, right) => right.length - left.length);
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const sources = files.filter((name) => !/\.test\.tsx?$/.test(name));
const textOf = new Map(files.map((name) => [name, readFileSync(join('src', name), 'utf8')]));

const { entry }: { readonly entry: readonly string[] } = JSON.parse(readFileSync('knip.json', 'utf8'));
const entries = new Set(entry);

const arrows = new Set<string>();
const exporters = new Map<string, string[]>();
for (const name of sources) {
  const text = textOf.get(name) ?? '';
  const from = roomOf(name);
  for (const [, path = ''] of text.matchAll(/\bfrom '(\.[^']+)'|import\('(\.[^']+)'\)/g)) {
    const to = roomOf(normalize(join(dirname(name), path)));
    if (from !== undefined && to !== undefined && from !== to) arrows.add(`${from} → ${to}`);
  }
  const isEntry = entries.has(`src/${name}`) || name.endsWith('index.ts');
  for (const exported of exportedNames(text, isEntry))
    exporters.set(exported, [...(exporters.get(exported) ?? []), name]);
}
const twice = [...exporters].filter(([, names]) => names.length > 1 && !areAdapters(names));

console.log(`files            ${sources.length} (and ${files.length - sources.length} tests)`);
console.log(`lines            ${linesOf(sources)} (and ${linesOf(files) - linesOf(sources)} of tests)`);
console.log(`rooms            ${rooms.length} on ${floors.length} floors`);
console.log(`arrows           ${arrows.size}`);
console.log(`exported twice   ${twice.length}`);
for (const [name, names] of twice) console.log(`  ${name}: ${names.join(', ')}`);
const limit = process.argv.indexOf('--at-most');
process.exitCode = limit !== -1 && twice.length > Number(process.argv[limit + 1]) ? 1 : 0;

function areAdapters(names: readonly string[]): boolean {
  const folders = names.map((name) => /^adapters\/([^/]+)\//.exec(name)?.[1]);
  return folders.every((folder) => folder !== undefined) && new Set(folders).size === folders.length;
}

function roomOf(name: string): string | undefined {
  return rooms.find((room) => name.startsWith(`${room}/`));
}

function linesOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + ((textOf.get(name) ?? '').split('\n').length - 1), 0);
}

/** The names that a file exports or re-exports. A type and a value with the same name count once. */
function exportedNames(text: string, isEntry: boolean): ReadonlySet<string> {
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  const lists = isEntry ? [] : [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  const passedOn = lists.flatMap(([, list = '']) =>
    list.split(',').flatMap((item) => /(\w+)\s*$/.exec(item)?.[1] ?? []),
  );
  return new Set([...[...declared].map(([, name = '']) => name), ...passedOn]);
}
