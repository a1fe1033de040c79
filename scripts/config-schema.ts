import { readFileSync } from 'node:fs';

import { configFields } from '../src/hosts/config/decode-config.ts';
import { configShape } from '../src/hosts/config/config-shape.ts';
import type { CoxswainConfig } from '../src/hosts/config/coxswain-config.ts';
import type { Shape } from '../src/core/base/shape.ts';
import { steeringOf } from '../src/hosts/config/resolve-config.ts';

type Node = Readonly<Record<string, unknown>>;

/** Descriptions of fields that docs/configuration.md explains in a section instead of a row. */
const SENTENCES: Readonly<Record<string, string>> = {
  feedback:
    'Feedback providers, run after tool calls: `false` disables one, `true` enables it with its defaults, an object with these options.',
  guidance:
    'Guidance providers, run before decisions: `false` disables one, `true` enables it with its defaults, an object with these options.',
  detectors: 'Detectors, by the pattern name in reports: `false` disables one, an object changes its thresholds.',
  tools: 'The effect of tools, by name. Advice may mention the tools listed here.',
  redaction: 'Redaction of records before they are stored.',
  store: 'Where runs are recorded.',
  gc: 'Deletion of recorded runs.',
  completion: 'Checks that must pass before the agent stops.',
  notify: 'Notifications for people.',
  trigger: 'Conditions under which the provider runs; any of them suffices.',
};

const EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  deadline: ['45m', '1h30m', { minutes: 20 }],
  tools: [{ view_logs: { kind: 'read' } }],
  'redaction.allow': [['EXAMPLE-KEY-1234']],
  'store.address': ['~/coxswain/runs.db', 'postgres://agents@db/agents'],
  'gc.olderThan': ['30d'],
  'gc.maxSize': ['2GB'],
  'completion.files': [['REPORT.md']],
  'completion.command': [['npm', 'test']],
  'notify.webhook': ['https://hooks.example.org/coxswain'],
};

const LIMIT_OF_GUIDANCE =
  /^guidance\.(?:bank\[\]|\w+)\.(?=(?:maxPerTurn|minConfidence|decisionPoints|cooldownTurns|maxPerRun)$)/;

/** The row of docs/configuration.md that explains a field; options shared by many providers have one row. */
export function nameOnPage(path: string): string {
  return path
    .replace(/^guidance\.bank\[\]\.(?=when\.)/, '')
    .replace(/^feedback\..*\.(?=trigger\.)/, '')
    .replace(LIMIT_OF_GUIDANCE, '');
}

/** The last cell of each row, by the first cell, in the page's tables whose first column is `field`. */
function rowsOfPage(): ReadonlyMap<string, string> {
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
  const tables = page.split('\n\n').filter((block) => /^\| field \| (?:default|`doomLoop`)/.test(block));
  const cells = tables.flatMap((block) => block.split('\n').map((line) => line.split('|').map((cell) => cell.trim())));
  return new Map(cells.map((row) => [(row[1] ?? '').replaceAll('`', ''), row.at(-2) ?? '']));
}

/**
 * The JSON Schema (2020-12) of `coxswain.config.json`: limits and defaults come from the shapes, descriptions from
 * docs/configuration.md.
 *
 * @throws Error for a field without a row on that page, and for an example without a field
 */
export function configSchema(): Node {
  const rows = rowsOfPage();
  /** Recursive shapes: a situation in `guidance.bank[].when` contains situations. */
  const condition: { made?: Node } = {};
  const body = nodeOf(configShape, '');
  const paths = new Set(configFields().map(({ path }) => path));
  for (const path of Object.keys(EXAMPLES)) if (!paths.has(path)) throw new Error(`there is no field ${path}`);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://unpkg.com/coxswain/schema/coxswain.config.schema.json',
    title: 'coxswain.config.json',
    description: 'What coxswain records, detects and advises. Absent fields keep the values of the standard steering.',
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
        // Distinguished by type, so the limits of one do not apply to the others.
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

/** Adds what shapes lack: examples, and a provider's default trigger. */
function extrasOf(path: string): Node {
  const [, provider] = /^feedback\.(\w+)\.trigger$/.exec(path) ?? [];
  if (provider === undefined) return EXAMPLES[path] === undefined ? {} : { examples: EXAMPLES[path] };
  const config: CoxswainConfig = { standard: false, feedback: { [provider]: true } };
  const [made] = steeringOf(config).feedback ?? [];
  return { default: made?.trigger ?? made?.provider.defaultTrigger };
}
