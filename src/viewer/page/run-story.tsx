import type { ReactElement } from 'react';

import { present } from '../../core/base/json.ts';
import { runStory, type StoryPiece } from '../../core/facts/run-story.ts';
import type { RunAnswer } from '../server/api-shapes.ts';
import { safeLine } from './safe-text.ts';

export function RunStory(props: {
  readonly answer: RunAnswer;
  readonly onGo: (seq: number) => void;
}): ReactElement | null {
  const { overview, run } = props.answer;
  const story = runStory({ ...overview, calls: run.calls, ...present({ errorLine: run.errorLine }) });
  const sentences = story.filter(({ mark }) => mark !== '' || overview.advice.length > 0);
  if (overview.advice.length === 0 && overview.patterns.every(({ stuck }) => !stuck)) return null;
  return (
    <dl className="story" aria-label="What was found in the run">
      {sentences.map(({ mark, name, pieces }) => (
        <div key={name} className={mark}>
          <dt>{name}</dt>
          <dd>
            {pieces.map((piece, at) => (
              // The pieces of a sentence have a fixed order.
              <Piece key={at} piece={piece} onGo={props.onGo} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Piece(props: { readonly piece: StoryPiece; readonly onGo: (seq: number) => void }): ReactElement {
  const { seq, style, text } = props.piece;
  if (seq !== undefined) {
    return (
      <button type="button" className="link" onClick={() => props.onGo(seq)}>
        {text}
      </button>
    );
  }
  if (style === 'code') return <code>{safeLine(text)}</code>;
  return style === 'strong' ? <b>{safeLine(text)}</b> : <>{text}</>;
}
