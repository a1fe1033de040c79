import { useEffect, useRef, useState, type ReactElement } from 'react';

/** A box for the words in the address. It applies them on Enter, and with `delayMs` this long after the last key press. */
export function SearchBox(props: {
  readonly label: string;
  readonly placeholder?: string;
  readonly words: string | undefined;
  readonly onWords: (words: string, direction: 1 | -1) => void;
  readonly delayMs?: number;
}): ReactElement {
  const { delayMs, label, placeholder = label, words = '' } = props;
  const latest = useRef(props.onWords);
  latest.current = props.onWords;
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  useEffect(() => {
    if (delayMs === undefined || typed === words) return undefined;
    const timer = setTimeout(() => latest.current(typed.trim(), 1), delayMs);
    return () => clearTimeout(timer);
  }, [typed, words, delayMs]);
  return (
    <input
      type="search"
      className="search"
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      spellCheck={false}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        if (event.key !== 'Enter') return;
        event.preventDefault();
        props.onWords(typed.trim(), event.shiftKey ? -1 : 1);
      }}
    />
  );
}
