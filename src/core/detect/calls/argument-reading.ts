import { canonicalJson } from '../../base/canonical-json.ts';
import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { comparedArgs } from './declared-keys.ts';
import { tokensOf } from './tokens.ts';
import { readCall, type CallSemantics, type ToolDeclarations } from './tool-semantics.ts';

/** The keys and properties of the arguments of a call. */
export interface ArgumentReading {
  readonly semantics: CallSemantics;
  /** Equal for calls of the same tool with the same arguments. The order of keys is ignored. */
  readonly argsKey: string;
  /** Hashes of the words in the arguments, in ascending order, at most 64. */
  readonly tokens: readonly number[];
  /** Equal for calls that differ only in numbers. */
  readonly frameKey: number;
  /** For a write: a key of the content of the target after the call. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the content before the call. */
  readonly fromKey?: string;
}

/**
 * Reads the arguments of a call.
 *
 * Cost: one pass each for the text, its words and a hash. Results are not cached: in recorded runs a cache saved nothing, and it
 * cost 3 percent of a fold in which no call repeats.
 */
export function readArguments(tool: string, args: Json, declarations: ToolDeclarations): ArgumentReading {
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const text = canonicalJson(comparedArgs(args, declaration));
  // Arguments that are excluded from the comparison may still define what the call does.
  const semantics = readCall(tool, args, declarations);
  const { content, replaces } = semantics;
  const newContent = content ?? replaces?.after;
  return {
    semantics,
    argsKey: hashText(normalizeCall(tool, `${tool}\n${text}`, semantics)),
    ...tokensOf(text),
    ...present({
      leavesKey: newContent === undefined ? undefined : hashText(newContent),
      fromKey: replaces && hashText(replaces.before),
    }),
  };
}

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
