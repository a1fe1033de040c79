import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';

export interface CodeToken {
  readonly content: string;
  readonly className: string;
}

/** The names of each language and of its files, of which Shiki knows the first. */
const LANGUAGES: readonly (readonly [names: string, load: LanguageInput])[] = [
  ['tsx ts js jsx mjs cjs mts typescript javascript', () => import('shiki/langs/tsx.mjs')],
  ['python py', () => import('shiki/langs/python.mjs')],
  ['json', () => import('shiki/langs/json.mjs')],
  ['bash sh shell zsh', () => import('shiki/langs/bash.mjs')],
  ['go', () => import('shiki/langs/go.mjs')],
  ['rust rs', () => import('shiki/langs/rust.mjs')],
  ['java', () => import('shiki/langs/java.mjs')],
  ['c h', () => import('shiki/langs/c.mjs')],
  ['css', () => import('shiki/langs/css.mjs')],
  ['html htm', () => import('shiki/langs/html.mjs')],
  ['yaml yml', () => import('shiki/langs/yaml.mjs')],
  ['sql', () => import('shiki/langs/sql.mjs')],
  ['diff patch', () => import('shiki/langs/diff.mjs')],
];

/** Per line of hostile code. A first line also compiles the grammar; with Shiki's default of 500 ms it stayed plain. */
const LINE_LIMIT_MS = 10_000;

let highlighter: Promise<HighlighterCore> | undefined;

export async function highlightCode(
  text: string,
  language: string,
): Promise<readonly (readonly CodeToken[])[] | undefined> {
  const known = LANGUAGES.find(([names]) => names.split(' ').includes(language));
  if (known === undefined) return undefined;
  const [names, loadLanguage] = known;
  highlighter ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'page', fontStyle: false })],
    // WebAssembly would need a less strict Content-Security-Policy.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const shiki = await highlighter;
  await shiki.loadLanguage(loadLanguage);
  const { tokens } = shiki.codeToTokens(text, {
    lang: names.split(' ', 1)[0] ?? '',
    theme: 'page',
    tokenizeTimeLimit: LINE_LIMIT_MS,
  });
  return tokens.map((line) => line.map(({ color, content }) => ({ content, className: classOf(color) })));
}

/** Converts `var(--shiki-token-string)` to `token-string`. Tokens without a colour have no class. */
function classOf(color: string | undefined): string {
  return /(token-[a-z-]+)/.exec(color ?? '')?.[1] ?? '';
}
