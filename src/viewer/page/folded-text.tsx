import { createContext, useContext, useState, type ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { AnsiText } from './ansi-text.tsx';
import { CodeText } from './code-text.tsx';
import { Markdown } from './markdown.tsx';
import { sharedRun } from './shared-runs.ts';
import type { ShownText } from './text-of.ts';

export interface TextSurroundings {
  /** The words to highlight, in lower case. */
  readonly words: readonly string[];
  /** The texts that the user unfolded. The set outlives the rows, which are unmounted while scrolling. */
  readonly unfolded: Set<string>;
  readonly fetchWhole: (seq: number) => Promise<void>;
}

export const FoldedTextContext = createContext<TextSurroundings>({
  words: [],
  unfolded: new Set(),
  fetchWhole: () => Promise.resolve(),
});

const FOLDED_LINES = 10;
const FOLDED_CHARS = 1_600;
const MAX_CHARS = 400_000;

export function FoldedText(props: {
  readonly shown: ShownText;
  readonly seq: number;
  readonly part: string;
  readonly isMarkdown?: true;
  readonly isWhole?: true;
  /** For code: the language or the file extension. */
  readonly language?: string;
}): ReactElement | null {
  const { shown, seq, part, isMarkdown, isWhole = false, language = '' } = props;
  const { words, unfolded, fetchWhole } = useContext(FoldedTextContext);
  const key = `${seq} ${part}`;
  const [isOpenByChoice, setOpen] = useState<boolean | undefined>(() => (unfolded.has(key) ? true : undefined));
  const { text, cutFrom } = shown;
  if (text === '') return null;
  const start = isWhole ? text : foldedStart(text);
  const isLong = start.length < text.length;
  // A text with a match is unfolded.
  const isOpen =
    isOpenByChoice ?? (isLong && words.length > 0 && hasWord(text.slice(start.length).toLowerCase(), words));
  const visible = isLong && !isOpen ? start : text.slice(0, MAX_CHARS);
  const toggle = (): void => {
    if (isOpen) unfolded.delete(key);
    else unfolded.add(key);
    setOpen(!isOpen);
  };
  return (
    <>
      {isMarkdown === true ? (
        <Markdown text={visible} />
      ) : (
        <pre className="text" dir="auto">
          {shown.raw === undefined ? (
            language === '' ? (
              visible
            ) : (
              <CodeText text={visible} language={language} />
            )
          ) : (
            <AnsiText raw={shown.raw} chars={visible.length} />
          )}
        </pre>
      )}
      {isLong || cutFrom !== undefined ? (
        <div className="fold">
          {cutFrom === undefined ? (
            <button type="button" className="link" aria-expanded={isOpen} onClick={toggle}>
              {isOpen ? 'Fold' : `Show ${moreText(text, start)}`}
            </button>
          ) : sharedRun !== undefined ? (
            <span className="dim">
              The beginning of {countText(cutFrom)} characters; this file leaves out the rest.
            </span>
          ) : (
            <button
              type="button"
              className="link"
              onClick={() => {
                if (!isOpen) toggle();
                void fetchWhole(seq);
              }}
            >
              Show all {countText(cutFrom)} characters
            </button>
          )}
          {isOpen && text.length > MAX_CHARS ? (
            <span className="dim">shown up to {countText(MAX_CHARS)} characters</span>
          ) : null}
        </div>
      ) : null}
    </>
  );
}

function hasWord(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word));
}

function foldedStart(text: string): string {
  let end = 0;
  for (let line = 0; line < FOLDED_LINES; line += 1) {
    const lineEnd = text.indexOf('\n', end);
    if (lineEnd < 0 || lineEnd > FOLDED_CHARS) {
      // A text that is longer by only two lines is not folded.
      return text.length <= FOLDED_CHARS ? text : text.slice(0, FOLDED_CHARS).toWellFormed();
    }
    end = lineEnd + 1;
  }
  const remainder = text.slice(end);
  return remainder.length < 200 && remainder.split('\n').length <= 3 ? text : text.slice(0, end - 1);
}

function moreText(text: string, start: string): string {
  let lines = 0;
  for (let lineEnd = start.length; lineEnd >= 0 && lines < 100_000; lineEnd = text.indexOf('\n', lineEnd + 1))
    lines += 1;
  return lines > 1 ? `${countText(lines)} more lines` : `${countText(text.length - start.length)} more characters`;
}
