import { useEffect, useState, type ReactElement } from 'react';

import type { CodeToken } from './highlight.ts';

/** Longer code is not highlighted, because highlighting is slow. */
const MAX_CHARS = 8_000;

export function CodeText({ language, text }: { readonly text: string; readonly language: string }): ReactElement {
  const [lines, setLines] = useState<readonly (readonly CodeToken[])[] | undefined>();
  const isShort = language !== '' && text.length <= MAX_CHARS;
  useEffect(() => {
    let isCurrent = true;
    setLines(undefined);
    if (!isShort) return undefined;
    import('./highlight.ts')
      .then(({ highlightCode }) => highlightCode(text, language.toLowerCase()))
      .then((highlighted) => (isCurrent ? setLines(highlighted) : undefined))
      // If highlighting fails, plain text is still readable.
      .catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [text, language, isShort]);
  if (lines === undefined) return <code>{text}</code>;
  return (
    <code>
      {lines.map((tokens, line) => (
        <span key={line}>
          {tokens.map(({ className, content }, at) => (
            <span key={at} className={className === '' ? undefined : className}>
              {content}
            </span>
          ))}
          {line < lines.length - 1 ? '\n' : ''}
        </span>
      ))}
    </code>
  );
}

export function languageOf(path: unknown): string {
  if (typeof path !== 'string' || path.length > 1_000) return '';
  return /\.([a-z]{1,6})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
}
