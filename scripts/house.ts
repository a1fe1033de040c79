/**
 * Prints the size of the house: files and lines, rooms and floors of `rooms.json`, imports between rooms ("arrows"), and names
 * that two files export. Run it in two checkouts to compare them. Exit code 1 if a name is exported twice.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const { floors }: { readonly floors: readonly Readonly<Record<string, string>>[] } = JSON.parse(
  readFileSync('rooms.json', 'utf8'),
);
const rooms = floors
  .flatMap((floor) => Object.keys(floor))
  // The longest first: a room may lie inside another.
  .toSorted((left, right) => right.length - left.length);
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const sources = files.filter((name) => !/\.test\.tsx?$/.test(name));
const textOf = new Map(files.map((name) => [name, readFileSync(join('src', name), 'utf8')]));

const arrows = new Set<string>();
const exporters = new Map<string, string[]>();
for (const name of sources) {
  const text = textOf.get(name) ?? '';
  const from = roomOf(name);
  for (const [, path = ''] of text.matchAll(/\bfrom '(\.[^']+)'|import\('(\.[^']+)'\)/g)) {
    const to = roomOf(normalize(join(dirname(name), path)));
    if (from !== undefined && to !== undefined && from !== to) arrows.add(`${from} → ${to}`);
  }
  // An index file repeats names for users.
  if (name.endsWith('index.ts')) continue;
  for (const exported of exportedNames(text)) exporters.set(exported, [...(exporters.get(exported) ?? []), name]);
}
const twice = [...exporters].filter(([, names]) => names.length > 1);

console.log(`files            ${sources.length} (and ${files.length - sources.length} tests)`);
console.log(`lines            ${linesOf(sources)} (and ${linesOf(files) - linesOf(sources)} of tests)`);
console.log(`rooms            ${rooms.length} on ${floors.length} floors`);
console.log(`arrows           ${arrows.size}`);
console.log(`exported twice   ${twice.length}`);
for (const [name, names] of twice) console.log(`  ${name}: ${names.join(', ')}`);
process.exitCode = twice.length === 0 ? 0 : 1;

function roomOf(name: string): string | undefined {
  return rooms.find((room) => name.startsWith(`${room}/`));
}

function linesOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + ((textOf.get(name) ?? '').split('\n').length - 1), 0);
}

/** Names that a file declares and exports, or passes on from another file. A type and a value of one name count once. */
function exportedNames(text: string): ReadonlySet<string> {
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  const lists = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  const passedOn = [...lists].flatMap(([, list = '']) =>
    list.split(',').flatMap((item) => /(\w+)\s*$/.exec(item)?.[1] ?? []),
  );
  return new Set([...[...declared].map(([, name = '']) => name), ...passedOn]);
}
