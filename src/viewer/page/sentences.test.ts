import { expect, test } from 'vitest';
import type { ToldPayload } from './sentences.ts';
import { sentenceOf } from './sentences.ts';

test('an event without its own sentence shows its kind and fields', () => {
  // A kind of a later version has no sentence yet.
  const payload = { kind: 'deploy_finished', environment: 'staging', duration_ms: 1200 } as unknown as ToldPayload;
  expect(sentenceOf(payload)).toEqual(['Deploy finished', 'environment staging · duration ms 1200']);
});
