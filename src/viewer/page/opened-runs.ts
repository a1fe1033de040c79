import type { RunAddress } from './api.ts';
import { runKey } from './route.ts';

const KEY = 'coxswain-opened';
const MAX_RUNS = 2_000;

let openedKeys: Set<string> | undefined;

export function wasOpened(run: RunAddress): boolean {
  return load().has(runKey(run));
}

export function noteOpened(run: RunAddress): void {
  const keys = load();
  keys.add(runKey(run));
  try {
    localStorage.setItem(KEY, JSON.stringify([...keys].slice(-MAX_RUNS)));
  } catch {
    // Without storage, this lasts until the page is reloaded.
  }
}

function load(): Set<string> {
  if (openedKeys !== undefined) return openedKeys;
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? '[]');
  } catch {
    stored = [];
  }
  openedKeys = new Set(Array.isArray(stored) ? stored.map(String) : []);
  return openedKeys;
}
