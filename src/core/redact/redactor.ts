import { invalidArgument, messageOf, invalidDefinition } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { answerCost, type ModelPrices } from '../records/answer-cost.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { mapItems, mapMembers, redactFields, type FieldWriter } from './payload-fields.ts';
import { redactText, type RedactTextOptions } from './redact-text.ts';
import { BUILT_IN_RULES } from './secret-rules.ts';
import {
  placeholderOf,
  type Fingerprint,
  isPlaceholder,
  placeholderEnd,
  isNoValue,
  isReference,
} from './secret-value.ts';
import { structureWriter, type TextReading } from './structure-only.ts';
import { jsonOf, type Json } from '../base/json.ts';
import { nameStrength, type NameStrength } from './secret-names.ts';

interface JsonRedaction {
  readonly text: (text: string) => string;
  /** Like `text`, without the rules of the user. */
  readonly line: (text: string) => string;
  /** Redacts only secrets with a known form. Used for keys, and for values under a secret's name. */
  readonly token: (text: string) => string;
  /** Returns the replacement of a value under a secret's name, or undefined to keep the value. */
  readonly named: (secret: string, rule: string) => string | undefined;
}

const MAX_DEPTH = 256;

/** Replaces the member with a secret's name, also in `{ name: 'API_KEY', value: '…' }`, and token keys. Unchanged: the same value. */
function redactValue(value: Json, redaction: JsonRedaction, path: object[], program = ''): Json {
  if (typeof value === 'string') return redaction.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (path.length >= MAX_DEPTH || path.includes(value)) return placeholderOf('rule-failed');
  path.push(value);
  const result = Array.isArray(value)
    ? redactItems(value, redaction, path, program)
    : walkMembers(value, redaction, path);
  path.pop();
  return result;
}

const OPTION = /^--?([A-Za-z][\w-]*)/;

/** In a list of the words of a command, an option names the next item, and the program says what a short option means. */
function redactItems(items: readonly Json[], redaction: JsonRedaction, path: object[], program: string): Json {
  let name = '';
  const redactedItems = mapItems(items, (item) => {
    const owner = name;
    const [option = '', optionName = ''] = typeof item === 'string' ? (OPTION.exec(item) ?? []) : [];
    name = option === item ? optionName : '';
    return option === '' ? walkMember(owner, item, redaction, path) : redactValue(item, redaction, path);
  });
  if (!redactedItems.some((item) => typeof item === 'string' && OPTION.test(item))) return redactedItems;
  const line = JSON.stringify([program, ...redactedItems]);
  const redactedLine = redaction.line(line);
  if (redactedLine === line) return redactedItems;
  const read = jsonOf(redactedLine);
  if (!Array.isArray(read) || read.length !== items.length + 1) return [placeholderOf('rule-failed')];
  // What JSON gives is JSON.
  return read.slice(1) as readonly Json[];
}

function walkMembers(source: object, redaction: JsonRedaction, path: object[]): Json {
  // `source` is a JSON object: neither null nor a list.
  const members = source as Readonly<Record<string, Json>>;
  const pair = nameOfPair(members);
  const program = ['command', 'cmd', 'program', 'file']
    .map((key) => members[key])
    .find((one) => typeof one === 'string');
  let isRenamed = false;
  const redactedMembers = mapMembers(members, (key, value) => {
    // The shortest token has 16 characters.
    if (key.length >= 16 && redaction.token(key) !== key) isRenamed = true;
    return walkMember(key === pair?.holder ? pair.name : key, value, redaction, path, program);
  });
  return isRenamed ? renameKeys(redactedMembers, redaction) : redactedMembers;
}

function walkMember(name: string, value: Json, redaction: JsonRedaction, path: object[], program?: string): Json {
  const strength = nameStrength(name);
  if (strength === 'none') return redactValue(value, redaction, path, program);
  if (typeof value === 'number')
    // Plural names are names of counts.
    return strength === 'strong' && value > 999 && !/s$/i.test(name)
      ? (redaction.named(String(value), 'named-secret') ?? value)
      : value;
  if (typeof value === 'string')
    return strength === 'set-cookie' ? setCookie(value, redaction) : namedText(value, strength, redaction);
  if (!Array.isArray(value)) return walkNested(name, value, redaction, path);
  return mapItems(value, (item) => walkMember(name, item, redaction, path));
}

const VALUE_NAMES = /^(?:value|current|plain|plaintext|secret|secretstring|data|raw|text|content|default|_)$/i;

/** `password: { value: '…' }`: treats the value members as the name itself. */
function walkNested(name: string, value: Json, redaction: JsonRedaction, path: object[]): Json {
  if (value === null || typeof value !== 'object' || path.length >= MAX_DEPTH || path.includes(value))
    return redactValue(value, redaction, path);
  const redactedValue = redactValue(value, redaction, path);
  // An object remains an object.
  const members = redactedValue as Readonly<Record<string, Json>>;
  return mapMembers(members, (key, member) =>
    typeof member === 'string' && VALUE_NAMES.test(key) ? walkMember(name, member, redaction, path) : member,
  );
}

function namedText(value: string, strength: NameStrength, redaction: JsonRedaction): string {
  const isWeak = strength === 'weak';
  if (value.length < 3 || isReference(value, 0) || isNoValue(value, strength)) return redaction.text(value);
  const inner = redaction.token(value);
  if (isPlaceholder(inner)) return inner;
  const scheme = /^(?:bearer|basic|token|digest|negotiate|apikey) +(?=\S)/i.exec(value)?.[0] ?? '';
  // A sentence under the name `token` is a text about a token, not a secret.
  if (isWeak && scheme === '' && /\s/.test(value.trim())) return redaction.text(value);
  const secret = value.slice(scheme.length);
  const restRedacted = redaction.token(secret);
  if (isPlaceholder(restRedacted)) return scheme + restRedacted;
  const rule = scheme === '' ? 'named-secret' : /^basic/i.test(scheme) ? 'basic-auth' : 'bearer-token';
  const replacement = redaction.named(secret, rule);
  return replacement === undefined ? redaction.text(value) : scheme + replacement;
}

function setCookie(value: string, redaction: JsonRedaction): string {
  const header = 'Set-Cookie: ';
  const redactedText = redaction.text(header + value);
  return redactedText.startsWith(header) ? redactedText.slice(header.length) : redactedText;
}

const PAIRS = [
  ['value', ['name', 'key', 'header', 'variable']],
  ['Value', ['Name', 'Key']],
  ['ParameterValue', ['ParameterKey', 'ParameterName']],
] as const;

/** The secret's name in a pair such as `{ name: 'API_KEY', value: '…' }`, and the member with the value. */
function nameOfPair(
  members: Readonly<Record<string, Json>>,
): { readonly name: string; readonly holder: string } | undefined {
  for (const [holder, keys] of PAIRS) {
    if (members[holder] === undefined) continue;
    for (const key of keys) {
      const name = members[key];
      if (typeof name === 'string' && nameStrength(name) !== 'none') return { name, holder };
    }
  }
  return undefined;
}

/** Adds numbers to keys that became equal, so that no member is lost. */
function renameKeys(members: Readonly<Record<string, Json>>, redaction: JsonRedaction): Json {
  const renamedMembers: Record<string, Json> = {};
  for (const [key, value] of Object.entries(members)) {
    const name = redaction.token(key);
    let freeName = name;
    for (let number = 2; Object.hasOwn(renamedMembers, freeName); number += 1) freeName = `${name}#${number}`;
    renamedMembers[freeName] = value;
  }
  return renamedMembers;
}

export interface RedactionOptions {
  /**
   * - `secrets` (default): secrets are replaced by `[REDACTED:rule]`.
   * - `structureOnly`: only shapes, sizes and keyed fingerprints are stored, no content. Needs `key`.
   */
  readonly mode?: 'secrets' | 'structureOnly';
  /** For `structureOnly`: at least 16 characters, the same for all processes that write to a store. Not stored. */
  readonly key?: string;
  /** Custom rules, in addition to the built-in ones. */
  readonly rules?: readonly RedactionRule[];
  /** Names of disabled built-in rules. */
  readonly off?: readonly string[];
  /** Harmless values that redaction keeps, as whole strings or patterns, such as example keys or the password of a test. */
  readonly allow?: readonly (string | RegExp)[];
}

interface RedactorParts {
  /** Called when a custom rule fails. The whole text is then replaced. */
  readonly onFault?: (rule: string, message: string) => void;
  /** Fingerprint in placeholders, so that different secrets remain different. Default: none. */
  readonly fingerprint?: Fingerprint;
  /** For `structureOnly`: classifies a tool's result. Default: the text itself, without a class. */
  readonly readResult?: (text: string) => TextReading;
}

export interface Redactor {
  /** Returns the redacted payload, or the same object if nothing changed. Never throws, as the functions below. */
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
  readonly text: (text: string) => string;
  /** Redacts a short word of the host, such as a tool name. */
  readonly name: (text: string) => string;
  /** Redacts an id of the host. Different ids stay different. */
  readonly id: (text: string) => string;
  /** Redacts JSON from the agent or its tools, such as arguments. */
  readonly value: (value: Json) => Json;
  /** Redacts a text of the configuration, a provider or a detector. Such texts occur again, so clean ones are remembered. */
  readonly words: (text: string) => string;
}

export const NO_REDACTION: Redactor = {
  redact: (payload) => payload,
  text: (text) => text,
  name: (text) => text,
  id: (text) => text,
  value: (value) => value,
  words: (text) => text,
};

/** Adds the cost of an answer by these prices before it is recorded, so that it counts for budgets and stands in each report. */
export function pricedRedactor(redactor: Redactor, prices: ModelPrices | undefined): Redactor {
  if (prices === undefined) return redactor;
  const redact = (payload: TrajectoryPayload): TrajectoryPayload => {
    const redacted = redactor.redact(payload);
    if (redacted.kind !== 'message_appended' || redacted.message.role !== 'assistant') return redacted;
    const { message } = redacted;
    const cost_usd = message.usage && answerCost(message.usage, message.model_id, prices);
    return cost_usd === undefined
      ? redacted
      : { ...redacted, message: { ...message, usage: { ...message.usage, cost_usd } } };
  };
  return { ...redactor, redact };
}

const MIN_KEY_CHARS = 16;

/**
 * docs/redaction.md has figures of the cost.
 *
 * @throws CoxswainError "invalid-definition" for an invalid custom rule; "invalid-argument" for an unknown rule in
 * `off`, or `structureOnly` without a `key` of 16 characters
 */
export function createRedactor(options: RedactionOptions = {}, parts: RedactorParts = {}): Redactor {
  const { rules = [], off = [], allow = [], mode = 'secrets' } = options;
  checkOwnRules(rules, new Set(BUILT_IN_RULES));
  for (const name of off) {
    if (BUILT_IN_RULES.includes(name)) continue;
    throw invalidArgument(`redaction.off names ${JSON.stringify(name)}, which is not a built-in rule`, {
      details: { name, rules: BUILT_IN_RULES },
    });
  }
  const allows = allowsOf(allow);
  const whole = { off: new Set(off), allows, named: true };
  const ownOptions = { allows, onFault: parts.onFault ?? ((): void => {}) };
  const { fingerprint } = parts;
  const content = { ...whole, fingerprint };
  const forms = { ...content, named: false };
  const redactWith =
    (textOptions: RedactTextOptions) =>
    (value: string): string => {
      const redactedText = redactText(value, textOptions);
      return rules.length === 0 ? redactedText : applyOwnRules(redactedText, rules, ownOptions);
    };
  const text = redactWith(content);
  // This text has no fingerprint, so that a replay on another machine gives the same text.
  const configured = redactWith(whole);
  const line = (value: string): string => redactText(value, content);
  const token = (value: string): string => redactText(value, forms);
  const named = (secret: string, rule: string): string | undefined =>
    whole.off.has('named-secret') || allows(secret) ? undefined : placeholderOf(rule, fingerprint?.(secret));
  const json: FieldWriter['json'] = (value) => redactValue(value, { text, line, token, named }, []);
  const id = (value: string): string => {
    const redactedText = text(value);
    return redactedText === value || fingerprint !== undefined ? redactedText : `${redactedText}-${hashText(value)}`;
  };
  const writer: FieldWriter =
    mode === 'structureOnly'
      ? structureWriter({
          key: keyOf(options),
          readResult: parts.readResult ?? ((plain) => ({ plain, says: '' })),
          redact: configured,
        })
      : { text, json, result: json, name: text, id, configured };
  const printers = new Set<string>();
  const redact = (payload: TrajectoryPayload): TrajectoryPayload => {
    if (payload.kind === 'tool_started' && printsSecret(payload.args)) {
      if (printers.size >= MAX_PRINTERS) printers.clear();
      printers.add(payload.tool_call_id);
    }
    const redacted = redactFields(payload, writer);
    if (mode !== 'secrets' || redacted.kind !== 'tool_ended' || payload.kind !== 'tool_ended') return redacted;
    if (!printers.delete(payload.tool_call_id)) return redacted;
    const hide = (secret: string): string =>
      isPlaceholder(secret) ? secret : (named(secret, 'named-secret') ?? secret);
    return { ...redacted, result: hidePrinted(redacted.result, hide) };
  };
  const { name, text: ownText, json: value } = writer;
  return { redact, text: ownText, name, id: writer.id, value, words: rememberClean(writer.configured) };
}

function rememberClean(redact: (text: string) => string): (text: string) => string {
  const clean = new Set<string>();
  return (text) => {
    if (clean.has(text)) return text;
    const redacted = redact(text);
    if (redacted === text && text.length <= CLEAN_CHARS) {
      if (clean.size >= MAX_CLEAN) clean.clear();
      clean.add(text);
    }
    return redacted;
  };
}

const MAX_CLEAN = 1_000;
const CLEAN_CHARS = 500;

const MAX_PRINTERS = 256;

function keyOf(options: RedactionOptions): string {
  const { key = '' } = options;
  if (key.length >= MIN_KEY_CHARS) return key;
  throw invalidArgument(
    `redaction in the mode structureOnly needs a key of at least ${MIN_KEY_CHARS} characters, got ${key.length}`,
    { details: { length: key.length } },
  );
}

function allowsOf(allow: readonly (string | RegExp)[]): (secret: string) => boolean {
  if (allow.length === 0) return () => false;
  const secrets = new Set(allow.filter((item) => typeof item === 'string'));
  // Without the flags that make `test` stateful.
  const patterns = allow.flatMap((item) =>
    typeof item === 'string' ? [] : [new RegExp(item.source, item.flags.replace(/[gy]/g, ''))],
  );
  return (secret) => secrets.has(secret) || patterns.some((pattern) => pattern.test(secret));
}

/** A custom rule: a pattern, or a function that finds spans. */
export interface RedactionRule {
  /** Lower-case letters, digits and `-`, at most 40; shown in the placeholder. */
  readonly name: string;
  /** Every match is replaced. Avoid quantifiers inside repeated groups, which take more than linear time. */
  readonly pattern?: RegExp;
  /** Returns spans to replace, `end` exclusive. If it throws or a span is invalid, the whole text is replaced. */
  readonly find?: (text: string) => readonly { readonly start: number; readonly end: number }[];
}

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** @throws CoxswainError "invalid-definition" for an invalid or duplicate name, or a rule without exactly one of `pattern` and `find` */
function checkOwnRules(rules: readonly RedactionRule[], builtIn: ReadonlySet<string>): void {
  const names = new Set(builtIn);
  for (const { name, pattern, find } of rules) {
    const fault = !NAME.test(name)
      ? 'needs a name of lower-case letters, digits and "-"'
      : names.has(name)
        ? 'has the name of another rule'
        : (pattern === undefined) === (find === undefined)
          ? 'needs either a pattern or a find function'
          : undefined;
    if (fault !== undefined) throw invalidDefinition(`the redaction rule ${JSON.stringify(name)} ${fault}`, { name });
    names.add(name);
  }
}

interface OwnRuleOptions {
  readonly allows: (secret: string) => boolean;
  readonly onFault: (rule: string, message: string) => void;
}

/** Custom rules do not see existing placeholders. If one fails, the whole text is replaced, because the matches are unknown. */
function applyOwnRules(text: string, rules: readonly RedactionRule[], options: OwnRuleOptions): string {
  let result = text;
  for (const rule of rules) {
    try {
      result = betweenPlaceholders(result, (piece) => applyRule(piece, rule, options));
    } catch (error) {
      options.onFault(rule.name, messageOf(error));
      return placeholderOf('rule-failed');
    }
  }
  return result;
}

function betweenPlaceholders(text: string, change: (piece: string) => string): string {
  let position = text.indexOf('[REDACTED:');
  if (position < 0) return text === '' ? text : change(text);
  let result = '';
  let copiedEnd = 0;
  while (position >= 0) {
    const end = placeholderEnd(text, position);
    if (end >= 0) {
      if (position > copiedEnd) result += change(text.slice(copiedEnd, position));
      result += text.slice(position, end);
      copiedEnd = end;
    }
    position = text.indexOf('[REDACTED:', end < 0 ? position + 1 : end);
  }
  return copiedEnd < text.length ? result + change(text.slice(copiedEnd)) : result;
}

function applyRule(text: string, rule: RedactionRule, options: OwnRuleOptions): string {
  let result = '';
  let copiedEnd = 0;
  for (const { start, end } of spansOf(text, rule)) {
    const isSpan =
      Number.isInteger(start) && Number.isInteger(end) && start >= copiedEnd && end >= start && end <= text.length;
    if (!isSpan)
      throw new Error(`returned the span ${start} to ${end} of a text of ${text.length}, after ${copiedEnd}`);
    const secret = text.slice(start, end);
    if (secret === '' || options.allows(secret)) continue;
    result += text.slice(copiedEnd, start) + placeholderOf(rule.name);
    copiedEnd = end;
  }
  return copiedEnd === 0 ? text : result + text.slice(copiedEnd);
}

function spansOf(text: string, rule: RedactionRule): readonly { readonly start: number; readonly end: number }[] {
  if (rule.find !== undefined) return rule.find(text);
  const { pattern } = rule;
  if (pattern === undefined) return [];
  // A copy leaves the pattern's `lastIndex` unchanged, and `matchAll` needs the flag.
  const global = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
  return [...text.matchAll(global)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** A variable that a command prints. */
const VARIABLE = /(?:\bprintenv +|\b(?:echo|printf '?%s(?:\\n)?'?) +(?:-n +)?"?\$\{?)([A-Za-z_]\w{2,63})/g;
/** Commands that print only a secret. */
const PRINTERS =
  /\b(?:gh auth token|gcloud auth (?:application-default )?print-(?:access|identity)-token|aws ecr get-login-password|heroku auth:token|op read|pass show|vault (?:kv get|read)\b.{0,200}-field|security find-(?:generic|internet)-password\b.{0,200} -w|az account get-access-token\b.{0,200}tsv|aws (?:secretsmanager get-secret-value|ssm get-parameter)\b.{0,200}text|kubectl\b.{0,80} get secrets?\b.{0,200}base64 (?:-d|-D|--decode)|(?:npm|git) config (?:--get |get )?\S{0,80}(?:token|password)|openssl rand|pwgen)\b/i;
const SECRET_FILE =
  /\b(?:cat|head|tail|less|type|Get-Content) +(?:-\S+ +){0,3}["']?[^\s"'|;&]{0,200}(?:secrets?|tokens?|passwords?|passwd|credentials?|api[_-]?key)(?:\.txt)?["']?\s*$/i;
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'cmd', 'script', 'code', 'input', 'args']);
const MAX_COMMAND_CHARS = 4_096;

function printsSecret(args: Json): boolean {
  if (typeof args === 'string') {
    const command = args.slice(0, MAX_COMMAND_CHARS);
    if (PRINTERS.test(command) || SECRET_FILE.test(command)) return true;
    return [...command.matchAll(VARIABLE)].some(([, name = '']) => /^(?:strong|weak)$/.test(nameStrength(name)));
  }
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(args).some(
    ([key, member]) => COMMAND_KEYS.has(key) && printsSecret(Array.isArray(member) ? member.join(' ') : member),
  );
}

/** Replaces each text of a result that is one word. */
function hidePrinted(result: Json, hide: (secret: string) => string): Json {
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

const TEXT_KEYS: ReadonlySet<string> = new Set(['text', 'stdout', 'output', 'content', 'result', 'aggregated_output']);
