import type { Mutable } from '../base/mutable.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { loopArgs } from './declared-keys.ts';
import { tokensOf, type TokensAside } from './tokens.ts';
import { readCall, type CallSemantics, type ToolDeclarations } from './tool-semantics.ts';

/** What the arguments of a call say, before its result. */
export interface ArgumentReading {
  readonly semantics: CallSemantics;
  /** Equal for calls of one tool with equal arguments, whatever the order of keys. */
  readonly argsKey: string;
  /** Hashes of the words of the arguments, ascending, 64 at most. */
  readonly tokens: readonly number[];
  /** Equal for calls that differ in nothing but numbers. */
  readonly frameKey: number;
  /** For a write: a key of the state it leaves the target in. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the state it starts from. */
  readonly fromKey?: string;
}

/**
 * Reads the arguments of a call.
 *
 * Cost: one pass for their text, one for its words and one for a hash; what a command line does is remembered
 * (`readShellCommand`). To remember whole readings saved nothing in recorded runs, and cost 3 percent of a fold where no call
 * comes again.
 */
export function readArguments(tool: string, args: Json, declarations: ToolDeclarations): ArgumentReading {
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const compared = loopArgs(args, declaration);
  const text = canonicalJson(compared);
  const call = `${tool}\n${text}`;
  // Arguments that are no part of the comparison may still say what the call does.
  const semantics = readCall(tool, args, declarations);
  const aside: TokensAside = { frameKey: 0 };
  const reading: Mutable<ArgumentReading> = {
    semantics,
    argsKey: hashText(comparedCall(tool, call, semantics)),
    tokens: tokensOf(text, aside),
    frameKey: aside.frameKey,
  };
  const { content, replaces } = semantics;
  if (content !== undefined) reading.leavesKey = hashText(content);
  else if (replaces !== undefined) {
    reading.leavesKey = hashText(replaces.after);
    reading.fromKey = hashText(replaces.before);
  }
  return reading;
}

/**
 * The text by which a call is told from others: how long it waits makes no other one, nor do runs of blanks, how long a command line
 * sleeps before it looks, and how that is joined to it.
 */
function comparedCall(tool: string, call: string, { kind, shell }: CallSemantics): string {
  if (kind === 'wait') return tool;
  const lines = call.includes('\\n');
  // Within a text of several lines blanks may mean something, but not in a question.
  const isLoose = !(shell ? lines : kind === 'write') && (lines || call.includes('  ') || call.includes(' "'));
  const squeezed = isLoose
    ? call
        .replaceAll(/(?: |\\[nrt])+/g, ' ')
        .replaceAll(' "', '"')
        .replaceAll('" ', '"')
    : call;
  if (!shell || !squeezed.includes('sleep ')) return squeezed;
  return squeezed.replaceAll(/\bsleep \d+(?:\.\d+)?[smh]?(?: *(?:&&|;) *)?/g, 'sleep;');
}
