import { expect, test } from 'vitest';

import { FirstRequestFold } from './first-request.ts';

function firstOf(...messages: readonly string[]): string | undefined {
  const fold = new FirstRequestFold();
  for (const content of messages)
    fold.fold({
      kind: 'message_appended',
      message: content.startsWith('agent: ') ? { role: 'assistant', content } : { role: 'user', content },
    });
  return fold.text;
}

const command = (name: string, args = ''): string =>
  `<command-message>${name} is running</command-message>\n<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`;
const template = (input: string): string =>
  `## User Input\n\n\`\`\`text\n${input}\n\`\`\`\n\n## Outline\n\n1. Run it.\n- done`;

test('the first message that asks for something comes after greetings, answers and commands of the program', () => {
  expect(firstOf('hi', '.', 'continue', 'Fix the build.', 'Now the docs.')).toBe('Fix the build.');
  const output = '<local-command-stdout>Bye</local-command-stdout>';
  expect(firstOf('/clear', command('exit'), output, 'Fix the build.')).toBe('Fix the build.');
});

test('a command without arguments has the next words below it, not its own prompt', () => {
  const prompt = '# Initialize the project\n\n## Instructions\n\nRead all files and say what they do.';
  expect(firstOf(command('init'), prompt, 'agent: done', 'Add a page to it')).toBe('/init\n\nAdd a page to it');
  expect(firstOf(command('init'), prompt, '[Request interrupted by user]', 'agent: done')).toBe('/init');
  expect(firstOf(command('sound'), 'Add a page to it')).toBe('/sound\n\nAdd a page to it');
  const wrapper = '<environment_context>\n  <cwd>/w</cwd>\n</environment_context>';
  expect(firstOf('$plan', wrapper, 'Add a page to it')).toBe('$plan\n\nAdd a page to it');
  expect(firstOf('/plan', 'Add a page to it')).toBe('/plan\n\nAdd a page to it');
});

test('the arguments at the end of the prompt of a skill are its words', () => {
  const prompt = 'Base directory for this skill: /s\n\n# Review\n\nRead the diff.\n\nARGUMENTS: the parser fails on CI';
  expect(firstOf('<command-name>review</command-name>', prompt)).toBe('/review\n\nthe parser fails on CI');
});

test('a command that is given again with arguments is the request', () => {
  const skill = `Base directory for this skill: /s\n\n${'Ask one question after the other. '.repeat(3)}`;
  const again = command('grill', 'examine the code');
  expect(firstOf(command('grill'), skill, command('grill'), again)).toBe(again);
  expect(firstOf(command('grill'), skill, again)).toBe(again);
});

test('an answer, JSON or another command after a command is no argument of it', () => {
  for (const next of ['yes', 'option 2', '{ "a": 1, "title": "x" }', '/review'])
    expect(firstOf('/init', next, 'Now mend the tests')).toBe('/init');
});

test('a template without words has the next message of the user as request, unless that is an answer', () => {
  expect(firstOf(template('$ARGUMENTS'), 'agent: what?', 'Move it to Next.js')).toBe('Move it to Next.js');
  expect(firstOf(template(''), template('only phase 2'))).toBe(template('only phase 2'));
  expect(firstOf(template(''), 'yes', 'are you done with the task?')).toBeUndefined();
});
