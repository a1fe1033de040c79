import { useEffect, useState, type ReactElement } from 'react';

/** A search box for words in a run. Enter goes to the next match and Shift-Enter to the previous one. Escape leaves the box. */
export function FindBox(props: {
  readonly find: string | undefined;
  readonly onFind: (find: string, direction: 1 | -1) => void;
}): ReactElement {
  const currentWords = props.find ?? '';
  const [typedText, setTypedText] = useState(currentWords);
  useEffect(() => setTypedText(currentWords), [currentWords]);
  return (
    <input
      type="search"
      aria-label="Find in this run"
      placeholder="Find in this run  /"
      value={typedText}
      spellCheck={false}
      onChange={(event) => setTypedText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        if (event.key !== 'Enter') return;
        event.preventDefault();
        props.onFind(typedText.trim(), event.shiftKey ? -1 : 1);
      }}
    />
  );
}
