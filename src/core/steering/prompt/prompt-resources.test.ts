import { expect, test } from 'vitest';
import { createPromptResources, defineResource, Filesystem } from './prompt-resources.ts';

const Region = defineResource<string>('region');

test('a bound resource is read back by its token', () => {
  const resources = createPromptResources([Region('north'), Filesystem({ exists: (path) => path === 'a.txt' })]);
  expect(resources.get(Region)).toBe('north');
  expect(resources.getOptional(Filesystem)?.exists('a.txt')).toBe(true);
});

test('a resource that is not bound is undefined when optional and a typed error when not', () => {
  const resources = createPromptResources([]);
  expect(resources.getOptional(Filesystem)).toBeUndefined();
  expect(() => resources.get(Region)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', details: { resource: 'region' } }),
  );
});

test('another token of the same name is another resource', () => {
  const resources = createPromptResources([Region('north')]);
  expect(resources.getOptional(defineResource<string>('region'))).toBeUndefined();
});

test('a resource bound twice is refused', () => {
  expect(() => createPromptResources([Region('north'), Region('south')])).toThrow(
    expect.objectContaining({ code: 'invalid-definition' }),
  );
});
