import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';

export interface CodeToken {
  readonly content: string;
  readonly className: string;
}

const LANGUAGES: Readonly<Record<string, LanguageInput>> = {
  typescript: () => import('shiki/langs/tsx.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  bash: () => import('shiki/langs/bash.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
};
const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'mts', 'javascript'].map((name) => [name, 'typescript']),
  ),
  ...Object.fromEntries(['sh', 'shell', 'zsh'].map((name) => [name, 'bash'])),
  py: 'python',
  rs: 'rust',
  h: 'c',
  htm: 'html',
  yml: 'yaml',
  patch: 'diff',
};
/** Shiki's name for the language that `tsx.mjs` contains. */
const GRAMMARS: Readonly<Record<string, string>> = { typescript: 'tsx' };

/** Per line of hostile code. A first line also compiles the grammar; with Shiki's default of 500 ms it stayed plain. */
const LINE_LIMIT_MS = 10_000;

let highlighter: Promise<HighlighterCore> | undefined;

export async function highlightCode(
  text: string,
  language: string,
): Promise<readonly (readonly CodeToken[])[] | undefined> {
  const name = NAMES[language] ?? language;
  const loadLanguage = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (loadLanguage === undefined) return undefined;
  highlighter ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'page', fontStyle: false })],
    // WebAssembly would need a less strict Content-Security-Policy.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const shiki = await highlighter;
  await shiki.loadLanguage(loadLanguage);
  const { tokens } = shiki.codeToTokens(text, {
    lang: GRAMMARS[name] ?? name,
    theme: 'page',
    tokenizeTimeLimit: LINE_LIMIT_MS,
  });
  return tokens.map((line) => line.map(({ color, content }) => ({ content, className: classOf(color) })));
}

/** Converts `var(--shiki-token-string)` to `token-string`. Tokens without a colour have no class. */
function classOf(color: string | undefined): string {
  return /(token-[a-z-]+)/.exec(color ?? '')?.[1] ?? '';
}
