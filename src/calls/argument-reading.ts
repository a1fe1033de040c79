import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import { loopArgs } from './declared-keys.ts';
import { tokensOf } from './tokens.ts';
import { readCall, type CallSemantics, type ToolDeclarations } from './tool-semantics.ts';

/** The reading of a call's arguments. */
export interface ArgumentReading {
  readonly semantics: CallSemantics;
  /** Equal for calls of one tool with equal arguments, in any order of keys. */
  readonly argsKey: string;
  /** Hashes of the words of the arguments, ascending, at most 64. */
  readonly tokens: readonly number[];
  /** Equal for calls that differ only in numbers. */
  readonly frameKey: number;
  /** For a write: a key of the state in which it leaves the target. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the state that it starts from. */
  readonly fromKey?: string;
}

/**
 * Reads the arguments of a call.
 *
 * Cost: one pass each for their text, its words and a hash. Remembering whole readings saved nothing in recorded runs and cost 3
 * percent of a fold in which no call recurs.
 */
export function readArguments(tool: string, args: Json, declarations: ToolDeclarations): ArgumentReading {
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const text = canonicalJson(loopArgs(args, declaration));
  // Arguments outside the comparison may still say what the call does.
  const semantics = readCall(tool, args, declarations);
  const { content, replaces } = semantics;
  const leaves = content ?? replaces?.after;
  return {
    semantics,
    argsKey: hashText(comparedCall(tool, `${tool}\n${text}`, semantics)),
    ...tokensOf(text),
    ...present({
      leavesKey: leaves === undefined ? undefined : hashText(leaves),
      fromKey: replaces && hashText(replaces.before),
    }),
  };
}

/** The text by which calls are compared: without the length of a pause and without extra blanks. */
function comparedCall(tool: string, call: string, { kind, shell }: CallSemantics): string {
  if (kind === 'wait') return tool;
  // Blanks in a text of several lines may have a meaning.
  const isLoose = kind !== 'write' && !call.includes('\\n') && (call.includes('  ') || call.includes(' "'));
  const squeezed = isLoose ? call.replaceAll(/ +/g, ' ').replaceAll(' "', '"') : call;
  return shell && squeezed.includes('sleep ') ? squeezed.replaceAll(/\bsleep \d+(?:\.\d+)?[smh]?/g, 'sleep') : squeezed;
}
