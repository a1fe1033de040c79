import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { hookCommand } from '../../../hosts/claude-code/init-hooks.ts';
import { commandWords } from './check-settings.ts';

test('the words of a command written by init are its paths', () => {
  const path = fc.string({ minLength: 1 }).filter((text) => !text.includes('\\') && !text.includes('\0'));
  fc.assert(
    fc.property(path, path, (node, hook) => {
      expect(commandWords(hookCommand(node, hook))).toEqual([node, hook, 'coxswain-hook']);
    }),
  );
});

test('double quotes and backslashes work as in a shell', () => {
  expect(commandWords(String.raw`"C:\Program Files\node.exe" a\ b "say \"x\"" coxswain-hook`)).toEqual([
    String.raw`C:\Program Files\node.exe`,
    'a b',
    'say "x"',
    'coxswain-hook',
  ]);
});
