import { useKeys } from './use-keys.ts';

export interface RunKeys {
  readonly step: (direction: 1 | -1) => void;
  readonly call: (direction: 1 | -1) => void;
  readonly find: (kind: 'error' | 'pattern' | 'advice' | 'text', direction: 1 | -1) => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
  readonly follow: () => void;
  readonly search: () => void;
  readonly compare: () => void;
  readonly label: (target: 'stuck' | 'ok' | 'skip' | null) => void;
  readonly undo: () => void;
  readonly unfold: () => void;
  readonly leave: () => void;
}

/** The keys of the page: what the help says about each, and what it does with a run. */
export const KEYS: readonly (readonly [key: string, meaning: string, act?: (keys: RunKeys) => void])[] = [
  ['j', 'next row', ({ step }) => step(1)],
  ['k', 'previous row', ({ step }) => step(-1)],
  ['ArrowRight', 'next call', ({ call }) => call(1)],
  ['ArrowLeft', 'previous call', ({ call }) => call(-1)],
  ['e', 'next error', ({ find }) => find('error', 1)],
  ['E', 'previous error', ({ find }) => find('error', -1)],
  ['p', 'next pattern', ({ find }) => find('pattern', 1)],
  ['P', 'previous pattern', ({ find }) => find('pattern', -1)],
  ['a', 'next advice', ({ find }) => find('advice', 1)],
  ['A', 'previous advice', ({ find }) => find('advice', -1)],
  ['Enter', 'open a run, unfold a row', ({ unfold }) => unfold()],
  ['Escape', 'clear the selection', ({ leave }) => leave()],
  ['/', 'search', ({ search }) => search()],
  [']', 'next match', ({ find }) => find('text', 1)],
  ['[', 'previous match', ({ find }) => find('text', -1)],
  ['g', 'to the beginning', ({ toStart }) => toStart()],
  ['G', 'to the end', ({ toEnd }) => toEnd()],
  ['f', 'follow a live run, or pause', ({ follow }) => follow()],
  ['y', 'label the call: stuck here', ({ label }) => label('stuck')],
  ['n', 'label the call: it is fine', ({ label }) => label('ok')],
  ['s', 'label the call: cannot say', ({ label }) => label('skip')],
  ['u', 'remove the label', ({ label }) => label(null)],
  ['z', 'undo the last label', ({ undo }) => undo()],
  ['c', 'compare this run with another', ({ compare }) => compare()],
  ['?', 'this help'],
];

export function useRunKeys(keys: RunKeys): void {
  useKeys((event) => {
    const [, , act] = KEYS.find(([key]) => key === event.key) ?? [];
    act?.(keys);
    return act !== undefined;
  });
}
