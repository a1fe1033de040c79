import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { createElement, useMemo, type ReactElement, type ReactNode } from 'react';

import { CodeText } from './code-text.tsx';

/** Longer texts are shown as plain text, because parsing is slow. */
const MAX_CHARS = 20_000;
const MAX_DEPTH = 12;

/** Renders an allow-list. Links, pictures and HTML are text, so nothing from a run loads. `text` is safe (`safeText`). */
export function Markdown({ text }: { readonly text: string }): ReactElement {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return tokens === undefined ? (
    <pre className="text">{text}</pre>
  ) : (
    <div className="markdown">{renderBlocks(tokens, 0)}</div>
  );
}

function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    return lexer(text, { gfm: true, breaks: true });
  } catch {
    // A text that the lexer rejects is shown as plain text.
    return undefined;
  }
}

function renderBlocks(tokens: readonly Token[], depth: number): readonly ReactNode[] {
  // The tokens of a text have a fixed order.
  return tokens.map((token, at) => <Part key={at} token={token} depth={depth} />);
}

function Part({ depth, token: given }: { readonly token: Token; readonly depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return given.raw;
  // The cast is safe: the union includes a catch-all type for extensions, and no extension is used.
  const token = given as Tokens.Generic & MarkedToken;
  const renderChildren = (): readonly ReactNode[] => renderBlocks(token.tokens ?? [], depth + 1);
  switch (token.type) {
    case 'space':
      return null;
    case 'paragraph':
      return <p dir="auto">{renderChildren()}</p>;
    case 'heading':
      // Headings of a message must not be part of the page's outline.
      return <p className={`heading h${Math.min(token.depth, 3)}`}>{renderChildren()}</p>;
    case 'list':
      return createElement(
        token.ordered ? 'ol' : 'ul',
        typeof token.start === 'number' ? { start: token.start } : {},
        token.items.map((item, at) => <li key={at}>{renderBlocks(item.tokens, depth + 1)}</li>),
      );
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'code':
      return (
        <pre className="text code">
          <CodeText text={token.text} language={token.lang?.split(/[\s{]/)[0] ?? ''} />
        </pre>
      );
    case 'table':
      return (
        <div className="wide" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {token.header.map((cell, at) => (
                  <th key={at} scope="col">
                    {renderBlocks(cell.tokens, depth + 1)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>{renderBlocks(cell.tokens, depth + 1)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'blockquote':
    case 'strong':
    case 'em':
    case 'del':
      return createElement(token.type, {}, renderChildren());
    case 'codespan':
      return <code>{token.text}</code>;
    case 'hr':
    case 'br':
      return createElement(token.type);
    case 'text':
      return token.tokens === undefined ? token.raw : <>{renderChildren()}</>;
    case 'escape':
      return token.text;
    case 'link':
      return token.text === token.href ? (
        token.text
      ) : (
        <>
          {renderChildren()} ({token.href})
        </>
      );
    default:
      // Pictures, HTML, definitions and unknown tokens are shown as their source text.
      return token.raw;
  }
}
