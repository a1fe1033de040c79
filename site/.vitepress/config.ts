import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { defineConfig } from 'vitepress';

import { GROUPS, OTHERS } from '../nav.ts';

const pages = join(import.meta.dirname, '..', '.pages');
const titleOf = (page: string): string =>
  (/^# (.*)$/m.exec(readFileSync(join(pages, `${page}.md`), 'utf8'))?.[1] ?? page).replaceAll('`', '');
const item = (page: string): { text: string; link: string } => ({ text: titleOf(page), link: `/${page}` });
const below = (folder: string): readonly string[] =>
  globSync(`${folder}*.md`, { cwd: pages })
    .map((file) => file.replace(/\.md$/, ''))
    .toSorted();

const grouped = new Set(GROUPS.flatMap(({ pages: names }) => names));
const others = below('').filter((page) => !grouped.has(page) && page !== 'index');

export default defineConfig({
  title: 'coxswain',
  description: 'Records, analyses and softly steers unattended AI agents',
  srcDir: '.pages',
  cleanUrls: false,
  lastUpdated: false,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Docs', link: '/overview' },
      { text: 'API', link: '/api/' },
      { text: 'llms.txt', link: '/llms.txt', target: '_self' },
    ],
    sidebar: [
      ...GROUPS.map(({ text, pages: names }) => ({ text, items: names.map(item), collapsed: false })),
      { text: 'Patterns', items: below('patterns/').map(item), collapsed: true },
      { text: OTHERS, items: others.map(item), collapsed: true },
      { text: 'API', items: [{ text: 'Entry points', link: '/api/' }], collapsed: false },
      { text: 'Decisions', items: below('decisions/').map(item), collapsed: true },
    ],
  },
});
