import type { Json } from '../base/json.ts';
import { nameStrength } from './secret-names.ts';

/** A variable that a command prints. */
const VARIABLE = /(?:\bprintenv +|\b(?:echo|printf '?%s(?:\\n)?'?) +(?:-n +)?"?\$\{?)([A-Za-z_]\w{2,63})/g;
/** Commands that print only a secret. */
const PRINTERS =
  /\b(?:gh auth token|gcloud auth (?:application-default )?print-(?:access|identity)-token|aws ecr get-login-password|heroku auth:token|op read|pass show|vault (?:kv get|read)\b.{0,200}-field|security find-(?:generic|internet)-password\b.{0,200} -w|az account get-access-token\b.{0,200}tsv|aws (?:secretsmanager get-secret-value|ssm get-parameter)\b.{0,200}text|kubectl\b.{0,80} get secrets?\b.{0,200}base64 (?:-d|-D|--decode)|(?:npm|git) config (?:--get |get )?\S{0,80}(?:token|password)|openssl rand|pwgen)\b/i;
const SECRET_FILE =
  /\b(?:cat|head|tail|less|type|Get-Content) +(?:-\S+ +){0,3}["']?[^\s"'|;&]{0,200}(?:secrets?|tokens?|passwords?|passwd|credentials?|api[_-]?key)(?:\.txt)?["']?\s*$/i;
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'cmd', 'script', 'code', 'input', 'args']);
const MAX_COMMAND_CHARS = 4_096;

/** Returns true if a call's arguments hold a command whose output is a secret and nothing else. */
export function printsSecret(args: Json): boolean {
  if (typeof args === 'string') {
    const command = args.slice(0, MAX_COMMAND_CHARS);
    if (PRINTERS.test(command) || SECRET_FILE.test(command)) return true;
    return [...command.matchAll(VARIABLE)].some(([, name = '']) => /^(?:strong|weak)$/.test(nameStrength(name)));
  }
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(args).some(
    ([key, member]) => COMMAND_KEYS.has(key) && typeof member === 'string' && printsSecret(member),
  );
}

/** Replaces each text of a result that is one word. */
export function hidePrinted(result: Json, hide: (secret: string) => string): Json {
  if (typeof result === 'string') {
    const secret = result.trim();
    return secret.length < 6 || /\s/.test(secret) ? result : result.replace(secret, () => hide(secret));
  }
  if (typeof result !== 'object' || result === null) return result;
  if (Array.isArray(result)) return result.map((item: Json) => hidePrinted(item, hide));
  return Object.fromEntries(
    Object.entries(result).map(([key, member]) => [key, TEXT_KEYS.has(key) ? hidePrinted(member, hide) : member]),
  );
}

/** Members of a result that hold what a command printed. */
const TEXT_KEYS: ReadonlySet<string> = new Set(['text', 'stdout', 'output', 'content', 'result', 'aggregated_output']);
