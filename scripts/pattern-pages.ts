/**
 * Makes a page of the site for each built-in detector from its docstring, options and defaults, and the list of detectors in
 * `docs/detection.md`. A test compares the list; `npx node scripts/pattern-pages.ts` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Shape } from '../src/core/base/shape.ts';
import { DETECTORS } from '../src/core/detect/detectors/default-detectors.ts';

const FOLDER = join(import.meta.dirname, '../src/core/detect/detectors');
const BEGIN = '<!-- patterns: written by scripts/pattern-pages.ts -->';
const END = '<!-- /patterns -->';

interface Detector {
  readonly kind: string;
  readonly name: string;
  readonly stuck: boolean;
  /** Lines of the docstring. */
  readonly about: readonly string[];
  readonly source: string;
  readonly fields: Readonly<Record<string, Shape>>;
}

const DETECTION = join(import.meta.dirname, '../docs/detection.md');

/** The text of each page by its path in the site. */
export function patternPages(): ReadonlyMap<string, string> {
  return new Map(allDetectors().map((detector) => [`patterns/${detector.kind}.md`, pageOf(detector)]));
}

/** `docs/detection.md` with the list of detectors. */
export function detectionPage(): string {
  const [before = '', , after = ''] = readFileSync(DETECTION, 'utf8').split(
    new RegExp(`(?<=${BEGIN}\n)([^]*)(?=${END})`),
  );
  return `${before}${listOf(allDetectors())}${after}`;
}

function allDetectors(): readonly Detector[] {
  return Object.entries(DETECTORS).map(([kind, { options }]) => detectorOf(kind, options.fields));
}

function detectorOf(kind: string, fields: Readonly<Record<string, Shape>>): Detector {
  const list = readFileSync(`${FOLDER}/detectors-by-kind.ts`, 'utf8');
  const file = new RegExp(` as ${kind} \\} from '\\./(.+)';`).exec(list)?.[1] ?? '';
  const source = readFileSync(`${FOLDER}/${file}`, 'utf8');
  const [, comment = '', name = ''] =
    /\/\*\*\n((?: \*(?!\/).*\n)*) \*\/\nexport const (\w+Detector):/.exec(source) ?? [];
  const about = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
  return { kind, name, stuck: !source.includes('stuck: false'), about, source, fields };
}

function pageOf({ kind, name, stuck, about, source, fields }: Detector): string {
  const text = about
    .join('\n')
    .replace(/\nSource of the numbers?:[^]*?(?=\n\n|$)/, '')
    .replaceAll(/\n(Warns at|Resets on|Ignores):\n/g, '\n## $1\n\n')
    .trim();
  const rows = Object.entries(fields).map(([option, shape]) => {
    const means = new RegExp(`/\\*\\* ([^]*?) \\*/\n  readonly ${option}\\?`).exec(source)?.[1] ?? '';
    const range = shape.kind === 'number' ? `${shape.min} to ${shape.max}` : '';
    const standard = 'default' in shape && shape.default !== undefined ? `\`${shape.default}\`` : '';
    return `| \`${option}\` | ${standard} | ${range} | ${means
      .split('/** ')
      .at(-1)
      ?.replace(/; default .*$/, '')} |`;
  });
  return [
    `# ${kind}`,
    '',
    `${stuck ? 'The agent is stuck' : 'The agent is inefficient, not stuck'}. Detector: \`${name}\`. [Detection](../detection.md) explains steps, epochs and levels.`,
    '',
    text,
    '',
    '## Options',
    '',
    '| option | default | range | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function listOf(detectors: readonly Detector[]): string {
  const table = (stuck: boolean): string =>
    detectors
      .filter((detector) => detector.stuck === stuck)
      .map(({ kind, name, about }) => {
        const sentence = /^[^]*?[.:](?=\s|$)/.exec(about.join(' ').trim())?.[0].replace(/:$/, '.') ?? '';
        return `| \`${kind}\` | \`${name}\` | ${sentence} |\n`;
      })
      .join('');
  const head = '| kind | detector | pattern |\n|---|---|---|\n';
  return `\n## Patterns: stuck\n\nThe documentation of each detector lists what it warns at, what resets its count, what it ignores, and its options.\n\n${head}${table(true)}
## Patterns: inefficient\n\nThey have \`stuck: false\`. \`patternFeedback\` ignores them by default; \`driftFeedback\` reports \`drift\`.\n\n${head}${table(false)}\n`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(DETECTION, detectionPage());
