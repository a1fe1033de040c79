/**
 * Fails if a relative link in the documentation has no target file or heading, or if a repository path mentioned there does not
 * exist.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const LINK = /\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
/** Files that pages about the code name without their folder. */
const FILE = /`([\w.-]+\.tsx?)`/g;
const ABOUT_CODE = /^(?:AGENTS|CONTRIBUTING|docs\/(?:changes|architecture|tour))\.md$/;
const PATH = /`((?:src|docs|test|scripts|bench|samples)\/[\w./-]+)`/g;
const FENCED = /^ {0,3}(`{3,}|~{3,})[^]*?^ {0,3}\1\s*$/gm;

/** The anchors of a page: its headings as GitHub writes them, repeated ones numbered. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

function prose(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(FENCED, '');
}

let broken = 0;
function report(page: string, what: string): void {
  broken += 1;
  console.error(`${page}: ${what}`);
}

const files = globSync('{src,test,scripts,bench,integration}/**/*.{ts,tsx}', {
  exclude: (name) => name.includes('node_modules'),
});
const names = new Set(files.map((file) => basename(file)));
for (const page of ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md')]) {
  const text = prose(page);
  for (const [, link = '', anchor] of text.matchAll(LINK)) {
    const target = link === '' ? page : join(dirname(page), link);
    if (!existsSync(target)) report(page, `${target} does not exist`);
    else if (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)) {
      report(page, `${target} has no heading #${anchor}`);
    }
  }
  for (const [, path = ''] of text.matchAll(PATH)) if (!existsSync(path)) report(page, `${path} does not exist`);
  if (!ABOUT_CODE.test(page)) continue;
  for (const [, name = ''] of text.matchAll(FILE)) if (!names.has(name)) report(page, `no file is named ${name}`);
}
process.exitCode = broken === 0 ? 0 : 1;
