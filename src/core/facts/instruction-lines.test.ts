import { expect, test } from 'vitest';

import { instructionFile, instructionLineOf, InstructionsFold } from './instruction-lines.ts';

const FILE = instructionFile(
  'CLAUDE.md',
  '# Rules\n\nAlways prefix commands with rtk.\nRun `pnpm verify` before a commit.\nThe plan is in docs/plan.md.\nUse `git --frob` and go.',
);

function lineOf(text: string, shown: string, tool = 'Bash', cause = 'not found'): number | undefined {
  return instructionLineOf({ key: { kind: 'name', text }, shown, tool, cause }, [FILE])?.line;
}

test('the line is the one that names the command, the path, the flag or a program that is not a common one', () => {
  expect(lineOf('rtk bun', 'rtk bun run test')).toBe(3);
  expect(lineOf('pnpm verify', 'pnpm verify --all')).toBe(4);
  expect(lineOf('~/w/docs/plan.md', 'Read /home/a/w/docs/plan.md', 'Read')).toBe(5);
  expect(lineOf('git --frob', 'git --frob status')).toBe(6);
  expect(lineOf('~/w/docs/plan.md', 'Read /home/a/w/docs/plan.md', 'Read', 'File is too large')).toBeUndefined();
});

test('a line that tells to pass a flag is named before one that only shows it', () => {
  const skill = instructionFile(
    'skills/x/SKILL.md',
    'entire explain ID --no-pager\n\n**Always pass `--no-pager`** to it.',
  );
  const failure = {
    key: { kind: 'name', text: 'entire status --no-pager' },
    shown: 'entire status --no-pager',
  } as const;
  expect(instructionLineOf({ ...failure, tool: 'Bash', cause: 'unknown flag' }, [skill])?.line).toBe(3);
});

test('a common program or a part of another word names nothing', () => {
  expect(lineOf('go', 'go vet')).toBeUndefined();
  expect(lineOf('git', 'git x')).toBeUndefined();
  expect(lineOf('tk', 'tk bun')).toBeUndefined();
  // The line names a file of the folder, not the folder.
  expect(lineOf('~/w/app/docs', 'find /home/a/w/app/docs', 'Bash')).toBeUndefined();
  const file = instructionFile('CLAUDE.md', 'Styles are in `app/src/styles.css`.');
  const folder = {
    key: { kind: 'call', text: 'find ~/w/app/src' },
    shown: 'find ~/w/app/src',
    tool: 'Bash',
    cause: 'not found',
  } as const;
  expect(instructionLineOf(folder, [file])).toBeUndefined();
});

test('a session shows the files that the agent reads and the host gives to it, with the numbers of their lines', () => {
  const fold = new InstructionsFold();
  fold.readCall({ file_path: '/w/CLAUDE.md', offset: 41 }, '    41→alpha\n    42→beta');
  fold.readCall(
    { command: 'cat AGENTS.md' },
    'Chunk ID: 1f\nWall time: 0.1 s\nProcess exited with code 0\nOutput:\ngamma\ndelta',
  );
  fold.readCall({ file_path: '/w/README.md' }, '1→none');
  fold.readCall({ file_path: '/w/GEMINI.md', content: 'a' }, 'written');
  fold.readMessage('<x>Contents of /v/CLAUDE.md (project instructions):\n\nepsilon\n</x>');
  expect(fold.files).toEqual([
    {
      path: '/w/CLAUDE.md',
      lines: [
        [41, 'alpha'],
        [42, 'beta'],
      ],
    },
    {
      path: 'AGENTS.md',
      lines: [
        [1, 'gamma'],
        [2, 'delta'],
      ],
    },
    { path: '/v/CLAUDE.md', lines: [[1, 'epsilon']] },
  ]);
});

test('a skill whose name is a usual word is named only as a skill', () => {
  const files = [
    instructionFile('CLAUDE.md', 'Use git add/commit often.\nMake a git commit.\nUse the `commit` skill.'),
  ];
  const skill = {
    key: { kind: 'name', text: 'commit' },
    shown: 'Skill commit',
    tool: 'Skill',
    cause: 'Unknown skill',
  } as const;
  expect(instructionLineOf(skill, files)?.line).toBe(3);
});

test('what several reads show of a file is one file, and a part without line numbers is not kept', () => {
  const fold = new InstructionsFold();
  fold.readCall({ file_path: '/w/CLAUDE.md', offset: 41 }, '41→alpha');
  fold.readCall({ file_path: '/w/CLAUDE.md', offset: 7 }, '7→beta\n');
  fold.readCall({ file_path: '/w/CLAUDE.md', offset: 9 }, 'gamma');
  const lines = [
    [7, 'beta'],
    [41, 'alpha'],
  ];
  expect(fold.files).toEqual([{ path: '/w/CLAUDE.md', lines }]);
});

test('a line that has only the name of a file says nothing of the file in a folder', () => {
  const files = [instructionFile('CLAUDE.md', 'A test in `state_test.go` documents this.')];
  const read = (text: string) =>
    instructionLineOf(
      { key: { kind: 'name', text }, shown: `Read ${text}`, tool: 'Read', cause: 'File does not exist.' },
      files,
    );
  expect([read('cmd/session/state_test.go'), read('state_test.go')?.line]).toEqual([undefined, 1]);
});

test('the lines that a search finds are not the lines of the file', () => {
  const fold = new InstructionsFold();
  fold.readCall({ pattern: 'alpha', path: '/w/CLAUDE.md' }, '226:alpha');
  expect(fold.files).toEqual([]);
});
