import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { definePrompt } from './define-prompt.ts';
import type { FeedbackProvider, FeedbackTrigger } from './feedback-provider.ts';
import type { GuidanceProvider } from './guidance-provider.ts';

const provider: FeedbackProvider = { name: 'Plain', shouldRun: () => true, provide: () => ({ summary: 'Hello.' }) };

test('a prompt is named ns/key and has the documented defaults', () => {
  const prompt = definePrompt({ ns: 'my-agent', key: 'main' });
  expect(prompt).toMatchObject({ name: 'my-agent/main', delivery: 'first', cadence: 'shared', params: [] });
  expect(prompt.render()).toEqual({ text: '', sections: [] });
  expect(Object.isFrozen(prompt)).toBe(true);
});

test('sections nest, headings deepen, and placeholders are filled in', () => {
  const prompt = definePrompt({
    ns: 'agent',
    key: 'main',
    sections: [
      {
        key: 'task',
        title: 'Task',
        text: 'Fix ${issue} in ${repo}.',
        sections: [{ key: 'style', title: 'Style', text: 'Small steps, attempt ${attempt}.' }],
      },
      { key: 'end', text: 'Say when done.' },
    ],
  });
  expect(prompt.params).toEqual(['issue', 'repo', 'attempt']);
  expect(prompt.render({ issue: '#7', repo: 'here', attempt: 2 })).toEqual({
    text: '## Task\n\nFix #7 in here.\n\n### Style\n\nSmall steps, attempt 2.\n\nSay when done.',
    sections: ['task', 'task/style', 'end'],
  });
});

test('$${ is a literal ${, and values are not parsed for placeholders', () => {
  const prompt = definePrompt({ ns: 'a', key: 'b', sections: [{ key: 's', text: 'echo $${HOME} ${what}' }] });
  expect(prompt.render({ what: '${HOME}' }).text).toBe('echo ${HOME} ${HOME}');
});

test('any value is rendered as it is', () => {
  const prompt = definePrompt({ ns: 'a', key: 'b', sections: [{ key: 's', text: '\n<${v}>${v}\n' }] });
  fc.assert(
    fc.property(fc.string(), (v) => {
      expect(prompt.render({ v }).text).toBe(`<${v}>${v}`);
    }),
  );
});

test('a disabled section hides its children, and its parameters are not required', () => {
  const prompt = definePrompt({
    ns: 'a',
    key: 'b',
    sections: [
      { key: 'off', text: '${missing}', enabled: () => false, sections: [{ key: 'below', text: 'below' }] },
      { key: 'on', text: 'on', enabled: ({ nowMs }) => nowMs === 5 },
    ],
  });
  expect(prompt.render({}, { context: { nowMs: 5 } })).toEqual({ text: 'on', sections: ['on'] });
});

test('guidance before rendering is visible to enabled(context) and appended last', () => {
  const prompt = definePrompt({
    ns: 'a',
    key: 'b',
    sections: [
      { key: 'plan', text: 'Use the plan.', enabled: ({ guidance }) => guidance.some(({ key }) => key === 'replan') },
      { key: 'end', text: 'End.' },
    ],
  });
  const guidance = [{ key: 'replan', content: 'Think again.' }];
  expect(prompt.render({}, { guidance }).text).toBe('Use the plan.\n\nEnd.\n\nThink again.');
  expect(prompt.render().sections).toEqual(['end']);
});

test('a missing parameter names its section and placeholder', () => {
  const prompt = definePrompt({ ns: 'a', key: 'b', sections: [{ key: 's', text: '${toString}' }] });
  expect(() => prompt.render()).toThrow(
    expect.objectContaining({ code: 'invalid-argument', details: { section: 's', placeholder: 'toString' } }),
  );
});

test('a parameter that no section knows is refused', () => {
  const prompt = definePrompt({ ns: 'a', key: 'b' });
  expect(() => prompt.render({ other: 1 })).toThrow(
    expect.objectContaining({ code: 'invalid-argument', details: { prompt: 'a/b', placeholder: 'other' } }),
  );
});

test('enabled(context) that throws is a typed error with its cause', () => {
  const cause = new Error('no');
  const enabled = (): boolean => {
    throw cause;
  };
  const prompt = definePrompt({ ns: 'a', key: 'b', sections: [{ key: 's', text: 'x', enabled }] });
  expect(() => prompt.render()).toThrow(expect.objectContaining({ code: 'invalid-argument', cause }));
});

test('a placeholder that params does not name is found when defined', () => {
  const sections = [{ key: 'top', text: '${known}', sections: [{ key: 's', text: '${unknown}' }] }];
  expect(() => definePrompt({ ns: 'a', key: 'b', params: ['known'], sections })).toThrow(
    expect.objectContaining({
      code: 'invalid-definition',
      details: { section: 'top/s', placeholder: 'unknown' },
    }),
  );
  expect(definePrompt({ ns: 'a', key: 'b', params: ['known', 'unknown', 'spare'], sections }).params).toEqual([
    'known',
    'unknown',
    'spare',
  ]);
});

test.each(['${', '${a b}', '${}', 'x ${1a}', '${a\n'])(
  'the malformed placeholder in %j is found when defined',
  (text) => {
    expect(() => definePrompt({ ns: 'a', key: 'b', sections: [{ key: 's', text }] })).toThrow(
      expect.objectContaining({ code: 'invalid-definition', details: expect.objectContaining({ section: 's' }) }),
    );
  },
);

test.each(['', 'Upper', '-x', 'a/b', 'x'.repeat(65)])('the key %j is refused everywhere', (key) => {
  const refused = expect.objectContaining({ code: 'invalid-definition' });
  expect(() => definePrompt({ ns: key, key: 'b' })).toThrow(refused);
  expect(() => definePrompt({ ns: 'a', key })).toThrow(refused);
  expect(() => definePrompt({ ns: 'a', key: 'b', sections: [{ key, text: '' }] })).toThrow(refused);
});

test('siblings of one key are refused, cousins are not', () => {
  const child = { key: 'x', text: '' };
  const twice = [child, child];
  expect(() => definePrompt({ ns: 'a', key: 'b', sections: twice })).toThrow(
    expect.objectContaining({ code: 'invalid-definition', details: { section: 'x' } }),
  );
  const cousins = [
    { key: 'p', text: '', sections: [child] },
    { key: 'q', text: '', sections: [child] },
  ];
  expect(definePrompt({ ns: 'a', key: 'b', sections: cousins }).render().sections).toEqual(['p', 'p/x', 'q', 'q/x']);
});

test.each<[string, FeedbackTrigger]>([
  ['-1 calls', { everyNCalls: -1 }],
  ['half a call', { everyNCalls: 1.5 }],
  ['more calls than are retained', { everyNCalls: 1_001 }],
  ['-1 seconds', { everyNSeconds: -1 }],
  ['no number of seconds', { everyNSeconds: Number.NaN }],
  ['an empty path', { onFileCreated: '' }],
])('a trigger of %s is found when defined', (_what, trigger) => {
  const observer = { name: 'Watch', shouldRun: () => true, observe: () => ({ summary: 'x' }) };
  const refused = expect.objectContaining({ code: 'invalid-definition' });
  expect(() => definePrompt({ ns: 'a', key: 'b', feedbackProviders: [{ provider, trigger }] })).toThrow(refused);
  expect(() => definePrompt({ ns: 'a', key: 'b', observers: [{ observer, trigger }] })).toThrow(refused);
});

test('a provider needs a unique printable name and a trigger', () => {
  const refused = expect.objectContaining({ code: 'invalid-definition' });
  const trigger = { everyNCalls: 1 };
  const define = (
    ...feedbackProviders: readonly { readonly provider: FeedbackProvider; readonly trigger?: FeedbackTrigger }[]
  ) => definePrompt({ ns: 'a', key: 'b', feedbackProviders });
  expect(() => define({ provider, trigger }, { provider, trigger })).toThrow(refused);
  expect(() => define({ provider })).toThrow(refused);
  expect(() => define({ provider: { ...provider, name: 'a]\n\nb' }, trigger })).toThrow(refused);
  expect(() => define({ provider: { ...provider, defaultTrigger: trigger } })).not.toThrow();
  expect(() => define({ provider, trigger: {} })).not.toThrow();
});

test('what is defined stays as it was checked', () => {
  const section = { key: 's', text: 'x', title: 'Before' };
  const config: { provider: FeedbackProvider; trigger: FeedbackTrigger } = { provider, trigger: { everyNCalls: 1 } };
  const prompt = definePrompt({ ns: 'a', key: 'b', sections: [section], feedbackProviders: [config] });
  section.title = 'After';
  config.trigger = { everyNCalls: -1 };
  expect(prompt.render().text).toBe('## Before\n\nx');
  expect(prompt.feedbackProviders[0]?.trigger).toEqual({ everyNCalls: 1 });
});

test.each<readonly [object, string, RegExp]>([
  [{ sectoins: [] }, 'invalid-argument', /^definePrompt has no member sectoins; did you mean sections\?$/],
  [
    { feedbackProviders: [{ trigger: {} }] },
    'invalid-argument',
    /^feedbackProviders\[0\]\.provider must be a provider/,
  ],
  [
    { feedbackProviders: [{ provider, trigger: { every_n_calls: 3 } }] },
    'invalid-argument',
    /^feedbackProviders\[0\]\.trigger has no member every_n_calls; did you mean everyNCalls\?$/,
  ],
  [
    { observers: [{ observer: provider, trigger: { everyNCalls: 1 } }] },
    'invalid-argument',
    /^observers\[0\]\.observer has no function observe/,
  ],
  [
    { feedbackProviders: [{ provider, trigger: { onSessionEvent: 'plan/done' } }] },
    'invalid-definition',
    /onSessionEvent must be an event type that defineEvent created, got "string"$/,
  ],
  [
    { guidanceProviders: [{ max_per_turn: 1 }] },
    'invalid-argument',
    /^guidanceProviders\[0\] has no member max_per_turn/,
  ],
  [{ guidanceProviders: [{ provider }] }, 'invalid-definition', /^a guidance provider's category must be/],
])('a configuration that would never do what it says is refused when defined: %j', (part, code, message) => {
  // JavaScript callers may pass anything.
  expect(() => definePrompt({ ns: 'a', key: 'b', ...part })).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
  );
});

test('a guidance configuration out of range is refused, as in a run', () => {
  const guidance: GuidanceProvider = {
    name: 'g',
    category: 'c',
    classify: () => ({ relevant: true, confidence: 1 }),
    provide: () => ({ key: 'k', content: 'c' }),
  };
  const define = (more: object): unknown =>
    definePrompt({ ns: 'a', key: 'b', guidanceProviders: [{ provider: guidance, ...more }] });
  for (const more of [{ maxPerTurn: 0 }, { minConfidence: 2 }, { decisionPoints: ['PRE_RENDER'] }]) {
    expect(() => define(more)).toThrow(expect.objectContaining({ code: 'invalid-definition' }));
  }
  expect(define({})).toMatchObject({ name: 'a/b' });
});
