import { Fragment, useEffect, useRef, type ReactElement } from 'react';

const KEYS: readonly (readonly [string, string])[] = [
  ['j', 'next row'],
  ['k', 'row before'],
  ['J', 'next run of the list'],
  ['K', 'run before in the list'],
  ['→', 'next call'],
  ['←', 'call before'],
  ['e', 'next error'],
  ['E', 'error before'],
  ['p', 'next pattern'],
  ['P', 'pattern before'],
  ['a', 'next advice'],
  ['A', 'advice before'],
  ['Enter', 'open a run, unfold a row'],
  ['Escape', 'choose no row'],
  ['/', 'search'],
  [']', 'next place found'],
  ['[', 'place found before'],
  ['g', 'to the beginning'],
  ['G', 'to the end'],
  ['f', 'follow a live run, or pause'],
  ['d', 'show or hide bookkeeping'],
  ['+', 'zoom the timeline in'],
  ['-', 'zoom the timeline out'],
  ['0', 'the whole timeline'],
  ['y', 'label the call: stuck here'],
  ['n', 'label the call: it is fine'],
  ['s', 'label the call: cannot say'],
  ['u', 'remove the label'],
  ['z', 'undo the last label'],
  ['c', 'compare this run with another'],
  ['x', 'choose the run, or not'],
  ['⌘K', 'search or jump'],
  ['?', 'this help'],
];

/** The keys of the page. */
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
