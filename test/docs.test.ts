import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { extractSnippets, moduleOf, type Snippet } from './docs-snippets.ts';
import { HANGS_AFTER_MS } from './support/hangs-after.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Inside the checkout, so that types and packages are found; git does not see it. */
const folder = join(root, `.snippets-${process.pid}`);
/** Where programs run: it holds the bundled sample under the name that the pages use. */
const workFolder = mkdtempSync(join(tmpdir(), 'coxswain-docs-'));
/** The programs. The compiler does not look there. */
const programFolder = join(folder, 'programs');

const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })]
  .map((page) => page.split(sep).join('/'))
  .filter((page) => !page.startsWith('docs/decisions/'))
  .map((page) => extractSnippets(page, readFileSync(join(root, page), 'utf8')));
const snippets = pages.flatMap((page) => page.snippets);
const checked = snippets.filter((snippet) => snippet.noCheck === undefined);
const programs = checked.filter((snippet) => snippet.given === undefined);
const skipped = snippets.filter((snippet) => snippet.noCheck !== undefined);

/** Import names of the package, and their sources seen from `folder`, or their modules as `scripts/test-programs.ts` bundled them. */
function packageSources(built?: string): Readonly<Record<string, string>> {
  // Our own package.json, whose exports test/package.test.ts checks.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  return Object.fromEntries(
    Object.entries(manifest.exports).flatMap(([subpath, target]) => {
      if (target.default === undefined) return [];
      const source =
        built === undefined
          ? target.default.replace('./dist/', '../src/').replace(/[.]js$/, '.ts')
          : pathToFileURL(join(built, target.default.replace('./dist/', ''))).href;
      return [[`coxswain${subpath.slice(1)}`, source] as const];
    }),
  );
}

function fileOf(snippet: Snippet): string {
  return `${snippet.place.replace(/[^\w]+/g, '-')}.ts`;
}

function write(snippet: Snippet): void {
  writeFileSync(join(folder, fileOf(snippet)), moduleOf(snippet, packageSources()));
}

function runProgram(snippet: Snippet): { readonly code: number | null; readonly out: string; readonly err: string } {
  const done = spawnSync(process.execPath, [join(programFolder, fileOf(snippet))], {
    cwd: workFolder,
    encoding: 'utf8',
    timeout: HANGS_AFTER_MS,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

/** Blocks that are wrong on purpose, to see that a wrong block is found. */
const wrongType: Snippet = {
  place: 'wrong.md:1',
  code: "import { createCoxswain } from 'coxswain';\ncreateCoxswain({ mode: 'shout' });\n",
};
const wrongEnd: Snippet = { place: 'wrong.md:9', code: "console.log('before');\nthrow new Error('on purpose');\n" };

beforeAll(() => {
  mkdirSync(folder);
  // Blocks show things that they do not go on to use, and export nothing that needs a written type.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, isolatedDeclarations: false };
  const settings = { extends: '../tsconfig.json', compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  for (const snippet of [...checked, wrongType, wrongEnd]) write(snippet);
  mkdirSync(programFolder);
  const built = packageSources(process.env['COXSWAIN_BUILT']);
  for (const snippet of [...programs, wrongEnd])
    writeFileSync(join(programFolder, fileOf(snippet)), moduleOf(snippet, built));
  const sample = readFileSync(join(root, 'samples/stuck-run.jsonl'), 'utf8');
  writeFileSync(join(workFolder, 'transcript.jsonl'), sample);
  writeFileSync(join(workFolder, 'runs.jsonl'), sample + sample.replaceAll('sample-stuck-run', 'another-run'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(workFolder, { recursive: true, force: true });
});

test('every page says exactly which of its blocks are checked, run and compared', () => {
  expect(pages.flatMap((page) => page.problems)).toEqual([]);
  expect(programs.length).toBeGreaterThan(10);
});

test(`${skipped.length} blocks are not checked, each for a stated reason`, () => {
  const reasonless = skipped.filter((snippet) => !/\w+ \w+/.test(snippet.noCheck ?? ''));
  expect(reasonless.map((snippet) => snippet.place)).toEqual([]);
});

test('every block type-checks against the sources, and a wrong one is found', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const done = spawnSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false', '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  // The project's type check covers errors in sources.
  const errors = done.stdout.split('\n').filter((line) => /error TS\d+/.test(line) && !line.startsWith('..'));
  const inWrong = errors.filter((line) => line.startsWith(fileOf(wrongType)));
  expect(errors.filter((line) => !inWrong.includes(line))).toEqual([]);
  expect(inWrong).toHaveLength(1);
  expect(inWrong[0]).toContain('shout');
});

test.each(programs)('the program at $place runs', (snippet) => {
  let { code, out, err } = runProgram(snippet);
  // On a loaded machine a provider may overrun its time, and the run records that; such output is right too.
  for (let tries = 0; tries < 3 && out !== (snippet.prints ?? out); tries += 1)
    ({ code, out, err } = runProgram(snippet));
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toBe(snippet.prints ?? out);
});

test('a program that ends with an error is found, and so is one that prints something else', () => {
  expect(runProgram(wrongEnd)).toMatchObject({ code: 1, out: 'before\n' });
});

describe('the extractor', () => {
  const block = '```ts\nconst a = 1;\n```\n';

  test('takes code, declarations, reasons and output', () => {
    const page = `${block}\n<!-- prints -->\n\n\`\`\`text\n1\n\`\`\`\n\n<!-- given: declare const b: 1; -->\n\n${block}\ntext\n\n<!-- no-check: needs a key -->\n${block}`;
    expect(extractSnippets('p.md', page)).toEqual({
      problems: [],
      snippets: [
        { place: 'p.md:1', code: 'const a = 1;\n', prints: '1\n' },
        { place: 'p.md:13', code: 'const a = 1;\n', given: 'declare const b: 1;' },
        { place: 'p.md:20', code: 'const a = 1;\n', noCheck: 'needs a key' },
      ],
    });
  });

  test('passes over blocks of other languages, also those that hold a fence', () => {
    const page = '```sh\nls\n```\n\n````md\n```ts\nnot a block\n```\n````\n\n```\nplain\n```\n';
    expect(extractSnippets('p.md', page)).toEqual({ problems: [], snippets: [] });
  });

  test.each([
    ['a block that is not closed', '```ts\nconst a = 1;\n', 'not closed'],
    ['another name of the language', '```typescript\n```\n', 'marked "ts"'],
    ['another case of the name', '```TS\n```\n', 'marked "ts"'],
    ['an indented block', '- item\n\n    ```ts\n    ```\n', 'not indented'],
    ['no reason', `<!-- no-check -->\n${block}`, 'expected'],
    ['an empty reason', `<!-- no-check:  -->\n${block}`, 'expected'],
    ['a misspelt directive', `<!-- givn: declare const b: 1; -->\n${block}`, 'expected'],
    ['a directive before prose', `<!-- given: declare const b: 1; -->\n\nprose\n\n${block}`, 'belongs to no block'],
    ['output of no block', 'prose\n\n<!-- prints -->\n\n```text\n1\n```\n', 'belongs to no block'],
    ['a promise of output that is not there', `${block}\n<!-- prints -->\n\nprose\n`, 'belongs to no block'],
    [
      'output of a block that is not run',
      `<!-- given: declare const b: 1; -->\n${block}<!-- prints -->\n\`\`\`text\n\`\`\`\n`,
      'is not run',
    ],
  ])('reports %s', (_what, page, problem) => {
    expect(extractSnippets('p.md', page).problems.join('\n')).toContain(problem);
  });

  test('leads imports of the package to the sources, and refuses one that the package does not have', () => {
    const sources = { coxswain: '../src/index.ts', 'coxswain/sqlite': '../src/stores/sqlite/sqlite-store.ts' };
    const code =
      "import { a } from 'coxswain';\nimport type { b } from \"coxswain/sqlite\";\ntype C = import('coxswain').C;\n";
    expect(moduleOf({ place: 'p.md:1', code }, sources)).toBe(
      '\nimport { a } from "../src/index.ts";\nimport type { b } from "../src/stores/sqlite/sqlite-store.ts";\ntype C = import("../src/index.ts").C;\n',
    );
    const missing = { place: 'p.md:1', code: "import 'coxswain/none';" };
    expect(() => moduleOf(missing, sources)).toThrow('p.md:1: the package has no "coxswain/none"');
  });
});
