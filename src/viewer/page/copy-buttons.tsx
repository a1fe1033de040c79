import type { ReactElement } from 'react';

import type { RunAnswer } from '../server/api-shapes.ts';
import type { RecordPages } from './record-pages.ts';
import { markdownOf, storyMarkdown } from './run-markdown.ts';

/** Buttons that copy the link to the view, and the chosen row or the summary of the run as Markdown. */
export function CopyButtons(props: {
  /** The seq of the chosen row. */
  readonly selected: number | undefined;
  readonly pages: RecordPages;
  readonly answer: RunAnswer;
  readonly say: (text: string) => void;
}): ReactElement {
  const { answer, pages, say, selected } = props;
  const record = selected === undefined ? undefined : pages.at(selected);
  const copyText = async (text: string, done: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say(done);
    } catch {
      say('The browser does not allow the page to copy.');
    }
  };
  const row = selected === undefined ? 'the run' : 'the chosen row';
  return (
    <>
      <button type="button" onClick={() => void copyText(location.href, `Link to ${row} copied.`)}>
        Copy link
      </button>
      <button
        type="button"
        onClick={() => {
          if (record === undefined)
            void copyText(storyMarkdown(answer, location.href), 'The summary copied as Markdown.');
          else void copyText(markdownOf(record, pages, location.href), 'The chosen row copied as Markdown.');
        }}
      >
        Copy Markdown
      </button>
    </>
  );
}
