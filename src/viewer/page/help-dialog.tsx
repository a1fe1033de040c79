import { Fragment, useEffect, useRef, type ReactElement } from 'react';

const KEYS: readonly (readonly [string, string])[] = [
  ['j', 'next row'],
  ['k', 'previous row'],
  ['J', 'next run of the list'],
  ['K', 'previous run of the list'],
  ['→', 'next call'],
  ['←', 'previous call'],
  ['e', 'next error'],
  ['E', 'previous error'],
  ['p', 'next pattern'],
  ['P', 'previous pattern'],
  ['a', 'next advice'],
  ['A', 'previous advice'],
  ['Enter', 'open a run, unfold a row'],
  ['Escape', 'clear the selection'],
  ['/', 'search'],
  [']', 'next match'],
  ['[', 'previous match'],
  ['g', 'to the beginning'],
  ['G', 'to the end'],
  ['f', 'follow a live run, or pause'],
  ['y', 'label the call: stuck here'],
  ['n', 'label the call: it is fine'],
  ['s', 'label the call: cannot say'],
  ['u', 'remove the label'],
  ['z', 'undo the last label'],
  ['c', 'compare this run with another'],
  ['?', 'this help'],
];

/** A dialog that lists the keyboard shortcuts. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <div className="keys">
        {KEYS.map(([key, meaning]) => (
          <Fragment key={key}>
            <kbd>{key}</kbd>
            <span>{meaning}</span>
          </Fragment>
        ))}
      </div>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
