// A program of `coxswain/edge`, in a world that has the globals of the web alone: no module, no `process`, no `Buffer`. The path of
// the entry is the argument. Prints what the agent reads.
import { readFileSync } from 'node:fs';
import { createContext, SourceTextModule } from 'node:vm';

const lines = [];
const { crypto, performance, setTimeout, structuredClone } = globalThis;
const context = createContext({
  TextEncoder,
  URL,
  crypto,
  performance,
  setTimeout,
  structuredClone,
  say: (text) => lines.push(text),
});
const link = (specifier) => {
  if (specifier !== 'coxswain/edge') throw new Error(`the bundle imports ${specifier}`);
  return new SourceTextModule(readFileSync(process.argv[2], 'utf8'), { context });
};
const program = new SourceTextModule(
  `
import { collectFeedback, createSession, definePrompt, patternFeedback, toolInvoked } from 'coxswain/edge';
const session = createSession({ clock: { nowMs: () => 1_000_000 } });
const prompt = definePrompt({ ns: 'a', key: 'b', feedbackProviders: [{ provider: patternFeedback(), trigger: { everyNCalls: 1 } }] });
for (let at = 0; at < 4; at += 1)
  session.dispatch(toolInvoked({ name: 'bash', params: { command: 'make | tail -1' }, result: 'No rule', success: false }));

say(collectFeedback({ prompt, session }) ?? 'nothing');
`,
  { context },
);
await program.link(link);
await program.evaluate();
process.stdout.write(lines.join('\n'));
