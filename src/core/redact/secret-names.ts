import { wordSet } from '../base/word-set.ts';
import { ALNUM, DASH, DOT, UNDERSCORE } from './char-class.ts';

export const NAME_UNITS: number = ALNUM | UNDERSCORE | DASH | DOT;

export type NameStrength = 'none' | 'weak' | 'strong' | 'authorization' | 'cookie' | 'set-cookie';

const STRONG = [
  ...wordSet(
    `password passwords passwd passphrase passcode pwd secret secrets secretkey privatekey privatekeyid secretaccesskey accountkey
    sharedaccesskey storepass keypass`,
  ),
  ...[...wordSet('db user smtp mail mysql pg postgres redis admin become root ftp ssh ldap proxy')].map(
    (owner) => `${owner}pass`,
  ),
];

const WEAK = [
  ...wordSet(
    `credential credentials token apikey apikeys accesskey encryptionkey signingkey masterkey
    storagekey subscriptionkey servicekey sessionkey appkey licensekey authkey connectionstring passkey
    adminkey clientkey consumerkey serverkey sharedkey integrationkey writekey privkey sshkey accesscode xamzsignature xgoogsignature`,
  ),
];

const WORDS: ReadonlySet<string> = new Set([...STRONG, ...WEAK]);

/** Returns true for a word that is a name of a secret without an owner: `password`, not `dbpassword`. */
export function isSecretWord(word: string): boolean {
  return WORDS.has(word);
}

/** Names that match only as a whole. */
const WHOLE: ReadonlyMap<string, NameStrength> = new Map<string, NameStrength>([
  ['authorization', 'authorization'],
  ['proxyauthorization', 'authorization'],
  ['xauthorization', 'authorization'],
  ['cookie', 'cookie'],
  ['cookies', 'cookie'],
  ['documentcookie', 'cookie'],
  ['setcookie', 'set-cookie'],
  // `pass` is also a test result.
  ['pass', 'weak'],
  // `pwd` is also the program that prints the working folder.
  ['pwd', 'weak'],
  ['jwt', 'weak'],
  ['bearer', 'weak'],
  ['sig', 'weak'],
  ['sessid', 'weak'],
  ['phpsessid', 'weak'],
  ['jsessionid', 'weak'],
]);

/** Harmless names with the same endings as names of secrets: cursors, grammar tokens, kinds of keys. */
const HARMLESS =
  /(?:next|page|continuation|continue|sync|resume|cursor|eos|bos|pad|unk|sep|mask|cls|stop|max|special|end|start|current|first|last|per|each|lookahead)token$|(?:public|primary|foreign|sort|partition|cache|unique|range|hash|route|index|i18n|row|group|lookup|registry|object)key$|keyword|^oldpwd$|(?:has|is|show|hide|use|no|reset|forgot|confirm)(?:password|token|secret)$/;

export const MAX_NAME_CHARS = 64;

const strengthByName = new Map<string, NameStrength>();
const MAX_KNOWN = 4_096;

/** `API_KEY`, `apiKey`, `x-api-key` and `api.key` are the same name. Cost: a lookup in a bounded cache. */
export function nameStrength(name: string): NameStrength {
  if (name.length > MAX_NAME_CHARS || name.length < 3) return 'none';
  const cached = strengthByName.get(name);
  if (cached !== undefined) return cached;
  if (strengthByName.size >= MAX_KNOWN) strengthByName.clear();
  const strength = readName(name);
  strengthByName.set(name, strength);
  return strength;
}

function readName(name: string): NameStrength {
  // `PWD` is the shell's working folder.
  if (name === 'PWD') return 'none';
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (HARMLESS.test(plain)) return 'none';
  const whole = WHOLE.get(plain);
  if (whole !== undefined) return whole;
  if (STRONG.some((end) => plain.endsWith(end))) return 'strong';
  if (WEAK.some((end) => plain.endsWith(end))) return 'weak';
  return /^[A-Z0-9_]+_(?:KEY|PASS|PAT|AUTH|SALT|CREDS)$/.test(name) ? 'weak' : 'none';
}

/** The last three letters of every name of a secret, or of a member that contains such a name. */
export const NAME_ENDINGS: readonly string[] = [
  ...new Set(
    [...STRONG, ...WEAK, ...WHOLE.keys(), 'key', 'pat', 'auth', 'salt', 'creds', 'name', 'variable', 'header'].map(
      (name) => name.slice(-3),
    ),
  ),
];

const endings = new Set(NAME_ENDINGS.map((ending) => lettersAt(ending, 3)));

function lettersAt(text: string, end: number): number {
  return (
    ((text.charCodeAt(end - 3) | 32) << 16) | ((text.charCodeAt(end - 2) | 32) << 8) | (text.charCodeAt(end - 1) | 32)
  );
}

export function endsLikeName(text: string, end: number): boolean {
  return end >= 3 && endings.has(lettersAt(text, end));
}
