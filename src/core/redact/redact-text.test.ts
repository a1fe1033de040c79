import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cpuMs } from '../../../test/support/cost-growth.ts';
import { fillRecipe, seededBelow } from '../../../test/support/secret-recipe.ts';
import { redactText } from './redact-text.ts';
import { SECRET_RULES } from './secret-rules.ts';

const ALL = { off: new Set<string>(), allows: (): boolean => false, named: true };
const redact = (text: string): string => redactText(text, ALL);
const named = '[REDACTED:named-secret]';

test.each([
  ['TOKEN=abc123def456', `TOKEN=${named}`],
  ['export DB_PASSWORD=p@ss,word;1 # x', `export DB_PASSWORD=${named} # x`],
  [String.raw`A=1\nDB_PASSWORD=horse\nB=2`, String.raw`A=1\nDB_PASSWORD=${named}\nB=2`],
  ['password: hunter2', `password: ${named}`],
  ['  password: horse\n  user: a', `  password: ${named}\n  user: a`],
  [`{'api-key' => 'horse7'}`, `{'api-key' => '${named}'}`],
  [String.raw`{\"password\":\"a \\\" b\",\"n\":1}`, String.raw`{\"password\":\"${named}\",\"n\":1}`],
  ['x-api-key: 1234abcd5678', `x-api-key: ${named}`],
  ['AccountName=x;AccountKey=abcd1234+/==;Suffix=y', `AccountName=x;AccountKey=${named};Suffix=y`],
  ['mysql --password hunter2x -u root', `mysql --password ${named} -u root`],
  ['Authorization: Digest username="a", response="b"', 'Authorization: Digest [REDACTED:bearer-token]'],
  ['curl -H "Authorization: token horse" url', 'curl -H "Authorization: token [REDACTED:bearer-token]" url'],
  ['redis://:horse@cache:6379', 'redis://:[REDACTED:url-credentials]@cache:6379'],
  ['Cookie: a=b; c=d\nAccept: x', 'Cookie: [REDACTED:cookie]\nAccept: x'],
  ['mysql -u root -pS3cret db', `mysql -u root -p${named} db`],
  ["sshpass -p 'S3cret' ssh host", `sshpass -p '${named}' ssh host`],
  ['redis-cli -h cache -a S3cret ping', `redis-cli -h cache -a ${named} ping`],
  ['ansible_become_pass: S3cret9x', `ansible_become_pass: ${named}`],
  [
    String.raw`"{\"auths\":{\"ghcr.io\":{\"auth\":\"dXNlcjpodW50ZXIy\"}}}"`,
    String.raw`"{\"auths\":{\"ghcr.io\":{\"auth\":\"[REDACTED:basic-auth]\"}}}"`,
  ],
  ['//npm.example/:_auth=dXNlcjpodW50ZXIy', '//npm.example/:_auth=[REDACTED:basic-auth]'],
  [
    `see ghs_1234567_eyJ${'h7b-'.repeat(9)}.eyJ${'aB3_'.repeat(9)}.${'aB3-'.repeat(9)} x`,
    'see [REDACTED:github-token] x',
  ],
  ['<password>S3cret</password>', `<password>${named}</password>`],
  ['PGPASSWORD=topsecret99 psql', `PGPASSWORD=${named} psql`],
  ['mysqldump --password=swordfish db', `mysqldump --password=${named} db`],
  ['GET /cb?token=swordfish&x=1', `GET /cb?token=${named}&x=1`],
  ['name  value\nDB_PASSWORD   Horse2xyz9   Production', `name  value\nDB_PASSWORD   ${named}   Production`],
  ['aws configure set aws_secret_access_key Horse2xyz9', `aws configure set aws_secret_access_key ${named}`],
  [
    'aws ssm put-parameter --type SecureString --value horse',
    `aws ssm put-parameter --type SecureString --value ${named}`,
  ],
  ['gh secret set NPM --body horse', `gh secret set NPM --body ${named}`],
  ["Set-Item env:API_TOKEN 'horse'", `Set-Item env:API_TOKEN '${named}'`],
  ['Set-Item -Path Env:DB_PASSWORD -Value horse', `Set-Item -Path Env:DB_PASSWORD -Value ${named}`],
  [`token: ghp_${'aB3'.repeat(8)}\n  ${'aB3'.repeat(4)}\nnext`, 'token: [REDACTED:named-secret]\nnext'],
  ['<string name="api_key">S3cret</string>', `<string name="api_key">${named}</string>`],
  ['<add key="ApiKey" value="S3cret"/>', `<add key="ApiKey" value="${named}"/>`],
  ['{"Key":"DB_PASSWORD","Value":"S3cret"}', `{"Key":"DB_PASSWORD","Value":"${named}"}`],
  ['{"password":{"value":"S3cret"}}', `{"password":{"value":"${named}"}}`],
  ['passwords: ["S3cret", "0ther"]', `passwords: ["${named}"]`],
  ['os.Setenv("API_KEY", "S3cret")', `os.Setenv("API_KEY", "${named}")`],
  ['| password | S3cret |', `| password | ${named} |`],
  ['DB_PASSWORD=$ecret1!', `DB_PASSWORD=${named}`],
  ['password: "<S3cret"', `password: "${named}"`],
  ['password: "%S3cret"', `password: "${named}"`],
  ['password: "{S3cret"', `password: "${named}"`],
  ['   12\u2192password: horse\n', `   12\u2192password: ${named}\n`],
  [
    '\u001B[32mpassword\u001B[0m: \u001B[31mS3cret\u001B[0m',
    `\u001B[32mpassword\u001B[0m: \u001B[31m${named}\u001B[0m`,
  ],
  ['password%3DS3cret%26a%3Db', `password%3D${named}%26a%3Db`],
  ['&quot;password&quot;: &quot;S3cret&quot;', `&quot;password&quot;: &quot;${named}&quot;`],
  [`echo ${Buffer.from('DB_PASSWORD=S3cret and more').toString('base64')} x`, `echo ${named} x`],
  [`echo ${Buffer.from('DB_PASSWORD=S3cret and more').toString('hex')} x`, `echo ${named} x`],
])('%j loses its secret and nothing else', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  'the machine learning login and password pages; "auth": "required"; set -x\nAPI_KEY is missing',
  'token = lexer.next()',
  'password: string;',
  'const password = process.env.DB_PASSWORD;',
  'login(user, password=password)',
  'max_tokens=100, next_token: abc123456789, PRIMARY_KEY=user_id1',
  'API_KEY=$API_KEY PASSWORD=${PASS} secret: <your secret> token=***',
  'print("Enter password: ");',
  'the authorization: required, see Basic authentication and Bearer tokens',
  'PWD=/home/user/project OLDPWD=/tmp',
  '--- PASS: TestReader_reads_12 (0.00s)',
  '{"pass": 1200, "fail": 0, "pass": "12", "tokens": 411}',
  '# pass 12\n# fail 0\npass: 1200\nPASS=12',
  'ownerPrivateKey: Uint8Array, token: Buffer, credentials: "same-origin"',
  'mkdir -p src/a1 && cp -p a1 b1 && grep -a token1 x',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  'id 123e4567-e89b-12d3-a456-426614174000',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
  'see https://example.com/a:b@c and git@github.com:me/repo.git',
  'sk-learn-something-with-many-words, task-abcdefghijklmnopqrstuvwxyz1234',
  '"integrity": "sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYg=="',
  '-----BEGIN PRIVATE KEY----- is how such a file begins',
  '-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----',
])('%j stays as it is', (text) => {
  expect(redact(text)).toBe(text);
});

/** The keyword and what follows it; with `@` the keyword stands there. */
function textsOf(keyword: string, recipes: readonly string[]): readonly string[] {
  const fill = (recipe: string): string => fillRecipe(recipe, seededBelow(keyword.length * 7_919 + recipe.length));
  return recipes.map((recipe) => {
    const [before, ...after] = recipe.split('@');
    const stands = keyword === '.' || /[@]/.test(recipe.replace(/@host|@[a-z]+[.:]|<uuid>@|<w4>@</g, ''));
    return stands ? fill(before ?? '') + keyword + fill(after.join('@')) : keyword + fill(recipe);
  });
}

test('each rule finds its examples with each of its keywords, and not what only begins like them', () => {
  const faults: string[] = [];
  for (const { id, keywords, matches, misses } of SECRET_RULES) {
    for (const keyword of keywords) {
      for (const text of textsOf(keyword, matches)) {
        const found = redact(`see ${text} here`);
        if (!found.includes('[REDACTED:') || !/\[REDACTED:[a-z0-9-]+\]\S{0,24} here$/.test(found))
          faults.push(`${id}: ${text} gives ${found}`);
      }
      for (const text of textsOf(keyword, misses)) {
        if (redact(`see ${text} here`).includes(`[REDACTED:${id}]`)) faults.push(`${id} takes ${text}`);
      }
    }
  }
  expect(faults).toEqual([]);
});

test('a private key is found with its line breaks as they are, escaped, and become blanks', () => {
  const lines = [
    'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-128-CBC,0A1B',
    '',
    'aB3d'.repeat(16),
    'aB3d'.repeat(16),
    'aB3=',
  ];
  const label = ['RSA', 'PRIVATE', 'KEY'].join(' ');
  for (const joint of ['\n', String.raw`\n`, String.raw`\\n`, ' ', '\r\n', '",\n"']) {
    const key = [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join(joint);
    expect(redact(`a ${key} b`)).toBe('a [REDACTED:private-key] b');
    expect(redact(`a ${key.slice(0, key.indexOf('aB3=') - 9)}`)).toBe('a [REDACTED:private-key]');
  }
});

test('a token is found after an escaped line break, a colour and a percent escape', () => {
  const token = `hf_${'aB3'.repeat(12)}`;
  for (const before of [String.raw`x\n`, '\u001B[31m', 'a%3D', String.raw`\u0022`]) {
    expect(redact(before + token)).toBe(`${before}[REDACTED:hugging-face-token]`);
  }
});

/** Text that makes each rule begin again and again. */
const HOSTILE: readonly string[] = [
  SECRET_RULES.map(({ keywords }) => keywords[0] ?? ''),
  ['-----BEGIN PRIVATE KEY-----', '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: ', 'PuTTY-User-Key-File-3: x\n', '---'],
  ['eyJ', '.eyJ', 'eyJa.eyJ', 'a.eyJ', 'Ma.', 'a.aaaaaa.', '.atlasv1.', 'AKIA', 'AIza', 'SKa', 'dapi', 'aNRAL', 'a1Q~'],
  [
    'token=',
    'token=a',
    'token=$a',
    'token: a',
    'token="',
    String.raw`password=\"`,
    `token='a b`,
    '"token":"a b',
    'X_KEY=a ',
  ],
  ['Authorization: ', 'authorization: a ', 'authorization: bearer $', 'cookie: a', 'cookie: a=', 'set-cookie: a=b'],
  ['://', '://a:', '://a:b', '://a:$', 'bearer ', 'Bearer a', 'basic aaaa', 'Basic aaaaaaaaa"', '12345678:', 'ACa:'],
  ['hooks.slack.com/services/', '.com/api/webhooks/12345/', '-u a:', '-u a:$', ' --password ', '--token a '],
  [
    '[REDACTED:',
    '[REDACTED:x]',
    '\\',
    '"',
    String.raw`\"`,
    '_',
    '.',
    ' ',
    'token] ] ]',
    String.raw`secret\ `,
    'a.b-c_d:e=f',
  ],
  ['%41', '%25', '%3D', '&quot;', String.raw`\u0022`, '\u001B[', '\u001B[31m', String.raw`\u001b[`],
  [
    'name: token',
    '"name":"token",',
    '{"key":"password",',
    'password: {',
    'password: [',
    "password: ['a', ",
    'password:\n ',
  ],
  ['| token | ', '("password", "', 'password("', '</', 'password</td><td>', '<password ', 'password>', '<a '],
  [' -p', 'mysql -p ', 'redis-cli -a', "password '", '-----BEGIN PRIVATE KEY-----\n12:', `${'a'.repeat(19)} `],
  ['eyJaaaaaaaaaaaa', 'dGVzdCB0ZXN0IHRlc3QgdGVzdCB0ZXN0IA', '4142434445464748', 'token=$a->', `pat${'a'.repeat(14)}.`],
].flat();

test('the time to redact grows with the length of a text, whatever the text', () => {
  const slow: string[] = [];
  const timeOf = (unit: string, chars: number): number => {
    const text = unit.repeat(Math.ceil(chars / unit.length));
    return cpuMs(() => void redact(text));
  };
  for (const unit of HOSTILE) {
    const few = 6_000;
    // Of a time that is quadratic and 100 ms at sixteen times the text, a sixteenth is seen at four times.
    if (timeOf(unit, few * 4) < 6 || timeOf(unit, few * 4) < 6) continue;
    let long = timeOf(unit, few * 16);
    // A time of 0 has no ratio.
    if (long < 100) continue;
    const short = Math.max(2, Math.min(timeOf(unit, few), timeOf(unit, few), timeOf(unit, few)));
    // Sixteen times the text: linear is 16, quadratic 256 however often it is tried.
    for (let tries = 0; tries < 4 && long / short > 80; tries += 1) long = Math.min(long, timeOf(unit, few * 16));
    if (long / short > 80) slow.push(`${unit}: ${short.toFixed(1)} ms, then ${long.toFixed(1)} ms`);
  }
  expect(slow).toEqual([]);
});

test('no pattern repeats a group that repeats something without a limit', () => {
  const folder = new URL('.', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const literals = files.flatMap((name) =>
    [
      ...readFileSync(new URL(name, folder), 'utf8').matchAll(
        /[=(,:?!&|] ?\/((?:[^/\\\n*]|\\.)(?:[^/\\\n]|\\.)*)\/[gimsuy]*[.;,)\n]/g,
      ),
    ].map((match) => `${name}: ${match[1] ?? ''}`),
  );
  expect(literals.length).toBeGreaterThan(20);
  expect(
    literals.filter((literal) => /\([^()]*[*+][^()]*\)(?:[*+]|\{\d+,\})/.test(literal.replace(/\[[^\]]*\]/g, 'c'))),
  ).toEqual([]);
});

const wrapped = (text: string, chars: number): string =>
  Buffer.from(text)
    .toString('base64')
    .replaceAll(new RegExp(`.{${chars}}`, 'g'), String.raw`$&` + '\n')
    .trim();
const SECRET_FILE = `HOST=db.example\nGITHUB_TOKEN=ghp_${'aB3d'.repeat(9)}\nNOTE=${'words and '.repeat(12)}\nDB_PASSWORD=S3cretHorse9\n`;

test.each([60, 64, 76])(
  'no line of base64 that is wrapped at %i characters remains beside the placeholder',
  (chars) => {
    const text = wrapped(SECRET_FILE, chars);
    expect(redact(`$ base64 .env\n${text}\n$`)).toBe('$ base64 .env\n[REDACTED:github-token]\n$');
    expect(redact(JSON.stringify({ content: text }))).toBe('{"content":"[REDACTED:github-token]"}');
  },
);

const SECRET_LINES = [
  'DB_PASSWORD=hunter2horse9',
  'DB_PASSWORD="hunter2horse9"',
  'password: hunter2horse9',
  'export API_TOKEN=k3yk3yk3y9x',
  'Authorization: Bearer <w40>',
  'OPENAI_API_KEY=sk-proj-<w40>',
  '  "value": "sk-proj-<w80>"',
  'see ghp_<w36>',
  'redis://:hunter2horse9@cache:6379',
  'Cookie: session=<w40>',
  Buffer.from('HOST=db.example.org\nDB_PASSWORD=S3cretHorse9\nUSER=bob!').toString('base64'),
].map((line) => fillRecipe(line, seededBelow(5)));
const NEXT_LINES =
  'PORT=8080 DB_PORT=5432 REGION=eu-west-1 DEBUG=true KD-12345678 build-42-passed done v1.2.3 E42 port:8080 us-east-1a 12345678'.split(
    ' ',
  );

test.each(['\n', '\r\n', String.raw`\n`])(
  'the line after a secret stays, and the secret keeps its fingerprint: break %j',
  (lineBreak) => {
    const prints = (text: string): string => redactText(text, { ...ALL, fingerprint: (secret) => `f${secret.length}` });
    for (const line of SECRET_LINES)
      for (const next of NEXT_LINES)
        expect(prints(`a\n${line}${lineBreak}${next}${lineBreak}b`)).toBe(
          `a\n${prints(line)}${lineBreak}${next}${lineBreak}b`,
        );
  },
);

test.each([60, 64, 76, 80])('no part of a token that is folded at %i characters remains', (chars) => {
  const below = seededBelow(chars);
  for (const name of ['token=<w9>', 'export API_TOKEN=ghp_', 'SECRET_KEY='])
    for (const recipe of [`<w${2 * chars}>`, `<h${2 * chars}>`]) {
      const token = fillRecipe(name + recipe, below);
      const folded = token.replaceAll(new RegExp(`.{${chars}}`, 'g'), '$&\n');
      expect(redact(`${folded}\nPORT=8080`)).toMatch(/^[\w ]+=\[REDACTED:[a-z-]+\]\nPORT=8080$/);
    }
});

test('a hex dump of a secret is replaced as a whole, another one is kept', () => {
  const dump = (text: string): string =>
    (
      Buffer.from(text)
        .toString('hex')
        .match(/.{1,32}/g) ?? []
    )
      .map(
        (bytes, at) =>
          `${(at * 16).toString(16).padStart(8, '0')}: ${bytes.replaceAll(/.{4}/g, '$& ')} ................`,
      )
      .join('\n');
  expect(redact(`$ xxd .env\n${dump(SECRET_FILE)}\nend`)).toBe('$ xxd .env\n[REDACTED:github-token]\nend');
  const harmless = dump('a harmless text of more than sixteen characters');
  expect(redact(harmless)).toBe(harmless);
});

test('the rest of a private key that was read from some line on is replaced', () => {
  const line = 'aB3d'.repeat(16);
  expect(redact(`     3\t${line}\n     4\t${line}\n     5\taB3=\n     6\t-----END RSA PRIVATE KEY-----\nok`)).toBe(
    '[REDACTED:private-key]\nok',
  );
});
