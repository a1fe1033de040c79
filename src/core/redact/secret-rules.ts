import { privateKeyEnd } from './private-key.ts';
import { ruleFromRow, type SecretRule } from './secret-rule.ts';
import { TOKEN_RULES } from './token-rules.ts';

/** Returns true if a base64 text decodes to `user:password`. */
function isUserAndPassword(encoded: string): boolean {
  if (encoded.length > 4_095) return true;
  // `atob` is not used, because it throws an error for most other words, which would be slow.
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}

/** Excludes variables, templates, masks and placeholders as passwords of an address. */
const NO_REFERENCE = String.raw`(?!\$[A-Z_{(]|<[^@\s]{0,60}>|\{|%[\w(]{1,20}[)%s]|\*+@|\[)`;
const USER = String.raw`[^\s/?#<>"'\x60{}|^[\]\\:@]`;

/** Forms that are not specific to a service. */
const COMMON_RULES: readonly SecretRule[] = [
  {
    ...ruleFromRow('private-key', '', String.raw`(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}`, '', ''),
    keywords: ['-----BEGIN ', '---- BEGIN '],
    endOf: privateKeyEnd,
    matches: ['EC PRIVATE KEY-----\n<w64>\n<w20>=\n-----END EC PRIVATE KEY-----'],
    misses: ['EC PRIVATE KEY----- is how it begins', 'CERTIFICATE-----\n<w64>\n<w64>'],
  },
  {
    ...ruleFromRow('private-key', 'PuTTY-User-Key-File-', String.raw`\d: ?[a-z0-9-]{1,40}`, '', ''),
    endOf: privateKeyEnd,
    matches: ['3: ssh-rsa\nEncryption: none\n<w64>'],
    misses: ['3: ssh-rsa'],
  },
  {
    ...ruleFromRow('jwt', '.eyJ', String.raw`(?<=(?<before>eyJ[\w-]{8,2000})\.eyJ)[\w-]{4,}(?:\.[\w-]*){0,3}`, '', ''),
    matches: ['eyJ<w20>@<w30>.<w43>', 'eyJ<w20>@<w30>'],
    misses: ['a@<w20>', 'eyJ<w20>@<w3>'],
  },
  {
    ...ruleFromRow(
      'bearer-token',
      '',
      String.raw`(?<secret>(?=[\w.+/=~-]{32}|[\w.+/=~-]{0,31}\d)[\w.+/=~-]{16,})`,
      '',
      '',
    ),
    keywords: ['Bearer ', 'bearer ', 'BEARER '],
    atWord: true,
    matches: ['<w20>', '<w40>'],
    misses: ['tokens', '<w9>', 'authentication-is-used'],
  },
  {
    ...ruleFromRow('basic-auth', '', '(?<secret>[A-Za-z0-9+/]{8,}={0,2})', '', ''),
    keywords: ['Basic ', 'basic ', 'BASIC '],
    atWord: true,
    check: isUserAndPassword,
    matches: ['dXNlcjpodW50ZXIy', 'YWRtaW46bGV0bWVpbg=='],
    misses: ['authentication', 'information'],
  },
  {
    // `.npmrc`, Docker's `config.json`.
    ...ruleFromRow('basic-auth', '', '(?<secret>[A-Za-z0-9+/]{8,}={0,2})', '', ''),
    keywords: ['_auth=', '_auth = ', '"auth":"', '"auth": "', String.raw`\"auth\":\"`, String.raw`\"auth\": \"`],
    check: isUserAndPassword,
    matches: ['dXNlcjpodW50ZXIy', 'YWRtaW46bGV0bWVpbg=='],
    misses: ['required'],
  },
  {
    // The fish shell.
    ...ruleFromRow(
      'named-secret',
      '',
      String.raw`\w{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT) {1,4}["']?(?<secret>[^\s"'$%]{6,500})`,
      '',
      '',
    ),
    keywords: ['set -gx ', 'set -Ux ', 'set -x '],
    matches: ['OPENAI_API_KEY <w20>'],
    misses: ['EDITOR <w9>', 'API_KEY $OTHER_KEY'],
  },
  {
    id: 'url-credentials',
    keywords: ['://'],
    // A password, or a key with a digit in place of the user.
    expression: `(?:${USER}{0,512}:(?<secret>${NO_REFERENCE}[^\\s/?#<>"'\\x60{}|^\\\\]{1,2000})(?=@)|(?<key>(?=[^@]{0,64}\\d)${USER}{16,512})(?=@))`,
    atWord: false,
    check: (secret) => !/^(?:pass(?:word|wd)?|pwd|secret|x+|xyz|\*+)$/i.test(secret),
    matches: ['app:<w12>@host', ':<w9>@cache:6379', '<w20>@sentry.example'],
    misses: [
      'example.com/a:b@c',
      'app:$PASSWORD@host',
      'app:<password>@host',
      'app@host',
      'only-letters-stand-here@host',
    ],
  },
  {
    // SQL that sets a password.
    ...ruleFromRow('named-secret', '', String.raw`(?<secret>[^'\n]{3,200})(?=')`, '', ''),
    keywords: ["IDENTIFIED BY '", "identified by '", "PASSWORD '", "password '"],
    matches: ["<w9>'"],
    misses: ["a'", '<w9>'],
  },
];

/** All rules that find a secret by its form. `find-named.ts` finds secrets by the name before them. */
export const SECRET_RULES: readonly SecretRule[] = [...COMMON_RULES, ...TOKEN_RULES];

/** Names of all built-in rules, for `off` and placeholders. */
export const BUILT_IN_RULES: readonly string[] = [
  ...new Set(['named-secret', 'cookie', ...SECRET_RULES.map(({ id }) => id)]),
];
