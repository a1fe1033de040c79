import * as fc from 'fast-check';
import { configShape } from '../../src/hosts/config/config-shape.ts';
import type { CoxswainConfig } from '../../src/hosts/config/coxswain-config.ts';
import { isRegExp, type NumberShape, type ObjectShape, type Shape, type TextShape } from '../../src/core/base/shape.ts';

/** Configurations in which each field is in order by itself. */
export function anyConfig(): fc.Arbitrary<CoxswainConfig> {
  // Values allowed by the shape are configurations.
  return valueOf(configShape, { nearMisses: false, depth: 0 }) as fc.Arbitrary<CoxswainConfig>;
}

/**
 * Values close to a configuration: here and there a number just outside its range, a text of another field, a missing
 * member. Half of them have one section only, so that each section comes often.
 */
export function almostConfig(): fc.Arbitrary<unknown> {
  const options: ArbitraryOptions = { nearMisses: true, depth: 0 };
  const sections = Object.entries(configShape.fields).map(([name, shape]) =>
    valueOf(shape, options).map((value) => ({ [name]: value })),
  );
  return fc.oneof(valueOf(configShape, options), fc.oneof(...sections));
}

interface ArbitraryOptions {
  readonly nearMisses: boolean;
  /** Of shapes that contain themselves. */
  readonly depth: number;
}

const MAX_DEPTH = 3;

/** Texts for every kind of field; which of them a field takes is asked of its shape. */
const TEXTS = [
  'https://hooks.example.org/a',
  '',
  ' ',
  'a',
  'bash',
  'Run tests',
  'npm',
  'src/a.ts',
  '../out',
  '45m',
  '1h30m',
  '0s',
  '30d',
  '23:00-07:00',
  '2GB',
  '1.5 GiB',
  'run-tests',
  'run.tests_2',
  'sixteen characters',
  'a`b',
  'x\u0000y',
  '\u200b',
  'é'.repeat(64),
  '🙂'.repeat(65),
  '🙂'.repeat(500),
  'x'.repeat(501),
  'x'.repeat(1_001),
  '[a-z]{3}',
  '(',
  'ünïcode ok',
];

function valueOf(shape: Shape, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'flag':
      return shape.onlyTrue === true && !options.nearMisses ? fc.constant(true) : fc.boolean();
    case 'number':
      return numberOf(shape, options);
    case 'text':
      return textOf(shape, options);
    case 'choice':
      return missing(fc.constantFrom(...shape.values), fc.constantFrom('other', ''), options);
    case 'list': {
      const maxLength = Math.min(shape.maxItems, Math.max(shape.minItems, 3));
      const items = valueOf(shape.items, options);
      return missing(
        fc.array(items, { minLength: shape.minItems, maxLength }),
        fc.array(items, { maxLength: 6 }),
        options,
      );
    }
    case 'map':
      return fc.dictionary(
        fc.constantFrom('bash', 'view_logs', 'request_review', '__proto__'),
        valueOf(shape.values, options),
        {
          maxKeys: 3,
        },
      );
    case 'object':
      return objectOf(shape, options);
    case 'either':
      return fc.oneof(...shape.shapes.map((one) => valueOf(one, options)));
    case 'lazy':
      return options.depth < MAX_DEPTH
        ? valueOf(shape.shape(), { ...options, depth: options.depth + 1 })
        : fc.constant({ errorStreak: true });
    default:
      return shape;
  }
}

/** Mostly the one, now and then the other. */
function missing(
  inside: fc.Arbitrary<unknown>,
  outside: fc.Arbitrary<unknown>,
  { nearMisses }: ArbitraryOptions,
): fc.Arbitrary<unknown> {
  return nearMisses ? fc.oneof({ weight: 8, arbitrary: inside }, { weight: 1, arbitrary: outside }) : inside;
}

function numberOf({ min, max, whole, above }: NumberShape, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const inside = whole
    ? fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max: Math.min(max, min + 40) }))
    : fc.oneof(
        fc.constantFrom(...(above === true ? [] : [min]), max),
        fc.double({ min, max, minExcluded: above === true, noNaN: true }),
      );
  return missing(inside, fc.constantFrom(min - 1, max + 1, min, min + 0.5, max + 0.5), options);
}

function textOf(shape: TextShape, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const fitting = TEXTS.filter((text) => fits(text, shape));
  return missing(fc.constantFrom(...fitting), fc.constantFrom(...TEXTS), options);
}

function fits(text: string, { minChars = 0, maxChars, pattern, isPattern }: TextShape): boolean {
  const length = Array.from(text).length;
  if (length < minChars || length > maxChars) return false;
  return (pattern?.().test(text) ?? true) && (isPattern !== true || isRegExp(text));
}

function objectOf(shape: ObjectShape, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const names = Object.keys(shape.fields);
  const { required = [], members } = shape;
  const maxLength = Math.min(names.length, members === 'one' ? 1 : Math.max(required.length, 4));
  const chosen = fc.subarray(names, { minLength: members === undefined ? 0 : 1, maxLength });
  const inside = chosen.map((some) => names.filter((name) => required.includes(name) || some.includes(name)));
  return missing(inside, fc.subarray(names, { maxLength: Math.min(names.length, maxLength + 1) }), options).chain(
    (all) => {
      // Both are lists of names.
      const fields = (all as readonly string[]).map(
        (name) => [name, valueOf(shape.fields[name] ?? { kind: 'flag' }, options)] as const,
      );
      return fc.record(Object.fromEntries(fields));
    },
  );
}
