import { expect, test } from 'vitest';
import { CoxswainError } from '../../core/base/error.ts';
import { configFields, decodeConfig } from './decode-config.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { sweepable } from './sweepable.ts';

test('a number is set by its path, or by the end of it', () => {
  const config: CoxswainConfig = {
    mode: 'shadow',
    guidance: { doomLoop: { windowSize: 8 }, parallelToolReminder: false },
  };
  const expected = {
    path: 'guidance.doomLoop.maxRepetitions',
    config: {
      mode: 'shadow',
      guidance: { doomLoop: { windowSize: 8, maxRepetitions: 4 }, parallelToolReminder: false },
    },
  };
  expect(sweepable(config, 'guidance.doomLoop.maxRepetitions', 4)).toEqual(expected);
  expect(sweepable(config, 'doomLoop.maxRepetitions', 4)).toEqual(expected);
  expect(config).toEqual({ mode: 'shadow', guidance: { doomLoop: { windowSize: 8 }, parallelToolReminder: false } });
});

test('a full path wins over the end of another', () => {
  expect(sweepable({}, 'holdout', 0.5).config).toEqual({ holdout: 0.5 });
});

test.each<readonly [CoxswainConfig]>([[{}], [{ guidance: { doomLoop: false } }], [{ guidance: { doomLoop: true } }]])(
  'what is swept is on: %j',
  (config) => {
    expect(sweepable(config, 'doomLoop.maxRepetitions', 2).config).toEqual({
      guidance: { doomLoop: { maxRepetitions: 2 } },
    });
  },
);

test('a window too small for the repetitions is raised and reported', () => {
  expect(sweepable({}, 'doomLoop.maxRepetitions', 6)).toEqual({
    path: 'guidance.doomLoop.maxRepetitions',
    raised: { path: 'guidance.doomLoop.windowSize', value: 6 },
    config: { guidance: { doomLoop: { maxRepetitions: 6, windowSize: 6 } } },
  });
  expect(sweepable({ guidance: { doomLoop: { windowSize: 9 } } }, 'doomLoop.maxRepetitions', 6)).not.toHaveProperty(
    'raised',
  );
});

test('every number can be set to both ends of its range with a valid result', () => {
  const numbers = configFields().filter(({ path, shape }) => shape.kind === 'number' && !/\[\]|\*/.test(path));
  expect(numbers.length).toBeGreaterThan(60);
  for (const { path, shape } of numbers) {
    const { min, max, above } = shape.kind === 'number' ? shape : { min: 0, max: 0, above: false };
    for (const value of [above === true ? min + 0.5 : min, max]) {
      // A window too small for its repetitions is no fault of the sweep of the window.
      const swept = sweepable({ detectors: {} }, path, value).config;
      const decoded = decodeConfig(swept);
      const problems = 'problems' in decoded ? decoded.problems.filter(({ kind }) => kind !== 'together') : [];
      expect([path, problems]).toEqual([path, []]);
    }
  }
});

function errorOf(name: string, value: number): unknown {
  try {
    return sweepable({}, name, value);
  } catch (error) {
    return error;
  }
}

test.each([
  ['blindWarnAt.zebra', 3, /^blindWarnAt\.zebra: there is no such number/],
  [
    'doomLoop.maxRepetitons',
    3,
    /^doomLoop\.maxRepetitons: there is no such number; did you mean doomLoop\.maxRepetitions\?$/,
  ],
  ['zebra', 3, /^zebra: there is no such number; coxswain config show lists the fields$/],
  ['mode', 3, /^mode: is not a number but one of steer, shadow$/],
  ['doomLoop.maxRepetitions', 1, /^guidance\.doomLoop\.maxRepetitions: must be a whole number from 2 to 32, got 1$/],
  ['doomLoop.maxRepetitions', Number.NaN, /must be a whole number/],
])('%s = %d is refused with what would do', (name, value, message) => {
  const error = errorOf(name, value);
  expect(error).toBeInstanceOf(CoxswainError);
  expect(error).toMatchObject({ code: 'invalid-argument', message: expect.stringMatching(message) });
});
