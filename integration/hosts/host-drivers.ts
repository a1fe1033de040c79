import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Json } from '../../src/core/base/json.ts';
import { sessionIdOf } from '../../src/formats/find-sessions.ts';
import type { HostName } from '../../src/hosts/dialects/hook-dialect.ts';
import { startFakeAnthropicServer } from '../../src/testing/fake-anthropic-server.ts';
import type { FakeModelServer, FakeModelServerOptions, ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { startFakeOpenAiServer } from '../../src/testing/fake-openai-server.ts';
import { startFakeGeminiServer } from '../fake-gemini-server.ts';

/** Where a host runs. */
export interface HostRun {
  readonly home: string;
  readonly project: string;
  /** Of the fake model server. */
  readonly url: string;
}

/** How the real program of a host is run against a fake model server. One table entry a host. */
export interface HostDriver {
  /** Its package on npm, pinned, and the program in it. */
  readonly package: string;
  readonly version: string;
  readonly program: string;
  /**
   * A package that the program installs at its start from npm into each of its configuration folders, which took up to 100 s. It is
   * installed once, in the folder `config` beside the program.
   */
  readonly ownPackage?: string;
  readonly startServer: (options: FakeModelServerOptions) => Promise<FakeModelServer>;
  /** Writes what the host needs beside our hooks. */
  readonly prepare?: (run: HostRun) => void;
  readonly env: (run: HostRun) => Readonly<Record<string, string>>;
  readonly args: (prompt: string, run: HostRun) => readonly string[];
  /** Continues the last session. */
  readonly resumeArgs: (prompt: string, run: HostRun) => readonly string[];
  /** A call of the host's shell tool. */
  readonly shell: (command: string) => ModelCall;
  /** Calls that fail without a shell, of those that the host reports. */
  readonly failing: readonly ModelCall[];
  /** The owner of the settings that the tests write. */
  readonly scope: 'user' | 'project';
  /** Fate of advice at a prompt, on a call of the shell, on the first of `failing`, and at a stop. The docs use the same words. */
  readonly advice: {
    readonly atPrompt: AdviceFate;
    readonly onCall: AdviceFate;
    readonly onFailure: AdviceFate;
    readonly atStop: StopFate;
  };
  /** Situations of the contract that need more than a script. A text says why the program cannot have one. */
  readonly scenes: Readonly<Record<SceneName, HostScene | string>>;
  /** True if the tokens of each answer are recorded, from the session file or from events. */
  readonly hasTokens: boolean;
  /** True if the session file has no call that did not end. */
  readonly forgetsKilledCalls?: true;
  /** True if the fake model has no price. */
  readonly isUnpriced?: true;
  /** True if no event tells the end of a session without a terminal. */
  readonly hasNoEnd?: true;
}

export type SceneName = 'refused call' | 'hung command' | 'subagent' | 'compaction' | 'fork';

/** How a program gets into a situation. */
export interface HostScene {
  /** The call that makes it. */
  readonly call?: ModelCall;
  /** The answers that make it, if a call is not enough. */
  readonly turns?: readonly ModelTurn[];
  readonly prepare?: (run: HostRun) => void;
  /** Options of the program, beside those of every run. */
  readonly options?: readonly string[] | ((run: HostRun) => readonly string[]);
  /** Arguments of a second run of the program, with the files of the sessions before it. */
  readonly nextArgs?: (prompt: string, files: readonly string[], run: HostRun) => readonly string[];
}

/** `one more turn`: the agent continues with the text. `not delivered`: the host ends the run, and advice is recorded as undelivered. */
export type StopFate = 'one more turn' | 'not delivered';

/** `stays`: in every later request; `one request`: in the next one only; `next event`: one request late, then in every later one. */
export type AdviceFate = 'stays' | 'one request' | 'next event';

const call = (name: string, args: Json): ModelCall => ({ name, args });
const KEY = 'sk-fake-0123456789abcdefghijklmnopqrstuvwxyz';

/** A call of a tool of Codex that works with subagents. */
function collaboration(name: string, args: Json): ModelTurn {
  const tool = { namespace: 'collaboration', name, arguments: JSON.stringify(args) };
  return { items: [{ type: 'function_call', call_id: `call_${name}`, ...tool }] };
}

function writeIn(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Gives a configuration folder the package that the program would install there. */
function giveOwnPackage(folder: string, host: HostName): void {
  const { version } = HOST_DRIVERS[host];
  const from = join(process.env['COXSWAIN_HOSTS'] ?? '', `${host}-${version}`, 'config');
  if (!existsSync(from) || existsSync(join(folder, 'node_modules'))) return;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(from, name), join(folder, name));
  symlinkSync(join(from, 'node_modules'), join(folder, 'node_modules'));
}

function changeJson(file: string, more: object): void {
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...more }));
}

const withTools = (options: FakeModelServerOptions): FakeModelServerOptions => ({
  ...options,
  isMain: ({ tools }) => Array.isArray(tools) && tools.length > 0,
});

/** Every host that the contract is tried with. */
export const HOST_DRIVERS: Readonly<Record<HostName, HostDriver>> = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    program: 'claude',
    startServer: startFakeAnthropicServer,
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    resumeArgs: (prompt) => ['-c', '-p', prompt, '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash,Read'],
    args: (prompt) => [
      '-p',
      prompt,
      '--model',
      'claude-sonnet-4-5',
      '--output-format',
      'text',
      '--allowedTools',
      'Bash,Read',
    ],
    shell: (command) => call('Bash', { command, description: 'x' }),
    failing: [call('Read', { file_path: 'missing.txt' })],
    scope: 'user',
    advice: { atPrompt: 'stays', onCall: 'stays', onFailure: 'stays', atStop: 'one more turn' },
    // Its situations are in `one-truth.test.ts`.
    scenes: { 'refused call': '', 'hung command': '', subagent: '', compaction: '', fork: '' },
    hasTokens: true,
  },
  codex: {
    package: '@openai/codex',
    version: '0.171.0',
    program: 'codex',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare({ home, url }) {
      mkdirSync(join(home, '.codex'), { recursive: true });
      const provider = `name = "fake"\nbase_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n`;
      const config = `model = "gpt-5.5"\nmodel_provider = "fake"\n\n[model_providers.fake]\n${provider}`;
      writeFileSync(join(home, '.codex', 'config.toml'), config);
    },
    env: () => ({ OPENAI_API_KEY: KEY }),
    resumeArgs: (prompt) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      'resume',
      '--last',
      prompt,
    ],
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    shell: (command) => call('exec_command', { cmd: command }),
    failing: [call('view_image', { path: 'missing.png' }), call('nope_tool', {})],
    scope: 'user',
    advice: { atPrompt: 'stays', onCall: 'stays', onFailure: 'next event', atStop: 'one more turn' },
    scenes: {
      'refused call': {
        call: call('exec_command', { cmd: 'rm -f x' }),
        prepare: ({ home }) =>
          writeIn(
            join(home, '.codex', 'rules'),
            'default.rules',
            'prefix_rule(pattern=["rm"], decision="forbidden")\n',
          ),
      },
      'hung command': { call: call('exec_command', { cmd: 'sleep 4', yield_time_ms: 500 }) },
      subagent: {
        turns: [
          collaboration('spawn_agent', { message: 'SUBTASK', task_name: 'sub', fork_turns: 'none' }),
          collaboration('wait_agent', { timeout_ms: 30_000 }),
        ],
        options: ['--enable', 'multi_agent_v2'],
      },
      compaction: { options: ['-c', 'model_auto_compact_token_limit=2000'] },
      fork: {
        nextArgs: (prompt, [file = '']) => [
          'exec',
          '--skip-git-repo-check',
          '--dangerously-bypass-approvals-and-sandbox',
          'fork',
          sessionIdOf(file),
          prompt,
        ],
      },
    },
    hasTokens: true,
  },
  copilot: {
    package: '@github/copilot',
    version: '1.0.102',
    program: 'copilot',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare: ({ home, project }) =>
      writeIn(join(home, '.copilot'), 'config.json', JSON.stringify({ trustedFolders: [project] })),
    env: ({ url }) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: 'gpt-5.4',
    }),
    resumeArgs: (prompt) => ['--continue', '-p', prompt, '-s', '--allow-all-tools'],
    args: (prompt) => ['-p', prompt, '-s', '--allow-all-tools'],
    shell: (command) => call('bash', { command, description: 'x' }),
    failing: [call('view', { path: 'missing.txt' }), call('nope_tool', {})],
    scope: 'project',
    advice: { atPrompt: 'stays', onCall: 'stays', onFailure: 'stays', atStop: 'one more turn' },
    scenes: {
      'refused call': {
        call: call('bash', { command: 'rm -f x', description: 'x' }),
        options: ['--deny-tool', 'shell(rm)'],
      },
      'hung command': { call: call('bash', { command: 'sleep 8', description: 'x', initial_wait: 1 }) },
      subagent: {
        call: call('task', {
          description: 'sub',
          prompt: 'SUBTASK',
          agent_type: 'general-purpose',
          name: 'sub',
          mode: 'sync',
        }),
      },
      compaction: 'it compacts at a share of a window of 100,000 tokens or more, and counts the tokens itself',
      fork: 'it has no option that forks a session',
    },
    hasTokens: true,
  },
  gemini: {
    package: '@google/gemini-cli',
    version: '0.61.0',
    program: 'gemini',
    startServer: startFakeGeminiServer,
    prepare({ home }) {
      mkdirSync(join(home, '.gemini'), { recursive: true });
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
      };
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    },
    env: ({ url }) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
    resumeArgs: (prompt) => ['-y', '--skip-trust', '-r', 'latest', '-m', 'gemini-3-pro-preview', '-p', prompt],
    args: (prompt) => ['-y', '--skip-trust', '-m', 'gemini-3-pro-preview', '-p', prompt],
    shell: (command) => call('run_shell_command', { command, description: 'x' }),
    failing: [call('read_file', { file_path: 'missing.txt' })],
    scope: 'user',
    forgetsKilledCalls: true,
    advice: { atPrompt: 'stays', onCall: 'stays', onFailure: 'one request', atStop: 'one more turn' },
    scenes: {
      'refused call': {
        call: call('run_shell_command', { command: 'rm -f x', description: 'x' }),
        prepare: ({ home }) =>
          writeIn(
            join(home, '.gemini', 'policies'),
            'rm.toml',
            '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "rm"\ndecision = "deny"\npriority = 900\n',
          ),
      },
      'hung command': {
        call: call('run_shell_command', { command: 'sleep 30', description: 'x' }),
        prepare: ({ home }) =>
          changeJson(join(home, '.gemini', 'settings.json'), { tools: { shell: { inactivityTimeout: 1 } } }),
      },
      subagent: 'its events do not say that they are of a subagent: the calls are recorded in the session',
      compaction: {
        prepare: ({ home }) =>
          changeJson(join(home, '.gemini', 'settings.json'), { model: { compressionThreshold: 0.0001 } }),
      },
      fork: 'it has no option that forks a session',
    },
    hasTokens: true,
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    program: 'opencode',
    ownPackage: '@opencode-ai/plugin',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare({ home, project, url }) {
      for (const folder of [join(project, '.opencode'), join(home, '.config', 'opencode')])
        giveOwnPackage(folder, 'opencode');
      const options = { baseURL: `${url}/v1`, apiKey: KEY };
      const fake = { npm: '@ai-sdk/openai-compatible', options, models: { m: { name: 'm', tool_call: true } } };
      const config = { provider: { fake }, model: 'fake/m', snapshot: false, autoupdate: false, share: 'disabled' };
      writeFileSync(join(project, 'opencode.json'), JSON.stringify(config));
    },
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    resumeArgs: (prompt) => ['run', '-c', '--auto', '--model', 'fake/m', prompt],
    args: (prompt) => ['run', '--auto', '--model', 'fake/m', prompt],
    shell: (command) => call('bash', { command, description: 'x' }),
    failing: [call('read', { filePath: 'missing.txt' })],
    scope: 'project',
    advice: { atPrompt: 'one request', onCall: 'stays', onFailure: 'one request', atStop: 'not delivered' },
    scenes: {
      'refused call': {
        call: call('bash', { command: 'rm -f x', description: 'x' }),
        prepare: ({ project }) =>
          changeJson(join(project, 'opencode.json'), { permission: { bash: { '*': 'allow', 'rm *': 'deny' } } }),
      },
      'hung command': { call: call('bash', { command: 'sleep 30', description: 'x', timeout: 1_000 }) },
      subagent: { call: call('task', { description: 'sub', prompt: 'SUBTASK', subagent_type: 'general' }) },
      compaction: {
        prepare: ({ project, url }) => {
          const options = { baseURL: `${url}/v1`, apiKey: KEY };
          const m = { name: 'm', tool_call: true, limit: { context: 3_000, output: 100 } };
          const fake = { npm: '@ai-sdk/openai-compatible', options, models: { m } };
          changeJson(join(project, 'opencode.json'), { provider: { fake } });
        },
      },
      fork: { nextArgs: (prompt) => ['run', '-c', '--fork', '--auto', '--model', 'fake/m', prompt] },
    },
    hasTokens: true,
    isUnpriced: true,
  },
  pi: {
    package: '@earendil-works/pi-coding-agent',
    version: '1.6.0',
    program: 'pi',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare({ home, url }) {
      mkdirSync(join(home, '.pi', 'agent'), { recursive: true });
      const fake = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: KEY, models: [{ id: 'm' }] };
      writeFileSync(join(home, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { fake } }));
    },
    env: () => ({ PI_OFFLINE: '1' }),
    resumeArgs: (prompt) => ['-c', '-p', '-a', '--provider', 'fake', '--model', 'm', prompt],
    args: (prompt) => ['-p', '-a', '--provider', 'fake', '--model', 'm', prompt],
    shell: (command) => call('bash', { command }),
    failing: [call('read', { path: 'missing.txt' }), call('nope_tool', {})],
    scope: 'user',
    advice: { atPrompt: 'one request', onCall: 'stays', onFailure: 'stays', atStop: 'not delivered' },
    scenes: {
      'refused call': 'it has no rules about tools: it runs every call',
      'hung command': { call: call('bash', { command: 'sleep 30', timeout: 1 }) },
      subagent: 'it has no subagents',
      compaction: {
        prepare: ({ home }) =>
          writeIn(
            join(home, '.pi', 'agent'),
            'settings.json',
            JSON.stringify({ compaction: { enabled: true, reserveTokens: 126_000, keepRecentTokens: 1 } }),
          ),
      },
      fork: {
        nextArgs: (prompt, [file = '']) => ['--fork', file, '-p', '-a', '--provider', 'fake', '--model', 'm', prompt],
      },
    },
    hasTokens: true,
    isUnpriced: true,
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    program: 'qwen',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare: ({ home }) =>
      writeIn(
        join(home, '.qwen'),
        'settings.json',
        JSON.stringify({
          telemetry: { enabled: false },
          privacy: { usageStatisticsEnabled: false },
          general: { enableAutoUpdate: false },
        }),
      ),
    env: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
    resumeArgs: (prompt) => ['-c', '--auth-type', 'openai', '-m', 'm', '-y', '-p', prompt],
    args: (prompt) => ['--auth-type', 'openai', '-m', 'm', '-y', '-p', prompt],
    shell: (command) => call('run_shell_command', { command, description: 'x', is_background: false }),
    failing: [call('list_directory', { path: '/missing' }), call('nope_tool', {})],
    scope: 'user',
    advice: { atPrompt: 'stays', onCall: 'stays', onFailure: 'stays', atStop: 'one more turn' },
    scenes: {
      'refused call': {
        call: call('run_shell_command', { command: 'rm -f x', description: 'x', is_background: false }),
        prepare: ({ home }) =>
          changeJson(join(home, '.qwen', 'settings.json'), { permissions: { deny: ['run_shell_command(rm *)'] } }),
      },
      'hung command': {
        call: call('run_shell_command', { command: 'cat /dev/zero | tail', is_background: false, timeout: 1_000 }),
      },
      subagent: {
        call: call('agent', { description: 'sub', prompt: 'SUBTASK', subagent_type: 'general-purpose' }),
      },
      compaction: 'it drops the summary of the fake model, which does not make the conversation smaller',
      fork: {
        nextArgs: (prompt) => ['-c', '--fork-session', '--auth-type', 'openai', '-m', 'm', '-y', '-p', prompt],
      },
    },
    hasTokens: true,
    isUnpriced: true,
    hasNoEnd: true,
  },
};

type FileHostDriver = Pick<
  HostDriver,
  | 'package'
  | 'version'
  | 'program'
  | 'ownPackage'
  | 'startServer'
  | 'prepare'
  | 'env'
  | 'args'
  | 'resumeArgs'
  | 'shell'
  | 'failing'
>;

/** Programs without our hooks, whose session files are read. */
export const FILE_HOSTS: Readonly<Record<'kimi-code', FileHostDriver>> = {
  'kimi-code': {
    package: '@moonshot-ai/kimi-code',
    version: '2.1.0',
    program: 'kimi',
    startServer: async (options) => startFakeOpenAiServer(withTools(options)),
    prepare: ({ home, url }) =>
      writeIn(
        join(home, '.kimi-code'),
        'config.toml',
        `default_model = "m"\n[providers.fake]\ntype = "openai"\nbase_url = "${url}/v1"\napi_key = "${KEY}"\n` +
          '[models.m]\nprovider = "fake"\nmodel = "m"\nmax_context_size = 200000\n',
      ),
    env: () => ({}),
    resumeArgs: (prompt) => ['-c', '-p', prompt],
    args: (prompt) => ['-p', prompt],
    shell: (command) => call('Bash', { command }),
    failing: [call('Read', { path: '/missing' })],
  },
};
