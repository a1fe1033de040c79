import { ALNUM, DASH, isOf, runEnd, UNDERSCORE } from './char-class.ts';
import { readValue, skipBlanks } from './read-value.ts';
import { bareEnd, CALL, isReference } from './secret-value.ts';
import { endsLikeName, MAX_NAME_CHARS, nameStrength } from './secret-names.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';

/** Programs whose short option takes a password, by the option. */
const SHORT_OPTIONS: Readonly<Record<string, RegExp>> = {
  p: /(?:^|[\s"'`;&|(/=])(?:mysql\w*|mysql-\w+|mariadb[\w-]*|mycli|sshpass|mongo\w*|cqlsh|clickhouse-client|(?:docker|podman|nerdctl|buildah|crane|helm|oras|az|oc|vault)\b[^\n;&|]{0,60}\slogin|7z|htpasswd)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  P: /(?:^|[\s"'`;&|(/=])(?:sqlcmd|bcp|zip|unzip|isql|tsql|ipmitool|net-snmp)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  a: /(?:^|[\s"'`;&|(/=])(?:redis-cli|valkey-cli|keydb-cli|redis-benchmark|iredis)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  w: /(?:^|[\s"'`;&|(/=])(?:ldap\w+|rabbitmq\w*|ipmi\w+)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  k: /(?:^|[\s"'`;&|(/=])openssl\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
};
/** How far before a short option its program stands. */
const MAX_COMMAND_CHARS = 240;
const USER_OPTION = /-(?:u|-user|-proxy-user|-creds|U)[ =]["']?[A-Za-z0-9_.@\\-]{1,64}[:%]/y;
const PASS_OPTION = /-{1,2}pass(?:in|out)?[ =]["']?pass:/y;

/** `--password VALUE`, `-storepass VALUE`, `curl -u user:VALUE`, `mysql -pVALUE`, `redis-cli -a VALUE`. */
export function findOption(text: string, at: number, done: number): SecretSpan | undefined {
  const next = text.charAt(at + 1);
  for (const [option, rule] of [
    [USER_OPTION, 'basic-auth'],
    [PASS_OPTION, 'named-secret'],
  ] as const) {
    if (!'uUp-'.includes(next)) break;
    option.lastIndex = at;
    if (!option.test(text)) continue;
    const start = option.lastIndex;
    const end = bareEnd(text, start);
    if (
      end - start >= 3 &&
      !isReference(text, start) &&
      placeholderEnd(text, start) < 0 &&
      !text.startsWith('//', start)
    )
      return { start, end, rule };
  }
  const isLong = next === '-';
  if (isLong || isOf(text, at + 2, ALNUM)) {
    const nameStart = isLong ? at + 2 : at + 1;
    const nameEnd = runEnd(text, nameStart, ALNUM | UNDERSCORE | DASH, nameStart + MAX_NAME_CHARS);
    if (text[nameEnd] === ' ' && endsLikeName(text, nameEnd)) {
      const strength = nameStrength(text.slice(nameStart, nameEnd));
      const begin = skipBlanks(text, nameEnd);
      if ((strength === 'strong' || strength === 'weak') && text[begin] !== '-')
        return readValue(text, begin, { ...CALL, separator: ' ', strength });
    }
  }
  const programs = Object.hasOwn(SHORT_OPTIONS, next) ? SHORT_OPTIONS[next] : undefined;
  if (programs === undefined || !programs.test(text.slice(Math.max(done, at - MAX_COMMAND_CHARS), at)))
    return undefined;
  // `-p` alone asks for the password.
  const begin = skipBlanks(text, at + 2);
  if (
    text[begin] === '-' ||
    (begin > at + 2 &&
      /^[a-z]{1,12}(?:\s|$)/.test(text.slice(begin, begin + 14)) &&
      next === 'p' &&
      /mysql|mariadb/.test(text.slice(Math.max(done, at - MAX_COMMAND_CHARS), at)))
  )
    return undefined;
  return readValue(text, begin, { ...CALL, separator: ' ', strength: 'strong' });
}
