/** How sure a name makes it that its value is a secret. */
export type NameStrength = 'none' | 'weak' | 'strong' | 'authorization' | 'cookie' | 'set-cookie';

const STRONG = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'secrets',
  'secretkey',
  'privatekey',
  'privatekeyid',
  'credential',
  'credentials',
  'secretaccesskey',
  'accountkey',
  'sharedaccesskey',
];

const WEAK = [
  'token',
  'apikey',
  'apikeys',
  'accesskey',
  'encryptionkey',
  'signingkey',
  'masterkey',
  'storagekey',
  'subscriptionkey',
  'servicekey',
  'sessionkey',
  'appkey',
  'licensekey',
  'authkey',
  'sessionid',
  'connectionstring',
  'xamzsignature',
];

/** Names that count only as a whole. */
const WHOLE: ReadonlyMap<string, NameStrength> = new Map<string, NameStrength>([
  ['authorization', 'authorization'],
  ['proxyauthorization', 'authorization'],
  ['xauthorization', 'authorization'],
  ['cookie', 'cookie'],
  ['cookies', 'cookie'],
  ['documentcookie', 'cookie'],
  ['setcookie', 'set-cookie'],
  ['pass', 'strong'],
  // Also the program that prints the working folder.
  ['pwd', 'weak'],
  ['auth', 'weak'],
  ['jwt', 'weak'],
  ['bearer', 'weak'],
  ['sig', 'weak'],
  ['sessid', 'weak'],
  ['phpsessid', 'weak'],
  ['jsessionid', 'weak'],
]);

/** Names that end like a secret's and are none: cursors of a listing, words of a grammar, kinds of a key. */
const HARMLESS =
  /(?:next|page|continuation|continue|sync|resume|cursor|eos|bos|pad|unk|sep|mask|cls|stop|max|special|end|start|current|first|last|per|each|lookahead)token$|(?:public|primary|foreign|sort|partition|cache|unique|range|hash|route|index|i18n|row|group|lookup|registry|object)key$|keyword|^oldpwd$|(?:has|is|show|hide|use|no|reset|forgot|confirm)(?:password|token|secret)$/;

/** Longest name looked at. */
export const MAX_NAME_CHARS = 64;

const known = new Map<string, NameStrength>();
const MAX_KNOWN = 4_096;

/**
 * What the name of a member, a header, a variable or an option says of its value: `API_KEY`, `apiKey`, `x-api-key` and
 * `api.key` are one name. Cost: a look into a bounded cache.
 */
export function nameStrength(name: string): NameStrength {
  if (name.length > MAX_NAME_CHARS || name.length < 3) return 'none';
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  if (known.size >= MAX_KNOWN) known.clear();
  const strength = readName(name);
  known.set(name, strength);
  return strength;
}

function readName(name: string): NameStrength {
  // The shell's working folder.
  if (name === 'PWD') return 'none';
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (HARMLESS.test(plain)) return 'none';
  const whole = WHOLE.get(plain);
  if (whole !== undefined) return whole;
  if (STRONG.some((end) => plain.endsWith(end))) return 'strong';
  if (WEAK.some((end) => plain.endsWith(end))) return 'weak';
  return /^[A-Z0-9_]+_(?:KEY|PASS|PAT|AUTH|SALT|CREDS)$/.test(name) ? 'weak' : 'none';
}

/** The last three letters of every name that may be a secret's. */
export const NAME_ENDINGS: readonly string[] = [
  ...new Set(
    [...STRONG, ...WEAK, ...WHOLE.keys(), 'key', 'pat', 'auth', 'salt', 'creds', 'pass'].map((name) => name.slice(-3)),
  ),
];
