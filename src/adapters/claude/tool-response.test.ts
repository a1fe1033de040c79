import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolResultOf } from './tool-response.ts';

test.each([
  ['text', 'as it is', 'as it is'],
  ['no answer', undefined, ''],
  [
    'parts of an MCP tool',
    [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ],
    'one\ntwo',
  ],
  ['the report of a subagent', { status: 'completed', content: [{ type: 'text', text: 'done' }] }, 'done'],
  ['a shell', { stdout: 'out', stderr: '', interrupted: false, isImage: false }, 'out'],
  ['a shell with errors', { stdout: 'out', stderr: 'err', interrupted: false }, 'out\nerr'],
  ['a shell that says nothing', { stdout: '', stderr: '', interrupted: false }, ''],
  ['a file', { type: 'text', file: { filePath: '/a', content: 'text of a', numLines: 1 } }, 'text of a'],
  ['names of files', { filenames: ['/a', '/b'], numFiles: 2, durationMs: 4 }, '/a\n/b'],
  ['lines of files', { mode: 'content', filenames: [], numFiles: 0, content: 'a:1:x' }, 'a:1:x'],
  [
    'a page',
    { bytes: 3, code: 200, result: 'The page says so.', durationMs: 9, url: 'https://example.org' },
    'The page says so.',
  ],
])('%s is what the model reads', (_what, response, text) => {
  expect(toolResultOf(response)).toBe(text);
});

test('an edit is kept without the whole file', () => {
  const patch = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-one', '+two'] }];
  const edit = { filePath: '/a', oldString: 'one', newString: 'two', structuredPatch: patch, originalFile: 'one…' };
  const { originalFile: _left, ...kept } = edit;
  expect(toolResultOf(edit)).toEqual(kept);
  const write = { type: 'create', filePath: '/a', content: 'two', structuredPatch: [], originalFile: null };
  expect(toolResultOf(write)).toEqual({ type: 'create', filePath: '/a', structuredPatch: [] });
});

test('parts that are not all text stay as they are', () => {
  const parts = [
    { type: 'text', text: 'a picture' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ];
  expect(toolResultOf(parts)).toEqual(parts);
});

test('whatever an answer is, it becomes JSON', () => {
  fc.assert(
    fc.property(fc.anything(), (response) => {
      const text = JSON.stringify(toolResultOf(response));
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    }),
  );
});
