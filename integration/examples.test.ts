import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../examples', import.meta.url));
const files = globSync('*.ts', { cwd: folder }).toSorted();

/** Output that an example states at its end: comment lines after `// Prints:`. */
function statedOutput(source: string): string {
  const [, stated] = source.split(/^\/\/ Prints:\n/m);
  if (stated === undefined) throw new Error('the example does not say what it prints');
  return stated.replaceAll(/^\/\/ ?/gm, '').trimEnd();
}

async function runFile(path: string): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> {
  const { PATH, HOME, XDG_STATE_HOME } = process.env;
  // Nothing of this machine's own settings or keys: an example that needs some is not offline.
  const child = spawn(process.execPath, [path], { cwd: folder, env: { PATH, HOME, XDG_STATE_HOME, NO_COLOR: '1' } });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = await once(child, 'close');
  return { code, out: out.trimEnd(), err };
}

test('there is an example for each SDK', () => {
  expect(files.map((file) => basename(file, '.ts'))).toEqual(
    expect.arrayContaining([
      'ai-sdk',
      'claude-agent-sdk',
      'openai-agents',
      'openai-chat',
      'openai-responses',
      'opentelemetry',
    ]),
  );
});

test.each(files)('%s runs offline and prints what it says', async (file) => {
  const path = join(folder, file);
  const stated = statedOutput(readFileSync(path, 'utf8'));
  expect(await runFile(path)).toEqual({ code: 0, out: stated, err: '' });
});

test.each(files)('%s names the one line to change for a real model', (file) => {
  expect(readFileSync(join(folder, file), 'utf8')).toMatch(/\/\/ .*real (key|model)/i);
});
