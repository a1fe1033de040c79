import { readFileSync } from 'node:fs';

import { configFields } from '../src/config/config-fields.ts';
import { configShape } from '../src/config/config-shape.ts';
import type { CoxswainConfig } from '../src/config/coxswain-config.ts';
import type { Shape } from '../src/base/shape.ts';
import { steeringOf } from '../src/config/steering-of.ts';

type Node = Readonly<Record<string, unknown>>;

/** What is said where docs/configuration.md has a section or a paragraph of its own and no row. */
const SENTENCES: Readonly<Record<string, string>> = {
  feedback:
    'Who speaks after a tool call: `false` is off, `true` on with its defaults, an object on with these options.',
  guidance:
    'Who speaks before a decision: `false` is off, `true` on with its defaults, an object on with these options.',
  detectors:
    'Patterns that are looked for, by the name that reports show: `false` is off, an object changes thresholds.',
  tools: 'What tools do, by name. Advice may name the tools that stand here.',
  redaction: 'What is taken out of records before they are stored.',
  store: 'Where runs are recorded.',
  gc: 'Which recorded runs are deleted.',
  completion: 'What must hold before the agent may stop.',
  notify: 'Whom coxswain watch notifies. Counts only in your own configuration.',
  trigger: 'When it is asked: any of these conditions.',
};

const EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  deadline: ['45m', '1h30m', { minutes: 20 }],
  tools: [{ view_logs: { kind: 'read' } }],
  'redaction.allow': [['EXAMPLE-KEY-1234']],
  'store.address': ['.coxswain/runs.db', '~/coxswain/runs.db'],
  'gc.olderThan': ['30d'],
  'gc.maxSize': ['2GB'],
  'completion.files': [['REPORT.md']],
  'completion.command': [['npm', 'test']],
  'notify.webhook': ['https://hooks.example.org/coxswain'],
};

const LIMIT_OF_GUIDANCE =
  /^guidance\.(?:bank\[\]|\w+)\.(?=(?:maxPerTurn|minConfidence|decisionPoints|cooldownTurns|maxPerRun)$)/;

/** The name under which docs/configuration.md explains a field: what many providers share stands there once. */
export function nameOnPage(path: string): string {
  return path
    .replace(/^guidance\.bank\[\]\.(?=when\.)/, '')
    .replace(/^feedback\..*\.(?=trigger\.)/, '')
    .replace(LIMIT_OF_GUIDANCE, '');
}

/** The last cell of each row of the page's tables whose first column is called `field`, by the first. */
function rowsOfPage(): ReadonlyMap<string, string> {
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
  const tables = page.split('\n\n').filter((block) => /^\| field \| (?:default|`doomLoop`)/.test(block));
  const cells = tables.flatMap((block) => block.split('\n').map((line) => line.split('|').map((cell) => cell.trim())));
  return new Map(cells.map((row) => [(row[1] ?? '').replaceAll('`', ''), row.at(-2) ?? '']));
}

/**
 * The JSON Schema (2020-12) of `coxswain.config.json`: limits and defaults are those of the shapes, sentences those of
 * docs/configuration.md.
 *
 * @throws Error for a field that the page does not explain, and for an example of no field
 */
export function configSchema(): Node {
  const rows = rowsOfPage();
  /** Shapes that contain themselves. A situation stands in `guidance.bank[].when` and holds situations. */
  const condition: { made?: Node } = {};
  const body = nodeOf(configShape, '');
  const paths = new Set(configFields().map(({ path }) => path));
  for (const path of Object.keys(EXAMPLES)) if (!paths.has(path)) throw new Error(`there is no field ${path}`);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://unpkg.com/coxswain/schema/coxswain.config.schema.json',
    title: 'coxswain.config.json',
    description:
      'What coxswain records, looks for and says to an unattended agent. What is absent is as in the standard steering.',
    ...body,
    $defs: { condition: condition.made },
  };

  function nodeOf(shape: Shape, path: string): Node {
    switch (shape.kind) {
      case 'flag':
        return shape.onlyTrue === true ? { const: true } : { type: 'boolean', ...defaultOf(shape) };
      case 'number':
        return {
          type: shape.whole ? 'integer' : 'number',
          [shape.above === true ? 'exclusiveMinimum' : 'minimum']: shape.min,
          maximum: shape.max,
          ...defaultOf(shape),
        };
      case 'text':
        return {
          type: 'string',
          ...(shape.minChars === undefined ? {} : { minLength: shape.minChars }),
          maxLength: shape.maxChars,
          ...(shape.pattern === undefined ? {} : { pattern: shape.pattern().source }),
          ...(shape.isPattern === true ? { format: 'regex' } : {}),
          ...defaultOf(shape),
        };
      case 'choice':
        return { type: 'string', enum: shape.values, ...defaultOf(shape) };
      case 'list': {
        const items = nodeOf(shape.items, `${path}[]`);
        return {
          type: 'array',
          ...(shape.minItems === 0 ? {} : { minItems: shape.minItems }),
          maxItems: shape.maxItems,
          items,
        };
      }
      case 'map':
        return {
          type: 'object',
          propertyNames: { minLength: 1, maxLength: shape.maxNameChars },
          maxProperties: shape.maxItems,
          additionalProperties: nodeOf(shape.values, `${path}.*`),
        };
      case 'object':
        return {
          type: 'object',
          ...(shape.required === undefined ? {} : { required: shape.required }),
          ...(shape.members === undefined ? {} : { minProperties: 1 }),
          ...(shape.members === 'one' ? { maxProperties: 1 } : {}),
          properties: Object.fromEntries(
            Object.entries(shape.fields).map(([name, field]) => {
              const at = path === '' ? name : `${path}.${name}`;
              return [name, { description: sentenceOf(at), ...nodeOf(field, at), ...extrasOf(at) }];
            }),
          ),
          additionalProperties: false,
        };
      case 'either': {
        const nodes = shape.shapes.map((one) => nodeOf(one, path));
        if (nodes.some((node) => node['const'] !== undefined)) return { anyOf: nodes };
        // Told apart by their types, so the limits of one mean nothing to the others.
        return { ...Object.assign({}, ...nodes), type: nodes.map((node) => node['type']) };
      }
      case 'lazy':
        if (condition.made === undefined) {
          condition.made = {};
          condition.made = nodeOf(shape.shape(), 'when');
        }
        return { $ref: '#/$defs/condition' };
      default:
        return shape;
    }
  }

  function sentenceOf(path: string): string {
    const name = nameOnPage(path);
    const sentence =
      rows.get(name) ?? SENTENCES[name] ?? (name.endsWith('.trigger') ? SENTENCES['trigger'] : undefined);
    if (sentence === undefined) throw new Error(`docs/configuration.md does not explain ${path}`);
    return sentence;
  }
}

function defaultOf(shape: { readonly default?: unknown }): Node {
  return shape.default === undefined ? {} : { default: shape.default };
}

/** What a shape does not hold: examples, and the trigger that a provider has where nothing is said. */
function extrasOf(path: string): Node {
  const [, provider] = /^feedback\.(\w+)\.trigger$/.exec(path) ?? [];
  if (provider === undefined) return EXAMPLES[path] === undefined ? {} : { examples: EXAMPLES[path] };
  const config: CoxswainConfig = { standard: false, feedback: { [provider]: true } };
  const [made] = steeringOf(config).feedback ?? [];
  return { default: made?.trigger ?? made?.provider.defaultTrigger };
}
