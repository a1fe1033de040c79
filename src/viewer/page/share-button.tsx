import { useEffect, useRef, useState, type ReactElement } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import { runPath, type RunAddress } from './api.ts';
import { asError, useLoaded } from './use-loaded.ts';

const MASKED = /\[REDACTED:([a-z0-9-]{1,40})/g;

/** Writes the run as one file, after it has shown what was masked in it. */
export function ShareButton({ run }: { readonly run: RunAddress }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen ? <ShareDialog run={run} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ShareDialog({ run, onClose }: { readonly run: RunAddress; readonly onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const path = `${runPath(run)}/export.html`;
  const page = useLoaded(path, async () => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`The viewer responded with ${answer.status}.`);
    return await answer.text();
  });
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="share-title">
      <h2 id="share-title">Share this run</h2>
      {page.error === undefined ? null : <p className="bad">{asError(page.error).message}</p>}
      {page.value === undefined ? <p className="dim">Writing the file…</p> : <Masked page={page.value} />}
      <p className="actions">
        {page.value === undefined ? null : (
          <a className="button primary" href={path} download="" onClick={onClose}>
            Save the file
          </a>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

/** Lists the secrets that the file has only as marks. */
function Masked({ page }: { readonly page: string }): ReactElement {
  const counts = new Map<string, number>();
  for (const [, rule = ''] of page.matchAll(MASKED)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p>
        One HTML file without scripts, {countText(Math.ceil(page.length / 1_024))} KB.{' '}
        {total === 0
          ? 'No secret was found in it. Read it before you send it: only known forms of secrets are found.'
          : `${countOf(total, 'place')} in it ${total === 1 ? 'is' : 'are'} masked:`}
      </p>
      {total === 0 ? null : (
        <ul className="masked">
          {[...counts].map(([rule, count]) => (
            <li key={rule}>
              <code>{rule}</code> {countText(count)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
