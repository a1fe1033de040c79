import { expect, test } from 'vitest';
import { createCoxswain } from '../../core/run/coxswain.ts';
import { claudeHooks } from './claude-hooks.ts';
import { coxswainTools, type ClaudeTool, type ClaudeToolHandles, type ZodText } from './coxswain-tools.ts';

/** The arguments, in place of the SDK's server. */
interface Server {
  readonly name: string;
  readonly alwaysLoad: boolean;
  readonly tools: readonly ClaudeTool[];
}

const text: ZodText = { max: () => text, describe: () => ({ optional: () => 'a text' }) };
const handles: ClaudeToolHandles<Server> = {
  createSdkMcpServer: (options) => options,
  z: { string: () => text, enum: (values) => ({ describe: () => values }) },
};

const SPEAKING = {
  feedback: [
    {
      provider: { name: 'Count', shouldRun: () => true, provide: () => ({ summary: 'Say whether you follow.' }) },
      trigger: { everyNCalls: 1 },
    },
  ],
  guidance: [],
};

async function answer(server: Server, args: unknown, callId?: string): Promise<string | undefined> {
  const meta = callId === undefined ? {} : { _meta: { 'claudecode/toolUseId': callId } };
  const done = await server.tools[0]?.handler(args, meta);
  return done?.content[0]?.text;
}

test('the tool is always offered, by its name, with the answers that may be given', () => {
  const run = createCoxswain().startRun();
  const server = coxswainTools(run, handles);
  expect(server).toMatchObject({ name: 'coxswain', alwaysLoad: true });
  expect(server.tools[0]).toMatchObject({
    name: 'acknowledge_advice',
    inputSchema: { response: ['accepted', 'rejected', 'noted'], note: 'a text' },
  });
});

test('an answer is recorded in the run of the agent that gave it; what cannot be used is refused with the reason', async () => {
  const run = createCoxswain(SPEAKING).startRun();
  const hooks = claudeHooks(run);
  const server = coxswainTools(run, handles);
  const call = { session_id: 's', agent_id: 'a1', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' };
  const { signal } = new AbortController();
  for (const event of ['PreToolUse', 'PostToolUse'] as const) {
    for (const hook of hooks[event][0]?.hooks ?? []) await hook({ ...call, hook_event_name: event }, 't1', { signal });
  }
  const accepted = { provider: 'Count', response: 'accepted' };
  expect(await answer(server, accepted, 't1')).toBe('Noted.');
  expect(await answer(server, accepted)).toBe('Name advice that was given, by adviceId or by provider.');
  expect(await answer(server, { response: 'perhaps' }, 't1')).toContain('response must be one of');
  expect(await answer(server, undefined, 't1')).toBe('The answer must be an object.');
});

test('a fault of ours is no fault of the tool', async () => {
  const run = createCoxswain().startRun();
  run.acknowledge = () => {
    throw new Error('broken');
  };
  const server = coxswainTools(run, handles);
  expect(await answer(server, { provider: 'Count', response: 'noted' })).toBe('The answer could not be recorded.');
});
