import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { FormatName, DocumentImporter, LineImporter } from '../src/formats/importer.ts';
import { importers } from '../src/formats/importers.ts';
import { surest } from '../src/formats/reading/choose-importer.ts';
import { importDocument, importLines } from './support/import-check.ts';
import { mutatedJson } from './support/json-mutation.ts';

/**
 * The real program's actions while it wrote the sample, according to its screen and the fake model server. The samples of Kimi CLI, Aider and
 * goose are made after public descriptions.
 */
interface Sample {
  readonly file: string;
  readonly format: FormatName;
  readonly runs: readonly RunFacts[];
}

interface RunFacts {
  readonly id: string;
  readonly parentId?: string;
  readonly task?: string;
  /** Turns of the model. */
  readonly turns: number;
  /** `tool` for a call that succeeded, `tool!` for one that failed, `tool?` for one without a result. */
  readonly calls: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly modelId: string | undefined;
  readonly lastAnswer: string;
  readonly outcome: string | undefined;
}

const CODEX_CALLS =
  'exec_command! exec_command exec_command! shell_command! nope_tool! exec_command! apply_patch! apply_patch! exec_command view_image! update_plan!';

const samples: readonly Sample[] = [
  {
    file: 'codex-rollout.jsonl',
    format: 'codex',
    runs: [
      {
        id: '01a2067c-0393-7311-902d-3296b6a5969f',
        task: 'list the files',
        turns: 11,
        calls: CODEX_CALLS,
        inputTokens: 1_166,
        outputTokens: 220,
        modelId: 'm',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'copilot-events.jsonl',
    format: 'copilot',
    runs: [
      {
        id: 'd0ccf641-c924-4a47-aa75-be2f20ca0dc6',
        task: 'list the files',
        turns: 8,
        calls: 'bash! view bash! view! nope_tool! bash! bash! task',
        inputTokens: 837,
        outputTokens: 160,
        modelId: 'gpt-5.4',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
      {
        id: 'd0ccf641-c924-4a47-aa75-be2f20ca0dc6/agent-89d1b4e2-f509-4f28-9418-f0f33f41a119',
        parentId: 'd0ccf641-c924-4a47-aa75-be2f20ca0dc6',
        task: 'Look at files',
        turns: 1,
        calls: '',
        inputTokens: 108,
        outputTokens: 20,
        modelId: 'gpt-5.4',
        lastAnswer: 'sub done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'codex-exec.jsonl',
    format: 'codex',
    runs: [
      {
        id: '01a2067c-0393-7311-902d-3296b6a5969f',
        // It prints neither the prompt nor calls that it refuses, and a call that still runs at the end has no result.
        turns: 3,
        calls: 'exec_command! exec_command exec_command! exec_command?',
        inputTokens: 1_166,
        outputTokens: 220,
        modelId: undefined,
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'gemini-chat.jsonl',
    format: 'gemini',
    runs: [
      {
        id: 'd201162f-c9cc-494f-a2a2-2a57221be6cd',
        task: 'list the files',
        turns: 6,
        calls: 'run_shell_command! read_file run_shell_command! read_file! nope_tool! write_file',
        inputTokens: 621,
        outputTokens: 150,
        modelId: 'gemini-3.1-pro-preview',
        lastAnswer: 'all done',
        outcome: undefined,
      },
    ],
  },
  {
    file: 'gemini-stream.jsonl',
    format: 'gemini',
    runs: [
      {
        id: 'd201162f-c9cc-494f-a2a2-2a57221be6cd',
        task: 'list the files',
        turns: 6,
        calls: 'run_shell_command! read_file run_shell_command! read_file! nope_tool! write_file',
        inputTokens: 621,
        outputTokens: 150,
        modelId: 'gemini-3-pro-preview',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'opencode-export.jsonl',
    format: 'opencode',
    runs: [
      {
        id: 'ses_df96ea56fffe14uIpse21bawgq',
        task: '"list the files"',
        turns: 5,
        calls: 'bash! read read! nope_tool! task',
        inputTokens: 516,
        outputTokens: 100,
        modelId: 'm',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'opencode-run.jsonl',
    format: 'opencode',
    runs: [
      {
        id: 'ses_df96ea56fffe14uIpse21bawgq',
        turns: 5,
        // Calls of one answer come in the order in which they end.
        calls: 'read bash! read! nope_tool! task',
        inputTokens: 466,
        outputTokens: 100,
        modelId: undefined,
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'pi-session.jsonl',
    format: 'pi',
    runs: [
      {
        id: '01a2068e-ce48-72f8-868c-3321413922af',
        task: 'list the files',
        turns: 5,
        calls: 'bash! read read! nope_tool!',
        inputTokens: 515,
        outputTokens: 100,
        modelId: 'm',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'qwen-chat.jsonl',
    format: 'qwen-code',
    runs: [
      {
        id: '026605e3-ca42-4ecb-b810-7071c18acadd',
        task: 'Investigate',
        turns: 5,
        calls: 'run_shell_command run_shell_command! nope_tool! run_shell_command run_shell_command!',
        inputTokens: 6_000,
        outputTokens: 170,
        modelId: 'qwen3-coder-plus',
        lastAnswer: 'Done.',
        outcome: undefined,
      },
    ],
  },
  {
    file: 'kimi-wire.jsonl',
    format: 'kimi',
    runs: [
      {
        id: 'kimi-wire',
        task: 'list the files',
        turns: 4,
        calls: 'Shell Shell! Task',
        inputTokens: 600,
        outputTokens: 80,
        modelId: undefined,
        lastAnswer: 'all done',
        outcome: 'ended',
      },
      {
        id: 'kimi-wire/agent-Task:0',
        parentId: 'kimi-wire',
        task: 'look at files',
        turns: 1,
        calls: '',
        inputTokens: 150,
        outputTokens: 20,
        modelId: undefined,
        lastAnswer: 'sub done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'kimi-code-wire.jsonl',
    format: 'kimi-code',
    runs: [
      {
        id: 'kimi-code-wire',
        task: 'list the files',
        turns: 5,
        calls: 'Bash NopeTool! Bash! Read! Agent Write',
        inputTokens: 500,
        outputTokens: 100,
        modelId: 'm',
        lastAnswer: 'all done',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'aider-history.txt',
    format: 'aider',
    runs: [
      {
        id: 'aider-2026-11-03T09:15:02',
        task: 'Make the parser accept\n\nempty input.',
        turns: 2,
        calls: 'edit! edit edit git',
        inputTokens: 7_700,
        outputTokens: 640,
        modelId: 'openai/gpt-6-sol',
        lastAnswer: expect.stringMatching(/^I match the lines/) as string,
        outcome: 'ended',
      },
      {
        id: 'aider-2026-11-03T11:40:10',
        task: 'Add a changelog.',
        turns: 2,
        calls: 'edit run_shell_command?',
        inputTokens: 4_100,
        outputTokens: 210,
        modelId: 'openai/gpt-6-sol',
        lastAnswer: 'I fixed the import.',
        outcome: 'ended',
      },
    ],
  },
  {
    file: 'goose-session.jsonl',
    format: 'goose',
    runs: [
      {
        id: 'goose-session',
        task: 'list the files',
        turns: 3,
        calls: 'developer__shell developer__shell! unknown!',
        inputTokens: 0,
        outputTokens: 0,
        modelId: 'm',
        lastAnswer: 'all done',
        outcome: undefined,
      },
    ],
  },
];

const folder = fileURLToPath(new URL('session-samples/', import.meta.url));

test.each(samples)(
  '$file gives the runs, calls, failures, usage and answers of the session',
  ({ file, format, runs }) => {
    const imported = importedFrom(file);
    expect(imported.format).toBe(format);
    expect(imported.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(imported.runs.map((run) => factsOf(run))).toEqual(runs);
  },
);

test.each(samples)('$file that is cut off anywhere gives the runs and calls up to there', ({ file }) => {
  const sample = sampleOf(file);
  if (sample.importer.shape !== 'lines') return;
  const { importer, values } = sample;
  let calls = 0;
  for (let count = 0; count <= values.length; count += 1) {
    const { runs } = importLines(importer, values.slice(0, count), file);
    const now = runs.reduce((sum, run) => sum + run.calls.length, 0);
    expect(now).toBeGreaterThanOrEqual(calls);
    calls = now;
  }
});

test.each(samples)('whatever stands in the place of a part of $file, the items keep their promises', ({ file }) => {
  const { importer, values } = sampleOf(file);
  const last = values.length - 1;
  const mutation = fc.nat(last).chain((at) => mutatedJson(values[at]).map((value) => ({ at, value })));
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), fc.nat(last), (mutations, repeated) => {
      const lines = [...values];
      for (const { at, value } of mutations) lines[at] = value;
      if (importer.shape === 'document') {
        importDocument(importer, lines[0], file);
        return;
      }
      importLines(importer, [...lines, ...lines.slice(repeated)], file);
      expect(importer.recognise(lines.slice(0, 32), { path: file, name: file })).toBeLessThanOrEqual(1);
    }),
    { numRuns: 200 },
  );
});

function sampleOf(file: string): {
  readonly importer: LineImporter | DocumentImporter;
  readonly values: readonly unknown[];
} {
  const lines = readFileSync(`${folder}${file}`, 'utf8').trim().split('\n');
  const source = { path: file, name: file };
  const text = importers.find((importer) => importer.shape === 'text' && importer.recognise(lines, source) > 0.85);
  if (text?.shape === 'text') return { importer: { ...text, shape: 'lines', recognise: () => 1 }, values: lines };
  const values = lines.map((line): unknown => JSON.parse(line));
  const readers = importers.filter(({ shape }) => shape === 'lines' || shape === 'document') as readonly (
    | LineImporter
    | DocumentImporter
  )[];
  const best = surest(readers, (importer) => {
    if (importer.shape === 'document') return values.length === 1 ? importer.recognise(values[0], source) : 0;
    return importer.recognise(values.slice(0, 32), source);
  });
  if (best === undefined) throw new Error('there are no importers');
  expect(best.confidence).toBeGreaterThan(0.85);
  return { importer: best.importer, values };
}

function importedFrom(file: string): ReturnType<typeof importLines> & { readonly format: FormatName } {
  const { importer, values } = sampleOf(file);
  const imported =
    importer.shape === 'lines' ? importLines(importer, values, file) : importDocument(importer, values[0], file);
  return { ...imported, format: importer.format };
}

function factsOf({ run, payloads, calls, ends }: ReturnType<typeof importLines>['runs'][number]): RunFacts {
  const endOf = new Map(ends.map((end) => [end.tool_call_id, end]));
  const answers = payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant' ? [payload.message] : [],
  );
  const end = payloads.find((payload) => payload.kind === 'run_ended');
  const sum = (name: 'input_tokens' | 'output_tokens'): number =>
    answers.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0);
  const texts = answers.map(({ content }) =>
    typeof content === 'string'
      ? content
      : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
  );
  return {
    id: run.id,
    ...(run.parentId === undefined ? {} : { parentId: run.parentId }),
    ...(run.task === undefined ? {} : { task: run.task }),
    turns: payloads.filter(({ kind }) => kind === 'turn_started').length,
    calls: calls
      .map(({ tool_call_id: id, tool_name: name }) => {
        const ended = endOf.get(id);
        return `${name}${ended?.result_missing === true ? '?' : ended?.is_error === true ? '!' : ''}`;
      })
      .join(' '),
    inputTokens: sum('input_tokens'),
    outputTokens: sum('output_tokens'),
    modelId: answers.at(-1)?.model_id,
    lastAnswer: texts.at(-1) ?? '',
    outcome: end?.outcome,
  };
}
