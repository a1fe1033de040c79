import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configSchema } from '../../../scripts/config-schema.ts';
import { almostConfig, anyConfig } from '../../../test/support/config-arbitrary.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { problemText, type ConfigProblem } from './config-problem.ts';
import { decodeConfig } from './decode-config.ts';
import { isRegExp } from '../../core/base/shape.ts';

const validate = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { regex: isRegExp } }).compile(
  configSchema(),
);

function problemsOf(value: unknown): readonly ConfigProblem[] {
  const decoded = decodeConfig(value);
  return 'problems' in decoded ? decoded.problems : [];
}

/** Ignores conflicts between two fields, which the schema cannot express. */
function disagreement(value: unknown): string | undefined {
  const problems = problemsOf(value).filter(({ kind }) => kind !== 'together');
  const accepts = problems.length === 0;
  if (accepts === validate(value)) return undefined;
  return accepts
    ? `only the schema refuses: ${JSON.stringify(validate.errors)}`
    : `only we refuse: ${problems.map(problemText).join('; ')}`;
}

test('the schema and the decoder accept every valid configuration', () => {
  fc.assert(
    fc.property(anyConfig(), (config) => {
      expect(problemsOf(config).filter(({ kind }) => kind !== 'together')).toEqual([]);
      expect([validate(config), validate.errors]).toEqual([true, null]);
    }),
    { numRuns: 500 },
  );
});

test('the schema and the decoder agree on almost valid configurations', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(almostConfig(), (value) => {
      seen[validate(value) ? 'accepted' : 'refused'] += 1;
      expect(disagreement(value)).toBeUndefined();
    }),
    { numRuns: 4_000 },
  );
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
});

test('the schema and the decoder agree on configurations with arbitrary values', () => {
  const value = anyConfig().chain((config) => mutatedJson(config));
  fc.assert(
    fc.property(value, (mutated) => {
      expect(disagreement(mutated)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});
