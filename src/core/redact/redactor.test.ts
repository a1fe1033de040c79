import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../base/json.ts';
import { decodePayload } from '../records/decode-payload.ts';
import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { everyPayload } from '../../../test/support/every-payload.ts';
import { fakeSecrets } from '../../../test/support/fake-secrets.ts';
import { createRedactor, type RedactionOptions } from './redactor.ts';

const KEY = 'a key of the tests, long enough';
const MODES: readonly RedactionOptions[] = [{}, { mode: 'structureOnly', key: KEY }];

function resultOf(result: Json): TrajectoryPayload {
  return { kind: 'tool_ended', tool_call_id: 'call-1', tool_name: 'bash', result, is_error: false };
}

function redactResult(result: Json, options: RedactionOptions = {}): Json {
  const payload = createRedactor(options).redact(resultOf(result));
  return payload.kind === 'tool_ended' ? payload.result : null;
}

/** The secret, and how JSON in JSON in JSON would write it. */
function formsOf(secret: string): readonly string[] {
  const once = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(once).slice(1, -1);
  return [secret, once, twice, JSON.stringify(twice).slice(1, -1)];
}

/** Long enough that no part of a placeholder or of the text around is one by chance. */
function traces(secret: string): readonly string[] {
  const lines = secret.split(/\n|\\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return lines.length > 1 ? lines : formsOf(secret);
}

test.each(MODES)('no planted secret survives in any field of any record (%j)', (options) => {
  const redactor = createRedactor(options);
  const survivors: string[] = [];
  for (const { kind, secret, text } of fakeSecrets()) {
    const once = JSON.stringify({ output: text });
    for (const form of [text, once, JSON.stringify({ body: once })]) {
      for (const payload of everyPayload(form)) {
        const stored = JSON.stringify(redactor.redact(payload));
        if (traces(secret).some((trace) => stored.includes(trace))) survivors.push(`${kind} in ${payload.kind}`);
      }
    }
  }
  expect(fakeSecrets().length).toBeGreaterThan(40);
  expect([...new Set(survivors)]).toEqual([]);
});

test.each(MODES)('every redacted payload can be read back, and redacting it again changes nothing (%j)', (options) => {
  const redactor = createRedactor(options);
  for (const { text } of [...fakeSecrets(), { text: 'nothing to hide' }]) {
    for (const payload of everyPayload(text)) {
      const once = redactor.redact(payload);
      const stored: unknown = JSON.parse(JSON.stringify(once));
      const read = decodePayload(stored);
      expect(read.kind === 'unrecognised' ? once : read).toEqual(stored);
      expect(redactor.redact(once)).toEqual(once);
    }
  }
});

/** Pieces that names, separators, quotations and secrets are made of, in any order. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'token',
        'password',
        'API_KEY',
        'Authorization',
        'cookie',
        'set-cookie',
        'bearer ',
        'Basic ',
        'sig',
      ),
      fc.constantFrom(
        '=',
        ':',
        ' ',
        ': ',
        '"',
        '\\"',
        "'",
        '\n',
        '\\n',
        ',',
        ';',
        '-',
        '--',
        '://',
        '@',
        '[',
        ']',
        '$',
      ),
      fc.constantFrom('-----BEGIN PRIVATE KEY-----', '[REDACTED:named-secret]', '[REDACTED:', 'eyJ', '.', '_', 'sk-'),
      fc.constantFrom(...fakeSecrets().map(({ secret }) => secret)),
      fc.stringMatching(/^[a-z0-9A-Z]{1,24}$/),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''));

test('redaction of any text is the same the second time', () => {
  fc.assert(
    fc.property(pieces, (text) => {
      const once = redactResult(text);
      expect(redactResult(once)).toEqual(once);
    }),
    { numRuns: 5_000 },
  );
});

test('a payload in memory and one read from disk are redacted alike', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('password', 'text', 'name', 'value'), fc.oneof(pieces, fc.jsonValue())),
      (value) => {
        const payload = resultOf(JSON.parse(JSON.stringify(value)) as Json);
        for (const options of MODES) {
          const redactor = createRedactor(options);
          const read = JSON.parse(JSON.stringify(payload)) as TrajectoryPayload;
          expect(redactor.redact(read)).toEqual(JSON.parse(JSON.stringify(redactor.redact(payload))));
        }
      },
    ),
  );
});

test('what holds no secret comes back as the same object', () => {
  const redactor = createRedactor();
  for (const payload of everyPayload('an ordinary sentence, 12 words: see src/a.ts line 4')) {
    expect(redactor.redact(payload)).toBe(payload);
  }
});

test('a member with a telling name loses its value, whatever the value looks like, and keeps its name', () => {
  expect(
    redactResult({
      password: 'correct horse',
      apiKey: 'plain',
      secrets: ['one', 'two'],
      max_tokens: 4_096,
      token: 'Unexpected token in JSON',
      nextPageToken: 'b2Zmc2V0',
      env: [{ name: 'DB_PASSWORD', value: 'horse' }],
      headers: { 'set-cookie': 'sid=abcdef; Path=/', authorization: 'Bearer horse' },
      other: null,
    }),
  ).toEqual({
    password: '[REDACTED:named-secret]',
    apiKey: '[REDACTED:named-secret]',
    secrets: ['[REDACTED:named-secret]', '[REDACTED:named-secret]'],
    max_tokens: 4_096,
    token: 'Unexpected token in JSON',
    nextPageToken: 'b2Zmc2V0',
    env: [{ name: 'DB_PASSWORD', value: '[REDACTED:named-secret]' }],
    headers: { 'set-cookie': 'sid=[REDACTED:cookie]; Path=/', authorization: 'Bearer [REDACTED:bearer-token]' },
    other: null,
  });
});

test('a secret reads the same wherever it stands', () => {
  const secret = fakeSecrets().find(({ kind }) => kind === 'GitHub ghp')?.secret ?? '';
  for (const text of [secret, `TOKEN=${secret}`, `{"token":"${secret}"}`, `Authorization: Bearer ${secret}`]) {
    expect(redactResult(text)).toBe(text.replace(secret, '[REDACTED:github-token]'));
  }
  expect(redactResult({ token: secret })).toEqual({ token: '[REDACTED:github-token]' });
});

test('a rule can be off, and a secret allowed', () => {
  const secret = fakeSecrets().find(({ kind }) => kind === 'Stripe live')?.secret ?? '';
  expect(redactResult(`see ${secret}`, { off: ['stripe-key'] })).toBe(`see ${secret}`);
  expect(redactResult(`password=hunter2 ${secret}`, { off: ['named-secret'] })).toBe(
    'password=hunter2 [REDACTED:stripe-key]',
  );
  expect(redactResult(`see ${secret}`, { allow: [secret] })).toBe(`see ${secret}`);
  expect(redactResult('password=example-1', { allow: [/^example-/g] })).toBe('password=example-1');
  expect(() => createRedactor({ off: ['no-such-rule'] })).toThrow(
    expect.objectContaining({ code: 'invalid-argument' }),
  );
});

test('rules of a user apply after the built-in ones and never to a placeholder', () => {
  const options: RedactionOptions = {
    rules: [
      { name: 'ticket', pattern: /CASE-\d+/ },
      { name: 'letters', find: (text) => (text.startsWith('REDACTED') ? [{ start: 0, end: text.length }] : []) },
    ],
  };
  expect(redactResult('CASE-12 and CASE-13, password=hunter2', options)).toBe(
    '[REDACTED:ticket] and [REDACTED:ticket], password=[REDACTED:named-secret]',
  );
});

test('a rule that fails takes the whole text and is reported', () => {
  const faults: string[] = [];
  const redactor = createRedactor(
    {
      rules: [
        {
          name: 'broken',
          find: (text) => {
            if (text === 'anything') throw new Error('no dictionary');
            return [];
          },
        },
      ],
    },
    { onFault: (rule, message) => faults.push(`${rule}: ${message}`) },
  );
  expect(redactor.redact(resultOf('anything'))).toEqual(resultOf('[REDACTED:rule-failed]'));
  expect(faults).toContain('broken: no dictionary');
  const beyond = { name: 'beyond', find: () => [{ start: 2, end: 99 }] };
  expect(redactResult('abc', { rules: [beyond] })).toBe('[REDACTED:rule-failed]');
});

test('a rule that is not one is refused', () => {
  for (const rules of [[{ name: 'No' }], [{ name: 'jwt', pattern: /a/ }], [{ name: 'none' }]]) {
    expect(() => createRedactor({ rules })).toThrow(expect.objectContaining({ code: 'invalid-definition' }));
  }
});

test('ids stay apart when a secret is taken out of them', () => {
  const redactor = createRedactor();
  const [one, other] = fakeSecrets().map(({ secret }) =>
    redactor.redact({ kind: 'tool_started', tool_call_id: `id ${secret}`, tool_name: 'bash', args: {} }),
  );
  expect(one).not.toEqual(other);
});

test('structureOnly keeps shapes and sizes, equal contents equal, and nothing else of the content', () => {
  const options: RedactionOptions = { mode: 'structureOnly', key: KEY };
  const shape = redactResult(
    { a: 'same text', b: ['same text', 'other'], ok: true, none: null, n: 5, m: 5, empty: '' },
    options,
  );
  expect(shape).toEqual({
    a: expect.stringMatching(/^text_9_[a-z]{16}$/),
    b: [(shape as { a: string }).a, expect.stringMatching(/^text_5_[a-z]{16}$/)],
    ok: true,
    none: null,
    n: expect.stringMatching(/^number_[a-z]{16}$/),
    m: (shape as { n: string }).n,
    empty: '',
  });
  expect(JSON.stringify(shape)).not.toMatch(/same|other/);
  expect(redactResult('same text', options)).not.toBe(redactResult('same text', { ...options, key: `${KEY}!` }));
  expect(redactResult({ 'alice@example.com': 1 }, options)).toEqual({
    [String(Object.keys(redactResult({ 'alice@example.com': 1 }, options) as object)[0])]: expect.any(String),
  });
  expect(JSON.stringify(redactResult({ 'alice@example.com': 1 }, options))).not.toContain('alice');
});

test('structureOnly asks for a key', () => {
  expect(() => createRedactor({ mode: 'structureOnly' })).toThrow(
    expect.objectContaining({ code: 'invalid-argument' }),
  );
});

test('a value that holds itself, or is nested without end, does not throw', () => {
  const round: Record<string, unknown> = { password: 'hunter2' };
  round['self'] = round;
  // An untyped host may pass values that are not JSON.
  const original = { kind: 'strange', round } as unknown as { readonly [key: string]: Json };
  for (const options of MODES) {
    expect(() => createRedactor(options).redact({ kind: 'unrecognised', original })).not.toThrow();
  }
});

test('the text of an unknown payload stays as long as nothing of it is redacted, and goes when something is', () => {
  const redactor = createRedactor();
  const parsed = (text: string): TrajectoryPayload => {
    return parseRecord(`{"seq":0,"recorded_at_unix_ms":1,"payload":${text}}`).payload;
  };
  const harmless = parsed('{ "kind":"new", "n":1.0, "at":"\\u0041:b" }');
  expect(harmless).toHaveProperty('text');
  expect(redactor.redact(harmless)).toBe(harmless);
  const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  const redacted = redactor.redact(parsed(`{ "kind":"new", "n":1.0, "said":"${secret}" }`));
  expect(redacted).not.toHaveProperty('text');
  expect(JSON.stringify(redacted)).not.toContain(secret);
  // The first of two members of one name shows in the text alone.
  const hidden = redactor.redact(parsed(`{"kind":"new","said":"${secret}","said":"nothing"}`));
  expect(hidden).toEqual({ kind: 'unrecognised', original: { kind: 'new', said: 'nothing' } });
});

test.each([
  'printenv DB_PASSWORD',
  'echo "$API_TOKEN"',
  'gh auth token',
  'cat ~/.config/acme/token',
  'op read op://dev/db/password',
])('a value that %j prints alone is a secret', (command) => {
  const redactor = createRedactor();
  const call = { tool_call_id: 'call-1', tool_name: 'bash' };
  redactor.redact({ kind: 'tool_started', ...call, args: { command } });
  const ended = (result: Json): TrajectoryPayload =>
    redactor.redact({ kind: 'tool_ended', ...call, result, is_error: false });
  expect(ended({ stdout: 'horse7battery\n', stderr: '' })).toMatchObject({
    result: { stdout: '[REDACTED:named-secret]\n' },
  });
  expect(ended('horse7battery')).toMatchObject({ result: 'horse7battery' });
});

test('what a command prints that names no secret stays', () => {
  const redactor = createRedactor();
  const call = { tool_call_id: 'call-1', tool_name: 'bash' };
  redactor.redact({ kind: 'tool_started', ...call, args: { command: 'echo $HOME; cat tokenizer.ts' } });
  expect(redactor.redact({ kind: 'tool_ended', ...call, result: '/home/user', is_error: false })).toMatchObject({
    result: '/home/user',
  });
});

/** Commands with a secret, whatever form says them. */
const COMMANDS: readonly (readonly [secret: string, ...argv: string[]])[] = [
  ['hunter2x', 'curl', '-u', 'bob:hunter2x', 'https://api.example'],
  ['password', 'curl', '-u', 'bob:password', 'https://api.example'],
  ['pa ss,wo)rd', 'curl', '--user', 'bob:pa ss,wo)rd', 'https://api.example'],
  ['SECRET', 'mysql', '-u', 'root', '-pSECRET', 'db'],
  ['horse', '/usr/bin/mysqldump', '-phorse', 'db'],
  ['hunter22', 'sshpass', '-p', 'hunter22', 'ssh', 'host'],
  ['hunter22', 'docker', 'login', '-u', 'bob', '-p', 'hunter22', 'registry.example'],
  ['hunter22', 'redis-cli', '-h', 'host', '-a', 'hunter22', 'ping'],
  ['hunter22', 'ldapsearch', '-w', 'hunter22'],
  ['hunter22', 'openssl', 'enc', '-k', 'hunter22'],
  ['hunter22', 'openssl', 'rsa', '-passin', 'pass:hunter22'],
  ['hunter22', 'keytool', '-storepass', 'hunter22'],
  ['hunter22', 'tool', '--password', 'hunter22', '--verbose'],
];

test.each(COMMANDS)('the secret %j is found in every form of its command: %s', (secret, ...argv) => {
  const [command = '', ...args] = argv;
  const list = JSON.stringify(argv);
  const forms: readonly Json[] = [
    argv.map((word) => (/[ ,]/.test(word) ? `"${word}"` : word)).join(' '),
    argv,
    { command: argv },
    { command, args },
    { cmd: ['env', 'CI=1', ...argv] },
    list,
    `subprocess.run(${list.replaceAll('"', "'").replaceAll("','", "', '")}, check=True)`,
    JSON.stringify({ body: JSON.stringify(argv, undefined, 2) }),
  ];
  for (const form of forms) {
    const redacted = redactResult(form);
    expect(JSON.stringify(redacted)).toContain('[REDACTED:');
    expect(JSON.stringify(redacted)).not.toContain(secret);
    expect(redactResult(redacted)).toEqual(redacted);
  }
  expect((redactResult(argv) as readonly string[]).length).toBe(argv.length);
});

test('an option names the next item of a list exactly', () => {
  expect(redactResult(['gh', '--token', 'abc', '--api-key', 'some words', '-x'])).toEqual([
    'gh',
    '--token',
    '[REDACTED:named-secret]',
    '--api-key',
    'some words',
    '-x',
  ]);
  const harmless = [
    ['mysql', '-u', 'root', '-p', 'db'],
    ['gh', '--token', '$TOKEN', '--max-tokens', '4096'],
    ['--password', '--verbose'],
    ['cp', '-p', 'source.txt', 'target.txt'],
    ['grep', '-rn', 'password', 'src'],
    ['curl', '-u', 'bob', 'https://api.example:8443/path'],
    ['docker', 'run', '-p', '8080:80', 'image'],
  ];
  for (const argv of harmless) expect(redactResult(argv)).toEqual(argv);
});

test.each([['printenv DEPLOY_TOKEN'], ['printenv', 'DEPLOY_TOKEN'], ['bash', '-lc', 'echo $DEPLOY_TOKEN']])(
  'what a command as a list prints is a secret: %j %j',
  (...command) => {
    const redactor = createRedactor();
    redactor.redact({ kind: 'tool_started', tool_call_id: 'call-1', tool_name: 'bash', args: { command } });
    expect(redactor.redact(resultOf('horsebattery\n'))).toMatchObject({ result: '[REDACTED:named-secret]\n' });
  },
);
