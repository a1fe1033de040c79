import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import { startFakeOpenAiServer } from '../src/testing/fake-openai-server.ts';
import type { ModelScript } from '../src/testing/model-script.ts';
import { tempFolder } from '../test/support/temp-folder.ts';

const ANSWER = 'It ran out of memory.';
const SCRIPT: ModelScript = {
  turns: [{ calls: [{ name: 'read_log', args: { name: 'deploy' } }] }, { text: ANSWER }],
};

/** The first program of a page. */
function firstSnippet(page: string): string {
  const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8');
  return /^```ts\n([^]*?)^```$/m.exec(text)?.[1] ?? '';
}

/** In the place of the gateway, which wants a key: a model that answers as the script says. */
const DEFAULT_PROVIDER = `
  const { MockLanguageModelV4, mockValues } = await import('ai/test');
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const input = '{"name":"deploy"}';
  const answers = mockValues(
    { content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read_log', input }], finishReason: { unified: 'tool-calls' }, usage, warnings: [] },
    { content: [{ type: 'text', text: '${ANSWER}' }], finishReason: { unified: 'stop' }, usage, warnings: [] },
  );
  globalThis.AI_SDK_DEFAULT_PROVIDER = { languageModel: () => new MockLanguageModelV4({ doGenerate: async () => answers() }) };
`;

test.each(['openai.md', 'openai-agents.md', 'ai-sdk.md', 'claude-agent-sdk.md'])(
  'the first program of %s runs as it is printed, and its run has turns',
  async (page) => {
    const home = await tempFolder();
    const start = page.startsWith('claude') ? startFakeAnthropicServer : startFakeOpenAiServer;
    const server = await start({ script: page.startsWith('claude') ? { turns: [{ text: ANSWER }] } : SCRIPT });
    const source = `${page === 'ai-sdk.md' ? DEFAULT_PROVIDER : ''}\n${firstSnippet(page)}\nconsole.log(run.analysis.turns > 0);`;
    const env = {
      PATH: process.env['PATH'],
      HOME: home.path,
      NO_COLOR: '1',
      OPENAI_BASE_URL: `${server.url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    const cwd = fileURLToPath(new URL('../examples', import.meta.url));
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], { cwd, env });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    try {
      const [code] = await once(child, 'close');
      expect({ code, out, err }).toEqual({ code: 0, out: `${ANSWER}\ntrue\n`, err: '' });
    } finally {
      await server.close();
      await home.dispose();
    }
  },
);
