/**
 * Builds the site into `.vitepress/dist`. Its pages are the files of `docs/` as they are, some files of the root, and what is generated:
 * the API reference from the docstrings, the patterns, the words, the kinds of records from their definitions, and `llms.txt`. Everything is copied to `.pages`
 * first, where links to files that are no page become text. A dead link fails the build.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Application, type ProjectReflection } from 'typedoc';
import { build } from 'vitepress';

import { patternPages } from '../scripts/pattern-pages.ts';
import { recordSchema } from '../scripts/record-schema.ts';
import { wordsPage } from '../scripts/words-page.ts';
import { FROM_THE_ROOT } from './nav.ts';

const site = import.meta.dirname;
const root = fileURLToPath(new URL('..', import.meta.url));
const pages = join(site, '.pages');

/** Pages by the path of their file in the repository. */
const pageOf = new Map([
  ...globSync('docs/**/*.md', { cwd: root }).map((file) => [file, relative('docs', file)] as const),
  ...Object.entries(FROM_THE_ROOT),
]);

/** Generated pages by their path. */
const generated: ReadonlyMap<string, string> = new Map([...patternPages(), ['words.md', wordsPage()]]);

rmSync(pages, { recursive: true, force: true });
mkdirSync(join(pages, 'public'), { recursive: true });
cpSync(join(root, 'docs', 'images'), join(pages, 'images'), { recursive: true });
cpSync(join(site, 'index.md'), join(pages, 'index.md'));
for (const [file, page] of pageOf) write(page, withLinks(readFileSync(join(root, file), 'utf8'), file, page));
for (const [page, text] of generated) write(page, text);
write('kinds.md', kindsPage());
await writeApi();
writeForModels();
await build(site);
checkAnchors();

function write(page: string, text: string): void {
  const path = join(pages, page);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Relative links lead to pages; a link to another file of the repository becomes its text. */
function withLinks(text: string, file: string, page: string): string {
  return text.replaceAll(
    /(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (link, mark, label, path, anchor = '') => {
      const target = join(dirname(file), path);
      const to = pageOf.get(target) ?? (target.startsWith('docs/images/') ? relative('docs', target) : undefined);
      if (to === undefined) return existsSync(join(root, target)) ? label : link;
      const way = relative(dirname(page), to);
      return `${mark}[${label}](${way.startsWith('.') ? way : `./${way}`}${anchor})`;
    },
  );
}

interface Shape {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly title?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** One section a kind of record, and one a shape inside them. */
function kindsPage(): string {
  // The schema is ours.
  const { $defs } = recordSchema() as { readonly $defs: Readonly<Record<string, Shape>> };
  const sections = Object.entries($defs).flatMap(([name, shape]) => {
    const fields = Object.entries(shape.properties ?? {}).filter(([field]) => field !== 'kind');
    if (shape.properties === undefined) return [];
    const rows = fields.map(([field, one]) => {
      const mark = shape.required?.includes(field) === true ? '' : ' (optional)';
      return `| \`${field}\`${mark} | ${typeText(one, $defs)} | ${cell(one.description ?? one.title)} |`;
    });
    const table = rows.length === 0 ? [] : ['| field | is | means |', '|---|---|---|', ...rows, ''];
    return [
      `## ${name} {#${name}}`,
      '',
      ...[shape.title, shape.description].flatMap((line) => (line ? [escaped(line), ''] : [])),
      ...table,
    ];
  });
  const head =
    'What a record can say: the kinds of its payload, and the shapes inside them. The same as a schema: ' +
    '`coxswain/schema/trajectory-record.schema.json`.';
  return ['# Kinds of records', '', head, '', ...sections].join('\n');
}

function typeText(shape: Shape, defs: Readonly<Record<string, Shape>>): string {
  const name = shape.$ref?.replace('#/$defs/', '');
  if (name !== undefined)
    return defs[name]?.properties === undefined ? (defs[name]?.title ?? name) : `[${name}](#${name})`;
  if (shape.anyOf !== undefined) return shape.anyOf.map((one) => typeText(one, defs)).join(' or ');
  if (shape.enum !== undefined || shape.const !== undefined)
    return (shape.enum ?? [shape.const]).map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (shape.items !== undefined) return `list of ${typeText(shape.items, defs)}`;
  return [shape.type ?? 'any JSON'].flat().join(' or ');
}

function cell(text = ''): string {
  return escaped(text).replaceAll('|', '\\|');
}

/** No tag and no interpolation outside code. */
function escaped(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')))
    .join('');
}

/** A page for each exported name, by entry point. */
async function writeApi(): Promise<void> {
  // Our own file.
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string'
      ? []
      : [[`coxswain${subpath.slice(1)}`, target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts')] as const],
  );
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: join(root, 'tsconfig.json'),
    basePath: root,
    entryPoints: entries.map(([, source]) => join(root, source)),
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    readme: 'none',
    cleanOutputDir: false,
    name: 'API',
    outputs: [{ name: 'markdown', path: join(pages, 'api') }],
    skipErrorChecking: true,
    validation: false,
    logLevel: 'Error',
    ...{ hidePageHeader: true, entryFileName: 'index', outputFileStrategy: 'members', parametersFormat: 'table' },
  });
  const project: ProjectReflection | undefined = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources');
  const nameOf = new Map(entries.map(([name, source]) => [source.replace(/(?:\/index)?\.ts$/, ''), name]));
  for (const module of project.children ?? []) module.name = nameOf.get(module.name) ?? module.name;
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('TypeDoc reported errors');
}

/** `llms.txt`, the list of pages with their first sentences, and `llms-full.txt`, all of them in one. */
function writeForModels(): void {
  const docs = [...pageOf].filter(([file]) => file.startsWith('docs/') && !file.startsWith('docs/decisions/'));
  const texts = [
    ...docs.map(([file, page]) => ({ page, text: readFileSync(join(root, file), 'utf8') })),
    ...[...generated].map(([page, text]) => ({ page, text })),
  ];
  const lines = texts.map(({ page, text }) => {
    const title = /^# (.*)$/m.exec(text)?.[1] ?? page;
    const paragraph = text.split('\n\n').find((block) => /^[\w*`[]/.test(block) && !block.startsWith('```')) ?? '';
    const about =
      /^.+?[.:](?=\s|$)/.exec(paragraph.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))?.[0] ?? '';
    return `- [${title}](/${page.replace(/\.md$/, '.html')}): ${about}`;
  });
  const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly description: string;
  };
  write('public/llms.txt', `# coxswain\n\n> ${description}\n\n## Docs\n\n${lines.join('\n')}\n`);
  write('public/llms-full.txt', texts.map(({ text }) => text).join('\n\n---\n\n'));
}

/** VitePress checks pages; this checks the places in them, and that no page loads anything from elsewhere. */
function checkAnchors(): void {
  const out = join(site, '.vitepress', 'dist');
  const htmlOf = new Map(
    globSync('**/*.html', { cwd: out }).map((name) => [name, readFileSync(join(out, name), 'utf8')]),
  );
  const problems: string[] = [];
  let links = 0;
  for (const [name, html] of htmlOf) {
    for (const [, path = '', anchor] of html.matchAll(/<a [^>]*?href="(?!\w+:)([^"#]*)(?:#([^"]*))?"/g)) {
      links += 1;
      const plain = path === '' ? name : join(path.startsWith('/') ? '' : dirname(name), path.replace(/^\//, ''));
      const file = [plain, `${plain}.html`, join(plain, 'index.html')].find(
        (one) => htmlOf.has(one) || (one !== '' && existsSync(join(out, one)) && /\.\w+$/.test(one)),
      );
      if (file === undefined) problems.push(`${name}: ${path} leads nowhere`);
      else if (anchor !== undefined && htmlOf.get(file)?.includes(` id="${decodeURIComponent(anchor)}"`) !== true)
        problems.push(`${name}: ${file} has no #${anchor}`);
    }
    for (const [, url = ''] of html.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="(https?:[^"]*)"/g))
      problems.push(`${name} loads ${url}`);
  }
  for (const problem of new Set(problems)) console.error(problem);
  console.log(`${htmlOf.size} pages, ${links} links, ${new Set(problems).size} broken`);
  if (problems.length > 0) process.exitCode = 1;
}
