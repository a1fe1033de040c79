import { printableCut } from '../base/printable.ts';
import { taskTitle } from './task-title.ts';

/** Number of characters that remain of the part that several tasks share. */
const SHARED_CHARS = 24;

/**
 * Returns the title of each task: its start, or, for tasks that begin alike, the start of the common part and then what tells the
 * tasks apart. Of tasks with the same first line, the title is the first line in which they differ.
 *
 * @param chars  maximum length of a title
 */
export function titlesOf(tasks: Iterable<string | undefined>, chars: number): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  const known = new Set([...tasks].filter((task) => task !== undefined));
  for (const [title, alike] of Map.groupBy(known, (task) => taskTitle(task) ?? task)) {
    // Tasks of a benchmark begin with the same lines.
    const shared = alike.length === 1 ? '' : alike.reduce(sharedPart).replace(/\S+$/, '');
    for (const task of alike)
      words.set(task, (shared === '' ? undefined : taskTitle(task.slice(shared.length))) ?? title);
  }
  const titles = distinctTitles(words.values(), chars);
  return new Map([...words].map(([task, title]) => [task, titles.get(title) ?? title]));
}

function distinctTitles(tasks: Iterable<string>, chars: number): ReadonlyMap<string, string> {
  const distinctTasks = new Set(tasks);
  const titles = new Map<string, string>();
  for (const [start, alike] of Map.groupBy(distinctTasks, (task) => printableCut(task, chars))) {
    const [first = ''] = alike;
    const shared = alike.reduce(sharedPart, first).replace(/\S+$/, '');
    const rests = new Map(alike.map((task) => [task, task.slice(shared.length)]));
    const canTell = alike.length > 1 && shared.length > SHARED_CHARS;
    const inner = canTell ? distinctTitles(rests.values(), chars - SHARED_CHARS - 1) : undefined;
    for (const [task, rest] of rests) {
      const title = inner?.get(rest);
      titles.set(task, title === undefined || rest === '' ? start : `${printableCut(shared, SHARED_CHARS)} ${title}`);
    }
  }
  return titles;
}

function sharedPart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
