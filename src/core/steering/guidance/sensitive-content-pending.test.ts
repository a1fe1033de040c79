import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { costGrowth, MOST_LINEAR_GROWTH } from '../../../../test/support/cost-growth.ts';
import type { Json } from '../../base/json.ts';
import type { ClassificationResult } from '../../records/spoken-advice.ts';
import { guidanceContext } from '../../../../test/support/guidance-script.ts';
import { sensitiveContentPending } from './classifier.ts';

const classify = (args: Json, toolName = 'write_file'): ClassificationResult =>
  sensitiveContentPending().classify(guidanceContext({ pendingToolCalls: [{ toolCallId: 'c', toolName, args }] }));

// Built from pieces, so that no scanner reports this file as a leak.
const joined = (...pieces: readonly string[]): string => pieces.join('');
const SECRETS: readonly (readonly [string, string])[] = [
  ['a private key', joined('-----BEGIN RSA ', 'PRIVATE KEY-----')],
  ['a cloud access key', joined('AKIA', 'ABCDEFGH12345678')],
  ['a service token', joined('ghp_', 'a1'.repeat(18))],
  ['a model API key', joined('sk-', 'proj-abc123def456ghi789')],
  ['a signed token', joined('eyJ', 'hbGciOiJIUzI1.eyJ', 'zdWIiOiIxMjM0.abcdefghijkl')],
  ['a password in a URL', joined('postgres://admin:', 'hunter22', '@db/main')],
  ['a secret in an assignment', joined('export API_KEY=', 'a8f3k2l9x0')],
];

test.each(SECRETS)('%s in a pending call is found anywhere in the arguments and never echoed', (what, secret) => {
  for (const args of [{ content: `x ${secret} y` }, { edits: [{ text: secret }] }, secret]) {
    const result = classify(args);
    expect(result.relevant).toBe(true);
    expect(result.confidence).toBeGreaterThanOrEqual(0.8);
    expect(result.reason).toBe(`a pending call holds what looks like ${what}`);
    expect(JSON.stringify(result)).not.toContain(secret);
  }
});

test('a member named for a secret is one, a reference to a secret is not', () => {
  expect(classify({ user: 'me', password: 'correct-horse' })).toMatchObject({ relevant: true, confidence: 0.85 });
  expect(classify({ password: '$DB_PASSWORD' }).relevant).toBe(false);
  expect(classify({ password: '' }).relevant).toBe(false);
});

test('ordinary arguments are not secrets', () => {
  const ordinary: readonly Json[] = [
    { path: 'src/token.ts', content: 'const token = readToken(); // the secret of good code' },
    { command: 'git log --oneline | head -20' },
    { url: 'https://example.org:8080/a@b' },
    { text: 'password: see the vault' },
    null,
  ];
  for (const args of ordinary) expect(classify(args)).toEqual({ relevant: false, confidence: 0 });
});

test('the reason contains neither the tool nor the secret', () => {
  const { reason } = classify({ password: 'correct-horse' }, 'a`<b>\n\u202Ec');
  expect(reason).toBe('a pending call holds what looks like a secret in a member named for one');
});

test('without pending calls it is not relevant', () => {
  expect(sensitiveContentPending().classify(guidanceContext())).toEqual({ relevant: false, confidence: 0 });
});

test('the search ends soon on hostile arguments: long near-misses and deep nesting', () => {
  const pieces = ['eyJ-', 'eyJaaaaaaaaaaaa.', '://a:', 'password=', 'secret"" == ', '-----BEGIN A ', 'sk-', 'xoxb-'];
  const deep = Array.from({ length: 200 }).reduce<Json>((inner) => ({ inner }), 'x');
  for (const piece of pieces) {
    const growth = costGrowth((factor) => {
      const text = piece.repeat(Math.ceil((32_000 * factor) / piece.length));
      classify({ text, more: [text, text], deep });
    });
    expect([piece, growth < MOST_LINEAR_GROWTH]).toEqual([piece, true]);
  }
});

test('any JSON is taken without a throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (args) => {
      // `jsonValue` generates JSON, which its type does not express.
      expect(classify(args as Json).confidence).toBeGreaterThanOrEqual(0);
    }),
  );
});
