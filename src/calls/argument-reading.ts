import type { Mutable } from '../base/mutable.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { isStatement } from './argument-shape.ts';
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
  const text = canonicalJson(withoutNothing(compared));
  const call = `${tool}\n${text}`;
  // Arguments that are declared to be no part of the comparison may still say what the call does.
  const semantics = readCall(tool, declaration?.loopKey === undefined ? compared : args, declarations);
  const aside: TokensAside = { frameKey: 0 };
  const reading: Mutable<ArgumentReading> = {
    semantics,
    argsKey: hashText(comparedCall(tool, call, semantics, compared)),
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

/** What is handed over empty is as good as left out. */
function withoutNothing(args: Json): Json {
  if (!isJsonObject(args)) return args;
  for (const name in args) {
    if (args[name] !== '' && args[name] !== null) continue;
    return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== '' && value !== null));
  }
  return args;
}

/** The text by which a call is told from others: how long it waits makes no other one. */
function comparedCall(tool: string, call: string, { kind, shell }: CallSemantics, args: Json): string {
  if (shell) return shellCall(call);
  if (kind === 'wait') return tool;
  return isStatement(args) ? squeezeBlanks(call) : call;
}

/** A command line as it is compared: how long it sleeps before it looks, and how that is joined to it, makes no other call. */
function shellCall(call: string): string {
  const squeezed = squeezeSpaces(call);
  return squeezed.includes('sleep ')
    ? squeezed.replace(/\bsleep \d+(?:\.\d+)?[smh]?(?: *(?:&&|;) *)?/g, 'sleep;')
    : squeezed;
}

/** Runs of blanks and line breaks in a statement mean nothing; inside quotations they may, as below. */
function squeezeBlanks(text: string): string {
  return text.replace(/(?: |\\[nrt])+/g, ' ').replace(/(?<=[":(]) | (?=[",);])/g, '');
}

/** Runs of blanks in a one-line command mean nothing; inside quotations they may, which costs only precision of equality. */
function squeezeSpaces(text: string): string {
  if (text.includes('\\n') || !(text.includes('  ') || text.includes(' "'))) return text;
  return text.replace(/ +/g, ' ').replace(/ "/g, '"');
}
