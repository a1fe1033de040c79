/**
 * Measures the contribution of each detection rule. `node scripts/ablation.ts [PART…]` switches off one unit of `src/calls` and
 * `src/patterns` at a time and prints the changed figures: a detector, a regular expression, a list of words, or a function that returns
 * a boolean or an optional value. PART limits it to files whose path contains one of these. `--count` only prints lines, expressions and
 * words; `--together` then switches off all units that changed nothing alone, one after the other, as long as nothing changes.
 *
 * Figures: stretches found in the build part of `test/truth`, successful runs flagged, alarms in recorded runs of older and
 * today's models; found and wrongly flagged clear-cut cases of `../shared/scenarios`, `../shared/windows` and `test/cases`.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'vite';

/** A part of a source file and its replacement. */
interface Unit {
  readonly file: string;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));
const SWITCHED_OFF = 'COXSWAIN_ABLATION';
/** Shorter lists are ignored. */
const MIN_WORDS = 4;
const LIST = /^[^\s,|]+(?:[\s,|]+[^\s,|]+)+$/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean' }, together: { type: 'boolean' } },
});
const switchedOff = process.env[SWITCHED_OFF];
// Written by the parent process below.
if (switchedOff !== undefined)
  console.log(JSON.stringify(await figuresWithout(JSON.parse(switchedOff) as readonly Unit[])));
else if (values.count === true) printCounts();
else ablate(unitsOf(positionals), values.together === true);

function filesOf(parts: readonly string[]): readonly string[] {
  const files = globSync(['src/calls/**/*.ts', 'src/patterns/**/*.ts'], { cwd: root }).sort();
  return files.filter(
    (file) => !file.endsWith('.test.ts') && (parts.length === 0 || parts.some((part) => file.includes(part))),
  );
}

function unitsOf(parts: readonly string[]): readonly Unit[] {
  return filesOf(parts).flatMap((file) => {
    const text = readFileSync(root + file, 'utf8');
    const units: Unit[] = [];
    const add = (what: string, node: Node, by: string): void => {
      units.push({ file, what, start: node.start, end: node.end, by });
    };
    walk(parseSync(file, text).program, [], (node, name) => {
      if (node['regex'] !== undefined) add(`expression ${name}`, node, '/(?!)/g');
      if (wordsIn(node).length >= MIN_WORDS) add(`words ${name}`, node, node.type === 'ArrayExpression' ? '[]' : "''");
      const returns = text.slice(...spanOf(node['returnType']));
      const body = node['body'];
      if (!isNode(body) || body.type !== 'BlockStatement') return;
      if (/^: boolean$/.test(returns)) add(`rule ${name}`, body, '{ return false; }');
      if (returns.endsWith('| undefined')) add(`rule ${name}`, body, '{ return undefined; }');
    });
    if (file.endsWith('default-detectors.ts')) units.push(...detectorsIn(file, text));
    return units;
  });
}

/** A detector is switched off by removing its row from the list. */
function detectorsIn(file: string, text: string): readonly Unit[] {
  return [...text.matchAll(/^ {2}(\w+)(?:: \w+)?,$/gm)].map(({ 0: row, 1: name = '', index }) => ({
    file,
    what: `detector ${name}`,
    start: index,
    end: index + row.length,
    by: '',
  }));
}

interface Node extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function spanOf(node: unknown): [number, number] {
  return isNode(node) ? [node.start, node.end] : [0, 0];
}

/** Visits every node with the names of its ancestors. */
function walk(node: unknown, names: readonly string[], visit: (node: Node, name: string) => void): void {
  if (Array.isArray(node)) for (const each of node) walk(each, names, visit);
  if (!isNode(node)) return;
  const named = [node['id'], node['key']].find((id) => isNode(id) && typeof id['name'] === 'string');
  const inner = isNode(named) ? [...names, String(named['name'])] : names;
  visit(node, inner.slice(-2).join('.'));
  for (const value of Object.values(node)) if (typeof value === 'object') walk(value, inner, visit);
}

/** The words of a list: a string of words, or an array of strings. */
function wordsIn(node: Node): readonly string[] {
  if (node.type === 'ArrayExpression' && Array.isArray(node['elements'])) {
    const texts = node['elements'].map((each: unknown) => (isNode(each) ? each['value'] : undefined));
    return texts.every((text) => typeof text === 'string') ? texts : [];
  }
  const raw = node.type === 'TemplateElement' && isNode(node) ? node['value'] : undefined;
  const cooked = typeof raw === 'object' && raw !== null && 'cooked' in raw ? raw.cooked : undefined;
  const text = node.type === 'Literal' ? node['value'] : cooked;
  return typeof text === 'string' && LIST.test(text.trim()) ? text.trim().split(/[\s,|]+/) : [];
}

function printCounts(): void {
  let [lines, expressions, words] = [0, 0, 0];
  for (const file of filesOf([])) {
    const text = readFileSync(root + file, 'utf8');
    lines += text.split('\n').length - 1;
    walk(parseSync(file, text).program, [], (node) => {
      if (node['regex'] !== undefined || node.type === 'TaggedTemplateExpression') expressions += 1;
      const found = wordsIn(node);
      if (found.length >= MIN_WORDS) words += found.length;
    });
  }
  console.log(`${filesOf([]).length} files, ${lines} lines, ${expressions} expressions, ${words} words in lists`);
}

function ablate(units: readonly Unit[], together: boolean): void {
  const base = run([]);
  console.log(`unchanged: ${base}`);
  const idle: Unit[] = [];
  for (const unit of units) {
    const seen = run([unit]);
    if (seen === base) idle.push(unit);
    console.log(`${seen === base ? 'nothing' : seen}\t${unit.file}:${unit.start}\t${unit.what}`);
  }
  const off: Unit[] = [];
  for (const unit of together ? idle : []) {
    const seen = run([...off, unit]);
    if (seen === base) off.push(unit);
    else console.log(`together ${seen}\t${unit.file}:${unit.start}\t${unit.what}`);
  }
  console.log(`${units.length} units, ${idle.length} change nothing by themselves, ${off.length} together`);
}

function run(units: readonly Unit[]): string {
  const env = { ...process.env, [SWITCHED_OFF]: JSON.stringify(units) };
  try {
    return execFileSync(process.execPath, [fileURLToPath(import.meta.url)], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch (error) {
    return `fails: ${
      String(error)
        .split('\n')
        .find((line) => line.includes('Error:')) ?? 'unknown'
    }`;
  }
}

async function figuresWithout(units: readonly Unit[]): Promise<object> {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const own = units.filter((unit) => url.endsWith(`/${unit.file}`)).sort((one, other) => other.start - one.start);
      if (own.length === 0) return loaded;
      let source = readFileSync(fileURLToPath(url), 'utf8');
      for (const { start, end, by } of own) source = source.slice(0, start) + by + source.slice(end);
      return { ...loaded, source };
    },
  });
  const { detectionFigures } = await import('../test/support/detection-figures.ts');
  return detectionFigures();
}
