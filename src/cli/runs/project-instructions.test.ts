import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { projectInstructions } from './project-instructions.ts';

const folder = testFolder();

test('the instruction files of a project are read, with those of its skills', async () => {
  const project = join(folder, 'a');
  await mkdir(join(project, '.claude/skills/deploy'), { recursive: true });
  await writeFile(join(project, 'CLAUDE.md'), 'one\ntwo words\n');
  await writeFile(join(project, '.claude/skills/deploy/SKILL.md'), 'run deploy.sh');
  await writeFile(join(project, 'README.md'), 'none');
  expect(projectInstructions(project)).toEqual([
    {
      path: 'CLAUDE.md',
      lines: [
        [1, 'one'],
        [2, 'two words'],
      ],
    },
    { path: '.claude/skills/deploy/SKILL.md', lines: [[1, 'run deploy.sh']] },
  ]);
});

test('a link, a linked folder and a folder that is not here are not looked at', async () => {
  const project = join(folder, 'b');
  await mkdir(project);
  await mkdir(join(folder, 'skills/x'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'a secret');
  await writeFile(join(folder, 'skills/x/SKILL.md'), 'a secret');
  await symlink(join(folder, 'secret'), join(project, 'CLAUDE.md'));
  await mkdir(join(project, '.claude'));
  await symlink(join(folder, 'skills'), join(project, '.claude/skills'));
  expect(projectInstructions(project)).toEqual([]);
  expect(projectInstructions(join(folder, 'none'))).toBeUndefined();
  expect(projectInstructions('relative')).toBeUndefined();
});
