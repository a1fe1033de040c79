import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { RecentTexts } from '../base/recent-texts.ts';
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
  /** Tells apart calls with equal words that ask for another amount. */
  readonly amountKey: string;
  /** Equal for calls that differ in nothing but numbers. */
  readonly frameKey: number;
  /** For a write: a key of the state it leaves the target in. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the state it starts from. */
  readonly fromKey?: string;
}

/** Longer arguments are read anew and not kept. */
const REMEMBERED_CHARS = 1_000;
const REMEMBERED_CALLS = 512;
/** By the declarations under which they were read. */
const known = new WeakMap<ToolDeclarations, RecentTexts<ArgumentReading>>();

/**
 * Reads the arguments of a call. Those of a loop come again and again: short ones are read once.
 *
 * Pure: what is remembered only saves work. Memory: 512 calls of 1,000 characters at most for each set of declarations.
 */
export function readArguments(tool: string, args: Json, declarations: ToolDeclarations): ArgumentReading {
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const compared = loopArgs(args, declaration);
  const text = canonicalJson(compared);
  const call = `${tool}\n${text}`;
  // Arguments that are not compared may still say what the call does.
  if (compared !== args || call.length > REMEMBERED_CHARS) return read(call, text, readCall(tool, args, declarations));
  let readings = known.get(declarations);
  if (readings === undefined) known.set(declarations, (readings = new RecentTexts(REMEMBERED_CALLS)));
  let reading = readings.get(call);
  if (reading === undefined) readings.set(call, (reading = read(call, text, readCall(tool, args, declarations))));
  return reading;
}

function read(call: string, text: string, semantics: CallSemantics): ArgumentReading {
  const aside: TokensAside = { amounts: [], frameKey: 0 };
  const { content, replaces } = semantics;
  return {
    semantics,
    argsKey: hashText(semantics.shell ? shellCall(call) : call),
    tokens: tokensOf(text, aside),
    amountKey: aside.amounts.join(' '),
    frameKey: aside.frameKey,
    ...(content === undefined ? {} : { leavesKey: hashText(content) }),
    ...(content !== undefined || replaces === undefined
      ? {}
      : { leavesKey: hashText(replaces.after), fromKey: hashText(replaces.before) }),
  };
}

/** A command line as it is compared: how long it sleeps before it looks makes no other call. */
function shellCall(call: string): string {
  const squeezed = squeezeSpaces(call);
  return squeezed.includes('sleep ') ? squeezed.replace(/\bsleep \d+(?:\.\d+)?[smh]?/g, 'sleep') : squeezed;
}

/** Runs of blanks in a one-line command mean nothing; inside quotations they may, which costs only precision of equality. */
function squeezeSpaces(text: string): string {
  if (text.includes('\\n') || !(text.includes('  ') || text.includes(' "'))) return text;
  return text.replace(/ +/g, ' ').replace(/ "/g, '"');
}
