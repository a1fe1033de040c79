/**
 * Measures the contribution of each detection rule. `node scripts/ablation.ts [PART…]` switches off one unit of `src/core/detect/calls` and
 * `src/core/detect/patterns` at a time and prints the changed figures: a detector, a regular expression, a list of words, or a function that returns
 * a boolean or an optional value. PART limits it to files whose path contains one of these. `--write` writes the table of
 * `test/truth/ablation.md`; `--count` only prints lines, expressions and words.
 *
 * Data: the recorded runs of `../shared/trajectories`, labelled stretches of the build part of `test/truth`, and the clear-cut cases of
 * `../shared/scenarios`, `../shared/windows` and `test/cases`. The runs are read once; each unit loads `src/core/detect/calls` and `src/core/detect/patterns`
 * again, without the unit.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'vite';
import { hashText } from '../src/core/base/hash.ts';
import type { DetectionData, DetectionFigures, detectionFigures } from '../test/support/detection-figures.ts';
import { readCases } from '../test/support/score-scenarios.ts';
import { CORPORA, readMoments, recordedRuns, type RecordedRun } from '../test/support/score-truth.ts';
import { sharedPath } from '../test/support/shared-data.ts';

/** A part of a source file and its replacement. */
interface Unit {
  readonly file: string;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));
/** The runs without labels that are counted, by the last digit of their hash; of other corpora all. */
const COUNTED: Readonly<Record<string, RegExp>> = {
  sql: /00$/,
  bash: /0$/,
  'mini-gemini3': /0$/,
  'claude-code': /0$/,
  codex: /0$/,
  'general-agentbench': /[01]$/,
};
/** Shorter lists are ignored. */
const MIN_WORDS = 4;
const PAGE = `${root}test/truth/ablation.md`;
const BEGIN = '<!-- table: written by scripts/ablation.ts -->';
const LIST = /^[^\s,|]+(?:[\s,|]+[^\s,|]+)+$/;

/** The units that are switched off in the modules that are loaded with `?without=N`, by N. */
const switchedOff: Unit[] = [];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean' }, write: { type: 'boolean' } },
});
if (values.count === true) printCounts();
else await ablate(unitsOf(positionals), values.write === true);

function filesOf(parts: readonly string[]): readonly string[] {
  const files = globSync(['src/core/detect/**/*.ts'], { cwd: root }).sort();
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
      const isList = node.type === 'ArrayExpression' || /wordSet\(\s*`?$/.test(text.slice(0, node.start));
      if (isList && wordsIn(node).length >= MIN_WORDS)
        add(`words ${name}`, node, node.type === 'ArrayExpression' ? '[]' : "''");
      const returns = text.slice(...spanOf(node['returnType']));
      const body = node['body'];
      if (!isNode(body) || body.type !== 'BlockStatement') return;
      if (/^: boolean$/.test(returns)) add(`rule ${name}`, body, '{ return false; }');
      if (returns.endsWith('| undefined')) add(`rule ${name}`, body, '{ return undefined; }');
    });
    if (file.endsWith('detectors-by-kind.ts')) units.push(...detectorsIn(file, text));
    return units;
  });
}

/** A detector is switched off by removing its row from the list. */
function detectorsIn(file: string, text: string): readonly Unit[] {
  return [...text.matchAll(/^export \{ \w+ as (\w+) \}.*$/gm)].map(({ 0: row, 1: name = '', index }) => ({
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
  const name = nameOf(node);
  const inner = name === undefined ? names : [...names, name];
  visit(node, inner.slice(-2).join('.'));
  for (const value of Object.values(node)) if (typeof value === 'object') walk(value, inner, visit);
}

/** The name that a node declares; for a row of a table, its first text. */
function nameOf(node: Node): string | undefined {
  const id = [node['id'], node['key']].find((each) => isNode(each) && typeof each['name'] === 'string');
  if (isNode(id)) return String(id['name']);
  const members = node['elements'] ?? node['properties'];
  if (!Array.isArray(members) || members.length < 2) return undefined;
  const [first, second] = members.map((each: unknown) =>
    textOf(node.type === 'ObjectExpression' ? valueOf(each) : each),
  );
  return node.type === 'ArrayExpression' && second !== undefined ? undefined : first;
}

function valueOf(member: unknown): unknown {
  return isNode(member) ? member['value'] : undefined;
}

function textOf(node: unknown): string | undefined {
  const value = valueOf(node);
  return isNode(node) && node.type === 'Literal' && typeof value === 'string' ? value : undefined;
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

async function ablate(units: readonly Unit[], writes: boolean): Promise<void> {
  const data = await readData();
  loadVariants();
  const base = await figuresOf(data, 'base');
  console.log(summaryOf(base));
  const rows: string[] = [];
  let idle = 0;
  for (const unit of units) {
    const row = rowOf(base, await withoutUnit(data, unit));
    if (row.changes === 0) idle += 1;
    rows.push(`| ${[`\`${unit.file.replace('src/', '')}\``, unit.what, ...row.cells].join(' | ')} |`);
    console.log(rows.at(-1));
  }
  const text = [
    `${summaryOf(base)} ${units.length} units, ${idle} change nothing by themselves.`,
    '',
    '| file | unit | stretches | successful runs flagged | alarms | cases | runs and cases changed |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
  if (!writes) return;
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, `${page.slice(0, page.indexOf(BEGIN) + BEGIN.length)}\n\n${text}\n`);
}

async function readData(): Promise<DetectionData> {
  const folder = sharedPath('trajectories');
  if (folder === undefined) throw new Error('../shared/trajectories is not there');
  const runs: { readonly modern: boolean; readonly run: RecordedRun }[] = [];
  const moments = readMoments(`${root}test/truth/moments.jsonl`, 'build');
  const labelled = new Set(moments.map(({ run }) => run));
  for (const corpus of CORPORA) {
    for await (const run of recordedRuns(corpus, folder, 'build')) {
      const isCounted =
        COUNTED[corpus.isSplit === true ? 'general-agentbench' : corpus.name]?.test(hashText(run.run)) !== false;
      if (isCounted || labelled.has(run.run)) runs.push({ modern: corpus.modern, run });
    }
  }
  const cases = [sharedPath('scenarios'), sharedPath('windows'), `${root}test/cases`];
  return {
    older: runs.filter(({ modern }) => !modern).map(({ run }) => run),
    today: runs.filter(({ modern }) => modern).map(({ run }) => run),
    moments,
    cases: cases
      .flatMap((path) => (path === undefined ? [] : readCases(path)))
      .filter(({ document }) => document['debatable'] !== true),
  };
}

/** Makes `?without=N` load the modules that detection consists of again, without unit N. */
function loadVariants(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const variant = /\?without=.*$/.exec(context.parentURL ?? '')?.[0] ?? '';
      const isOwn = /\/src\/core\/detect\/|\/test\/support\/score-/.test(resolved.url);
      return isOwn ? { ...resolved, url: resolved.url + variant } : resolved;
    },
    load(url, context, next) {
      const unit = switchedOff[Number(/\?without=(\d+)$/.exec(url)?.[1])];
      const loaded = next(url, context);
      if (unit === undefined || !url.includes(`/${unit.file}?`)) return loaded;
      const source = readFileSync(fileURLToPath(url), 'utf8');
      return { ...loaded, source: source.slice(0, unit.start) + unit.by + source.slice(unit.end) };
    },
  });
}

async function withoutUnit(data: DetectionData, unit: Unit): Promise<DetectionFigures | string> {
  switchedOff.push(unit);
  try {
    return await figuresOf(data, switchedOff.length - 1);
  } catch (error) {
    return `fails: ${error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown'}`;
  }
}

async function figuresOf(data: DetectionData, without: number | 'base'): Promise<DetectionFigures> {
  const module = `../test/support/detection-figures.ts?without=${without}`;
  // The query does not change the type.
  const loaded = (await import(module)) as { readonly detectionFigures: typeof detectionFigures };
  return loaded.detectionFigures(data);
}

function summaryOf({ stretches, successfulFlagged, alarms, cases, patterns }: DetectionFigures): string {
  const { older, today } = successfulFlagged;
  return (
    `With all units: ${stretches.length} stretches found, ${older} and ${today} successful runs flagged (older models, today's agents), ` +
    `${alarms.older} and ${alarms.today} alarms, ${cases.length} cases in time; ${Object.keys(patterns).length} runs and cases.`
  );
}

/** The differences that a unit makes. An empty cell means no difference. */
function rowOf(
  base: DetectionFigures,
  seen: DetectionFigures | string,
): { readonly changes: number; readonly cells: readonly string[] } {
  if (typeof seen === 'string') return { changes: -1, cells: [seen, '', '', '', ''] };
  const changes = Object.entries(base.patterns).filter(([name, text]) => seen.patterns[name] !== text).length;
  const pair = (name: 'alarms' | 'successfulFlagged'): string => {
    const [older, today] = [seen[name].older - base[name].older, seen[name].today - base[name].today];
    return older === 0 && today === 0 ? '' : `${signed(older)}, ${signed(today)}`;
  };
  const cells = [
    lostAndWon(base.stretches, seen.stretches),
    pair('successfulFlagged'),
    pair('alarms'),
    lostAndWon(base.cases, seen.cases),
    changes === 0 ? '' : String(changes),
  ];
  return { changes, cells };
}

function lostAndWon(before: readonly string[], after: readonly string[]): string {
  const lost = before.filter((id) => !after.includes(id)).length;
  const won = after.filter((id) => !before.includes(id)).length;
  return [lost === 0 ? [] : `-${lost}`, won === 0 ? [] : `+${won}`].flat().join(' ');
}

function signed(difference: number): string {
  return difference > 0 ? `+${difference}` : String(difference);
}
