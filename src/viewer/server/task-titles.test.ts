import { expect, test } from 'vitest';

import { TaskTitles } from './task-titles.ts';

const INTRO = '<pr_description>\nConsider the following PR description:\n';

function titlesOf(tasks: readonly string[]): readonly string[] {
  const titles = new TaskTitles(tasks);
  return tasks.map((task) => titles.titleOf(task));
}

test('lines with which at least three different tasks begin are left out', () => {
  const tasks = ['Models nest\nwrongly', 'Colours differ', 'Colours fade'].map((task) => `${INTRO}${task}`);
  expect(titlesOf(tasks)).toEqual(['Models nest\nwrongly', 'Colours differ', 'Colours fade']);
  expect(titlesOf([...tasks.slice(1), ...tasks.slice(1)])).toEqual([...tasks.slice(1), ...tasks.slice(1)]);
});

test('sentences with which at least three different tasks begin are left out', () => {
  expect(titlesOf(['one', 'two', 'three'].map((name) => `Answer in SQL. The question is: ${name}`))).toEqual([
    'one',
    'two',
    'three',
  ]);
});

test('tasks that merely start with the same words stay whole', () => {
  const tasks = ['gender', 'country', 'weight'].map((name) => `Find the first name and the ${name} of all students.`);
  expect(titlesOf(tasks)).toEqual(tasks);
});

test('a task that is nothing but the common beginning stays whole', () => {
  const tasks = [INTRO, `${INTRO}a`, `${INTRO}b`, `${INTRO}c`];
  expect(titlesOf(tasks)).toEqual([INTRO, 'a', 'b', 'c']);
});
