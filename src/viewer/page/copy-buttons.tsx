import type { ReactElement } from 'react';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RecordPages } from './record-pages.ts';
import { markdownOf } from './run-markdown.ts';

/** Buttons that copy the link to the view, and the chosen row as Markdown. */
export function CopyButtons(props: {
  /** The record of the chosen row. */
  readonly record: TrajectoryRecord | undefined;
  readonly pages: RecordPages;
  readonly say: (text: string) => void;
}): ReactElement {
  const { pages, record, say } = props;
  const copy = async (text: string, done: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say(done);
    } catch {
      say('The browser does not allow the page to copy.');
    }
  };
  const row = record === undefined ? 'the run' : 'the chosen row';
  return (
    <>
      <button type="button" onClick={() => void copy(location.href, `Link to ${row} copied.`)}>
        Copy link
      </button>
      {record === undefined ? null : (
        <button
          type="button"
          onClick={() => void copy(markdownOf(record, pages, location.href), 'The chosen row copied as Markdown.')}
        >
          Copy Markdown
        </button>
      )}
    </>
  );
}
