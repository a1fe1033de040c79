import { useEffect, useState, type ReactElement } from 'react';

/** A search box for words in a run. Enter goes to the next match and Shift-Enter to the previous one. Escape leaves the box. */
export function FindBox(props: {
  readonly find: string | undefined;
  readonly onFind: (find: string, direction: 1 | -1) => void;
}): ReactElement {
  const set = props.find ?? '';
  const [typed, setTyped] = useState(set);
  useEffect(() => setTyped(set), [set]);
  return (
    <input
      type="search"
      aria-label="Find in this run"
      placeholder="Find in this run  /"
      value={typed}
      spellCheck={false}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        if (event.key !== 'Enter') return;
        event.preventDefault();
        props.onFind(typed.trim(), event.shiftKey ? -1 : 1);
      }}
    />
  );
}
