import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { problemText, type ConfigProblem } from './config-problem.ts';
import { configShape } from './config-shape.ts';
import { FEEDBACK, GUIDANCE } from './providers.ts';
import { decodeConfig, readConfig, readConfigText, decodeShape } from './decode-config.ts';

function problemsOf(json: unknown): readonly ConfigProblem[] {
  const decoded = decodeConfig(json);
  return 'problems' in decoded ? decoded.problems : [];
}

function textsOf(json: unknown): readonly string[] {
  return problemsOf(json).map(problemText);
}

test('an empty configuration is valid', () => {
  expect(decodeConfig({})).toEqual({ config: {} });
});

test('a valid configuration is returned unchanged', () => {
  const config = {
    $schema: './node_modules/coxswain/schema/coxswain.config.schema.json',
    mode: 'shadow',
    deadline: { minutes: 20 },
    feedback: { pace: false, toolUsageMonitor: { maxCallsWithoutProgress: 15, trigger: { everyNCalls: 10 } } },
    guidance: {
      doomLoop: { maxRepetitions: 4, cooldownTurns: 2 },
      bank: [{ key: 'run-tests', content: 'Run the tests.', when: { allOf: [{ errorStreak: { threshold: 2 } }] } }],
    },
    detectors: { drift: false, stall: { maxCalls: 30 } },
    tools: { view_logs: { kind: 'read' } },
  };
  expect(decodeConfig(config)).toEqual({ config });
});

test('all problems are reported at once, each with the path of its field', () => {
  const problems = problemsOf({
    mode: 'loud',
    holdout: 2,
    guidance: { doomLoop: { maxRepetitions: 1 }, bank: [{ key: 'A b', content: '', when: {} }] },
    feedback: { static: [{ name: 'x', summary: 'y' }] },
    tools: { bash: { kind: 'shell' } },
  });
  expect(problems.map(({ path }) => path)).toEqual([
    'mode',
    'holdout',
    'guidance.doomLoop.maxRepetitions',
    'guidance.bank[0].key',
    'guidance.bank[0].content',
    'guidance.bank[0].when',
    'feedback.static[0]',
    'tools.bash.kind',
  ]);
});

test.each([
  [{ holdout: 2 }, 'holdout: must be a number from 0 to 1, got 2'],
  [{ standard: 'no' }, 'standard: must be true or false, got "no"'],
  [{ standard: 'false' }, 'standard: must be true or false, got "false"; did you mean false?'],
  [
    { detectors: { stall: { maxCalls: '20' } } },
    'detectors.stall.maxCalls: must be a whole number from 1 to 1000, got "20"; did you mean 20?',
  ],
  [{ mode: 'shaddow' }, 'mode: must be one of steer, shadow, got "shaddow"; did you mean "shadow"?'],
  [
    { deadline: 45 },
    expect.stringMatching(/^deadline: must be a duration such as 45m.*, or an object with hours.*got 45$/),
  ],
  [{ completion: { command: 'npm test' } }, expect.stringMatching(/did you mean \["npm", "test"\]\?$/)],
  [
    { feedback: { pattern: null } },
    expect.stringMatching(/^feedback\.pattern: must be true or false, or an object.*got null$/),
  ],
  [
    { feedback: { deadline: { trigger: {} } } },
    expect.stringMatching(/^feedback\.deadline\.trigger: is empty; give at least one of everyNCalls/),
  ],
  [
    { store: { address: 'a\u0000b' } },
    'store.address: must be a path, or postgres://USER@HOST/DATABASE, got a text of 3 characters',
  ],
])('%j is explained with what was found and what is allowed', (json, text) => {
  expect(textsOf(json)).toEqual([text]);
});

test.each([
  [{ guidence: {} }, '"guidance"'],
  [{ guidance: { doomloop: false } }, '"doomLoop"'],
  [{ guidance: { doomLoop: { maxRepetitons: 4 } } }, '"maxRepetitions"'],
  [{ detectors: { identicalCall: false } }, '"identical_call"'],
  [{ detectors: { ping_pong: false } }, '"cycle"'],
  [{ doomLoop: { maxRepetitions: 4 } }, '"guidance.doomLoop"'],
  [{ maxSize: '2GB' }, '"gc.maxSize"'],
])('a name that is not known is answered with the one that was meant: %j', (json, suggestion) => {
  expect(problemsOf(json)).toMatchObject([{ kind: 'unknown-field', suggestion }]);
});

test('an unknown name without a similar one lists all names', () => {
  expect(textsOf({ budget: { zebra: 1 } })).toEqual([
    'budget.zebra: there is no such field; there are calls, tokens, costUsd',
  ]);
});

test('problems contain no secrets', () => {
  const texts = textsOf({ redaction: { key: 'hunter2', allow: ['', 7] } });
  expect(texts.join()).not.toContain('hunter2');
  expect(texts[0]).toBe('redaction.key: must be a text of 16 characters or more, got a text of 7 characters');
});

test.each([
  [{ guidance: { doomLoop: { windowSize: 4, maxRepetitions: 6 } } }, 'guidance.doomLoop.maxRepetitions'],
  [{ guidance: { doomLoop: { maxRepetitions: 6 } } }, 'guidance.doomLoop.maxRepetitions'],
  [{ feedback: { static: [staticText('Pace')] } }, 'feedback.static[0].name'],
  [{ feedback: { static: [staticText('Mine'), staticText('Mine')] } }, 'feedback.static[1].name'],
  [
    { feedback: { static: [{ ...staticText('Long'), suggestions: ['x'.repeat(1000), 'y'.repeat(1000)] }] } },
    'feedback.static[0]',
  ],
  [{ guidance: { bank: [piece('doom_loop')] } }, 'guidance.bank[0].key'],
  [{ guidance: { bank: [piece('a'), piece('a')] } }, 'guidance.bank[1].key'],
  [
    { guidance: { bank: [{ ...piece('a'), when: { anyOf: [{ not: { doomLoop: { windowSize: 2 } } }] } }] } },
    'guidance.bank[0].when.anyOf[0].not.doomLoop.maxRepetitions',
  ],
  [{ redaction: { mode: 'structureOnly' } }, 'redaction.key'],
  [{ redaction: { rules: [{ name: 'jwt', pattern: 'a' }] } }, 'redaction.rules[0].name'],
  [{ completion: { timeout: '2h' } }, 'completion.timeout'],
])('values that do not fit each other are found: %j', (json, path) => {
  expect(problemsOf(json)).toMatchObject([{ kind: 'together', path }]);
});

test.each(Object.values(FEEDBACK).map(({ make }) => make().name))(
  'the name of a built-in provider is taken: %s',
  (name) => {
    const problem = { kind: 'together', path: 'feedback.static[0].name' };
    expect(problemsOf({ feedback: { static: [staticText(name)] } })).toMatchObject([problem]);
  },
);

test.each(Object.values(GUIDANCE).map(({ make }) => make().name))(
  'the name of built-in guidance is taken: %s',
  (name) => {
    const problem = { kind: 'together', path: 'guidance.bank[0].key' };
    expect(problemsOf({ guidance: { bank: [piece(name)] } })).toMatchObject([problem]);
  },
);

function staticText(name: string): object {
  return { name, summary: 'Hello.', trigger: { everyNCalls: 5 } };
}

function piece(key: string): object {
  return { key, content: 'Hello.', when: { errorStreak: true } };
}

test('a deeply nested situation is a problem, not an overflow', () => {
  let when: unknown = { errorStreak: true };
  for (let depth = 0; depth < 5_000; depth += 1) when = { not: when };
  const [problem] = problemsOf({ guidance: { bank: [{ key: 'a', content: 'b', when }] } });
  expect(problem?.message).toBe('is nested more than 8 deep');
});

test('at most a hundred problems are reported', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
  expect(problemsOf(many)).toHaveLength(100);
});

test('at most a hundred suggestions are computed, so that a hostile file costs no time', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`name${index}`, 1]));
  let suggestions = 0;
  const suggestName = (): undefined => {
    suggestions += 1;
    return undefined;
  };
  decodeShape({ ...many, tools: many }, configShape, { report: () => undefined, suggestName });
  expect(suggestions).toBe(100);
});

test('a field with a problem is ignored, and the rest applies', () => {
  const { config } = readConfig({
    mode: 'shadow',
    holdout: 2,
    unknown: 1,
    guidance: { doomLoop: { maxRepetitions: 99, windowSize: 7 } },
    redaction: { mode: 'structureOnly', key: 'sixteen characters', off: ['nothing'] },
  });
  expect(config).toEqual({
    mode: 'shadow',
    guidance: { doomLoop: { windowSize: 7 } },
    redaction: { mode: 'structureOnly', key: 'sixteen characters' },
  });
});

test('an indivisible object with a problem is ignored as a whole', () => {
  const { config } = readConfig({
    deadline: { hours: 1, minutes: -5 },
    store: { address: 'mysql://root@db/runs' },
    completion: { command: ['rm', 7, 'x'], files: ['a'] },
    guidance: {
      bank: [
        { key: 'a', content: 'b', when: { allOf: [{ errorStreak: true }, { doomLop: true }] } },
        { key: 'c', content: 'd', when: { errorStreak: true } },
      ],
    },
  });
  expect(config).toEqual({
    completion: { files: ['a'] },
    guidance: { bank: [{ key: 'c', content: 'd', when: { errorStreak: true } }] },
  });
});

test('names of built-in object members are ordinary names', () => {
  const { config, problems } = readConfigText(
    '{ "__proto__": { "mode": "shadow" }, "tools": { "__proto__": { "kind": "read" } } }',
  );
  expect(problems.map(({ path }) => path)).toEqual(['__proto__']);
  expect(config.mode).toBeUndefined();
  expect(Object.keys(config.tools ?? {})).toEqual(['__proto__']);
});

test('decoding never throws', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (value) => {
      expect(Object.keys(readConfig(value))).toEqual(['config', 'problems']);
    }),
  );
});
