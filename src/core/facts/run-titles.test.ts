import { expect, test } from 'vitest';

import { titlesOf } from './task-title.ts';

const wrapper = 'Work on the issue that follows. Read the whole repository first, then change as little as you can. ';

test('tasks in the same wrapper have titles that tell them apart', () => {
  const tasks = [`${wrapper}The parser drops commas.`, `${wrapper}The page is blank.`, 'Fix the build', undefined];
  expect([...titlesOf(tasks, 60).values()]).toEqual([
    'Work on the issue that … parser drops commas.',
    'Work on the issue that … page is blank.',
    'Fix the build',
  ]);
});

test('wrappers inside a wrapper are told apart too, and a task that is only the wrapper keeps its start', () => {
  const inner = 'In the module of the reader of comma-separated values with quotes, ';
  const tasks = [`${wrapper}${inner}commas fail`, `${wrapper}${inner}quotes fail`, `${wrapper}Other`, wrapper];
  const titles = [...titlesOf(tasks, 76).values()];
  expect(new Set(titles).size).toBe(4);
  expect(titles[0]).toMatch(/commas fail$/);
  for (const title of titles) expect(title.length).toBeLessThanOrEqual(76);
});

test('tasks of a benchmark with the same first lines are named by the line in which they differ', () => {
  const tasks = ['Models nest', 'Colours fade'].map(
    (words) => `<pr>\nConsider this description:\n${words} wrongly\n</pr>`,
  );
  expect([...titlesOf([...tasks, 'Fix it.'], 60).values()]).toEqual([
    'Consider this description: Models nest wrongly',
    'Consider this description: Colours fade wrongly',
    'Fix it.',
  ]);
  const diffs = ['narrow', 'expand'].map((word) => `Judge the diff.\nAnswer in JSON.\nPath: /w/app\nVerdict: ${word}`);
  expect([...titlesOf(diffs, 60).values()]).toEqual(['Judge the diff. narrow', 'Judge the diff. expand']);
});

test('tasks of a program that differ in the name of a file are told apart by it', () => {
  const tasks = ['01', '02'].map(
    (part) => `"# Context\n\nYour name is Dori.\n\n/w/docs/part-${part}.md\n\nCheck off tasks.\n"`,
  );
  expect([...titlesOf(tasks, 60).values()]).toEqual(['Your name is Dori. part-01.md', 'Your name is Dori. part-02.md']);
});

test('the mark of a program in a comment tells no tasks apart', () => {
  const tasks = ['Check the types', 'Check the texts'].map(
    (words, index) => `You are a fresh agent with one task.\n<!-- task-${index} -->\n${words}`,
  );
  expect([...titlesOf(tasks, 60).values()]).toEqual([
    'You are a fresh agent with one task. types',
    'You are a fresh agent with one task. texts',
  ]);
});

test('the same task has the same title', () => {
  const task = `${wrapper}The parser drops commas.`;
  expect([...titlesOf([task, task], 60)]).toEqual([[task, `${task.slice(0, 59)}…`]]);
});
