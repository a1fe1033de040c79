import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nameOnPage } from '../scripts/config-schema.ts';
import { STATE_FILES } from '../src/core/node/state-places.ts';
import { parseBytes } from '../src/core/base/number-text.ts';
import { configFields, type ConfigField, decodeConfig, readConfigText } from '../src/hosts/config/decode-config.ts';
import { resolveConfig } from '../src/hosts/config/resolve-config.ts';
import type { Shape } from '../src/core/base/shape.ts';
import { DEFAULT_MAX_STORE_BYTES } from '../src/stores/collect-garbage.ts';

const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');

/** The rows of every table of the page whose head begins so. */
function tables(head: string): readonly (readonly (readonly string[])[])[] {
  return page
    .split('\n\n')
    .map((block) => block.split('\n'))
    .filter(([first]) => first?.startsWith(`| ${head} |`))
    .map((lines) =>
      lines
        .filter((line) => line.startsWith('|'))
        .slice(2)
        .map((line) =>
          line
            .slice(1, line.lastIndexOf('|'))
            .split('|')
            .map((cell) => cell.trim()),
        ),
    );
}

const LIMITS = ['maxPerTurn', 'minConfidence', 'decisionPoints', 'cooldownTurns', 'maxPerRun'];

function isLimit(path: string): boolean {
  return LIMITS.some((name) => new RegExp(`^guidance\\.[^.]+\\.${name}$`).test(path));
}

function defaultOf(shape: Shape): string | undefined {
  if (shape.kind === 'either') return shape.shapes.map(defaultOf).find((text) => text !== undefined);
  return 'default' in shape && shape.default !== undefined ? `\`${JSON.stringify(shape.default)}\`` : undefined;
}

function withoutCode(cell: string | undefined): string {
  return (cell ?? '').replace(/^`(.*)`$/, '$1');
}

/** Fields whose rows the page has in other forms, or whose section is their explanation. */
function isOwnRow({ path }: ConfigField): boolean {
  return (
    !isLimit(path) && !/^feedback\.(?!deadline\.).*\.trigger/.test(path) && !/^feedback\.deadline\.trigger$/.test(path)
  );
}

const SECTIONS: ReadonlySet<string> = new Set([
  'feedback',
  'guidance',
  'detectors',
  'tools',
  'redaction',
  'store',
  'gc',
  'completion',
  'notify',
]);

const fields = configFields().filter((field) => isOwnRow(field) && !SECTIONS.has(field.path));
const [general] = tables('field | default');
const rows = tables('field | default').flat();

test('docs/configuration.md has exactly the fields of the configuration', () => {
  expect(general?.length).toBeGreaterThan(20);
  expect(rows.map(([path]) => withoutCode(path)).sort()).toEqual(fields.map(({ path }) => nameOnPage(path)).sort());
});

test('docs/configuration.md states the default of every field', () => {
  const shown = new Map(rows.map(([path, standard]) => [withoutCode(path), standard]));
  const defaults = fields.flatMap((field) => {
    const standard = defaultOf(field.shape);
    return standard === undefined ? [] : [[nameOnPage(field.path), standard] as const];
  });
  expect(defaults.length).toBeGreaterThan(80);
  for (const [path, standard] of defaults) expect([path, shown.get(path)]).toEqual([path, standard]);
});

test('the page has the default limits of every guidance provider', () => {
  const [limits] = tables('field | `doomLoop`');
  const owners = [
    'doomLoop',
    'diagnosticSignal',
    'consultationPrompt',
    'parallelToolReminder',
    'lessonGuidance',
    'bank[]',
  ];
  const shapes = new Map(configFields().map(({ path, shape }) => [path, shape]));
  const expected = LIMITS.map((name) =>
    owners.map((owner) => {
      const shape = shapes.get(`guidance.${owner}.${name}`);
      return shape === undefined ? 'no such field' : (defaultOf(shape) ?? 'none');
    }),
  );
  expect(limits?.map((row) => row.slice(1, 7))).toEqual(expected);
  expect(limits?.map(([name]) => withoutCode(name))).toEqual(LIMITS);
});

test('the first example of the page is a configuration that works as described', () => {
  const [, json = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
  const { config, problems } = readConfigText(json);
  expect(problems).toEqual([]);
  expect(decodeConfig(config)).toEqual({ config });
  const { steering, deadline } = resolveConfig(config, { folder: '/project', homeFolder: '/home/someone' });
  expect(deadline).toEqual({ seconds: 2_700 });
  expect(steering.guidance?.map(({ provider }) => provider.name)).toEqual(['doom_loop', 'read-the-error']);
});

test('the page has the default store size of gc', () => {
  const [, , text = ''] = rows.find(([path]) => path === '`gc.maxSize`') ?? [];
  const [, size = ''] = /Without both fields: `([^`]+)`/.exec(text) ?? [];
  expect(parseBytes(size)).toBe(DEFAULT_MAX_STORE_BYTES);
});

test('the page has the table of control files', () => {
  const [table] = tables('file | what it holds');
  const expected = Object.values(STATE_FILES).map(({ name, holds }) => [name, holds]);
  expect(table?.map(([name, holds]) => [withoutCode(name), holds]).slice(0, expected.length)).toEqual(expected);
});
