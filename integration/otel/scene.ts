/** The scene of every agent here. The test takes the model's side from it, and the agents take the tools. */
import type { ModelTurn } from '../../src/testing/model-script.ts';

export const PROMPT = 'Fix it.';

/** Two calls at once, then the same failing call four times, then one that succeeds. */
export const TURNS: readonly ModelTurn[] = [
  {
    calls: [
      { name: 'read', args: { path: 'a.ts' } },
      { name: 'bash', args: { command: 'make' } },
    ],
  },
  ...Array.from({ length: 4 }, () => ({ calls: [{ name: 'bash', args: { command: 'npm test' } }] })),
  { text: 'Once more.', calls: [{ name: 'read', args: { path: 'b.ts' } }] },
  { text: 'I give up.' },
];

/** Of either tool. */
export interface ToolArguments {
  readonly path?: string;
  readonly command?: string;
}

/** JSON schema of the arguments of both tools. */
export const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, command: { type: 'string' } },
} as const;

/** @throws Error for the failing command */
export async function runTool(name: string, args: ToolArguments): Promise<string> {
  if (name === 'read') return `// ${args.path}\nexport {}`;
  if (args.command === 'npm test') throw new Error('1 test failed: sum adds');
  return `ran ${args.command}`;
}
