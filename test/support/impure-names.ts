/** Something in a source file that makes a fold depend on more than its input. */
export interface Impurity {
  /** 1-based. */
  readonly line: number;
  readonly found: string;
}

/** A clock, chance, a timer, the process or the machine. */
const IMPURE =
  /\bDate\b|\bperformance\b|\bTemporal\b|\bMath\s*\.\s*random\b|\bcrypto\b|\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|(?<![.\w])process\s*(?=[.[?])|\bglobalThis\b|\bconsole\b|\bfetch\s*\(|\brequire\s*\(|\bimport\s*\(|\bimport\s*\.\s*meta\b/g;
const NODE_IMPORT = /\b(?:from|import)\s*['"]node:[^'"]*['"]/g;

/** Finds impure names in a source file, except in comments and strings. */
export function impureNames(source: string): readonly Impurity[] {
  const { code, withStrings } = stripped(source);
  return [...matches(withStrings, NODE_IMPORT), ...matches(code, IMPURE)].sort((one, other) => one.line - other.line);
}

/** The source with comments blanked, and with comments, strings and regular expressions blanked; lines stay. */
function stripped(source: string): { readonly code: string; readonly withStrings: string } {
  let code = '';
  let withStrings = '';
  /** Depths of braces at which a `${` of a template ends. */
  const templates: number[] = [];
  let depth = 0;
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at, at + 2);
    const char = source[at] ?? '';
    let piece = char;
    let isComment = false;
    let isText = false;
    if (rest === '//' || rest === '/*') {
      piece = comment(source, at);
      isComment = true;
    } else if (char === "'" || char === '"' || (char === '/' && opensRegExp(code))) {
      piece = literal(source, at);
      isText = true;
    } else if (char === '`' || (char === '}' && templates.at(-1) === depth)) {
      if (char === '}') templates.pop();
      piece = templatePart(source, at);
      if (piece.endsWith('${')) templates.push(depth);
      isText = true;
    } else if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    const blank = piece.replaceAll(/[^\n]/g, ' ');
    code += isComment || isText ? blank : piece;
    withStrings += isComment ? blank : piece;
    at += piece.length;
  }
  return { code, withStrings };
}

function comment(source: string, at: number): string {
  const ending = source.startsWith('//', at) ? '\n' : '*/';
  const end = source.indexOf(ending, at + 2);
  if (end < 0) return source.slice(at);
  return source.slice(at, ending === '\n' ? end : end + 2);
}

/** A string or a regular expression, from its opening to its closing mark. */
function literal(source: string, at: number): string {
  const mark = source[at];
  let inClass = false;
  for (let end = at + 1; end < source.length; end += 1) {
    const char = source[end];
    if (char === '\\') end += 1;
    else if (char === '\n') return source.slice(at, end);
    else if (mark === '/' && char === '[') inClass = true;
    else if (mark === '/' && char === ']') inClass = false;
    else if (char === mark && !inClass) return source.slice(at, end + 1);
  }
  return source.slice(at);
}

/** Text of a template up to its end or its next `${`, with that. */
function templatePart(source: string, at: number): string {
  for (let end = at + 1; end < source.length; end += 1) {
    if (source[end] === '\\') end += 1;
    else if (source[end] === '`') return source.slice(at, end + 1);
    else if (source.startsWith('${', end)) return source.slice(at, end + 2);
  }
  return source.slice(at);
}

/** After an operator, a bracket or nothing a slash opens a regular expression; after a value it divides. */
function opensRegExp(codeBefore: string): boolean {
  const before = codeBefore.trimEnd();
  return before === '' || /[=(,:[!&|?{};<>+\-*%]$|\breturn$/.test(before.slice(-8));
}

function matches(source: string, pattern: RegExp): readonly Impurity[] {
  return [...source.matchAll(pattern)].map((match) => ({
    line: source.slice(0, match.index).split('\n').length,
    found: match[0],
  }));
}
