/** Minimum number of different tasks with the same beginning for it to be left out. */
const MIN_TASKS = 3;
/** The end of a line or a sentence. A task that merely starts with the same words as others stays whole. */
const PART_ENDS = /(?<=[.:!?])\s+|\s*\n\s*/g;

/** Titles of tasks: what remains of a task after the lines and sentences with which at least three different tasks begin. */
export class TaskTitles {
  readonly #tasks = new Set<string>();
  /** Number of different tasks by beginning. */
  readonly #counts = new Map<string, number>();

  constructor(tasks: Iterable<string> = []) {
    for (const task of tasks) this.add(task);
  }

  add(task: string): void {
    if (this.#tasks.has(task)) return;
    this.#tasks.add(task);
    for (const start of startsOf(task)) this.#counts.set(start, (this.#counts.get(start) ?? 0) + 1);
  }

  /** Returns the title of an added task. A task that is nothing but the common beginning is its own title. */
  titleOf(task: string): string {
    const common = startsOf(task).findLast((start) => (this.#counts.get(start) ?? 0) >= MIN_TASKS) ?? '';
    return task.slice(common.length) || task;
  }
}

function startsOf(task: string): readonly string[] {
  return [...task.matchAll(PART_ENDS)].map(({ 0: gap, index }) => task.slice(0, index + gap.length));
}
