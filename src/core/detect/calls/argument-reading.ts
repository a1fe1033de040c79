import { canonicalJson } from '../../base/canonical-json.ts';
import { hashText } from '../../base/hash.ts';
import { isJsonObject, type Json, type Mutable, present } from '../../base/json.ts';
import { comparedArgs, withoutMembers } from './declared-keys.ts';
import { tokensOf } from './tokens.ts';
import { readCall, type CallSemantics, type ToolDeclarations } from './tool-semantics.ts';

/** Keys and numbers of the arguments of a call. Contain no content. */
export interface ArgumentKeys {
  /** Equal for calls of the same tool with the same arguments. The order of keys is ignored. */
  readonly argsKey: string;
  /** Hashes of the words in the arguments, in ascending order, at most 64. See `similarity`. */
  readonly tokens: readonly number[];
  /** Equal for calls of the same tool that differ only in numbers. */
  readonly frameKey: number;
  /** The integers among the arguments, in the order of the call. */
  readonly integers: readonly number[];
  /** For an action on a screen: a key of the call without references to elements. */
  readonly actionKey?: string;
  /** For a write: a key of the content of the target after the call. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the content before the call. */
  readonly fromKey?: string;
}

export interface ArgumentReading extends ArgumentKeys {
  readonly semantics: CallSemantics;
  /** True if an argument is a search query. */
  readonly asks: boolean;
  /** True if an argument is a sentence of 8 words or more: the call hands a job to something that reads. */
  readonly delegates: boolean;
}

/** Not cached: in recorded runs a cache saved nothing, and cost 3 percent of a fold in which no call repeats. */
export function readArguments(tool: string, args: Json, declarations: ToolDeclarations): ArgumentReading {
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const text = canonicalJson(comparedArgs(args, declaration));
  // Arguments that are excluded from the comparison may still define what the call does.
  const semantics = readCall(tool, args, declarations);
  const { content, kind, replaces } = semantics;
  const object = isJsonObject(args) ? args : {};
  const newContent = content ?? replaces?.after;
  return {
    semantics,
    argsKey: hashText(normalizeCall(tool, `${tool}\n${text}`, semantics)),
    ...tokensOf(text),
    ...numbersOf(object),
    ...present({
      actionKey:
        kind === 'ui'
          ? hashText(`${tool}\n${canonicalJson(withoutMembers(object, (name) => REFERENCE.test(name)))}`)
          : undefined,
      leavesKey: newContent === undefined ? undefined : hashText(newContent),
      fromKey: replaces && hashText(replaces.before),
    }),
  };
}

type Numbers = Mutable<Pick<ArgumentReading, 'asks' | 'delegates'>> & { readonly integers: number[] };

/** Reads numbers, also in texts and lists, such as `{page: '7'}` and `{range: [400, 480]}`. */
function numbersOf(value: Json, name = '', found: Numbers = { integers: [], asks: false, delegates: false }): Numbers {
  if (typeof value === 'number' && Number.isInteger(value)) found.integers.push(value);
  if (typeof value === 'string') {
    const isNumber = value.length <= MAX_DIGITS && value.trim() !== '' && Number.isInteger(Number(value));
    if (isNumber) found.integers.push(Number(value));
    found.asks ||= QUERY.test(name);
    found.delegates ||= value.length >= SENTENCE_CHARS && SENTENCE.test(value);
  }
  if (typeof value === 'object' && value !== null && found.integers.length < MAX_INTEGERS)
    for (const [key, member] of Object.entries(value)) numbersOf(member, Array.isArray(value) ? name : key, found);
  return found;
}

const MAX_INTEGERS = 16;
const MAX_DIGITS = 9;
const SENTENCE_CHARS = 40;
/** Eight words without the signs of code. */
const SENTENCE = /^(?:[^\s=;{}<>*|\\]+\s+){7}[^=;{}<>*|\\]*$/;
const QUERY = /^q$|quer(?:y|ies)$|search|keyword|question/i;
/** Names of arguments that refer to an element of a page, which gets a new number in each rendering. */
const REFERENCE = /^(?:ref|uid|index|(?:backend_?)?node_?id|element_?(?:id|index|ref))$/i;

/** Returns the text used to compare calls. The length of a pause and extra blanks are removed. */
function normalizeCall(tool: string, call: string, { kind, shell }: CallSemantics): string {
  if (kind === 'wait') return tool;
  // Blanks may be significant in a text of several lines.
  const isLoose = kind !== 'write' && !call.includes('\\n') && (call.includes('  ') || call.includes(' "'));
  const compactCall = isLoose ? call.replaceAll(/ +/g, ' ').replaceAll(' "', '"') : call;
  return shell && compactCall.includes('sleep ')
    ? compactCall.replaceAll(/\bsleep \d+(?:\.\d+)?[smh]?/g, 'sleep')
    : compactCall;
}
