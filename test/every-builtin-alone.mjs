// Asks every built-in provider, classifier and observer of the installed package, with a session and without a run. Prints, by
// name, whether it spoke when it should, whether it was silent after one call, and which built-ins were not asked.
import * as exported from 'coxswain';

/** The exports by name, as values that may be looked up. */
const cox = { ...exported };

const NOW_MS = 1_000_000;
const clock = { nowMs: () => NOW_MS };
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const read = (path, result) => ({ name: 'read_file', params: { path }, result });
const failing = times(8, () => ({
  name: 'bash',
  params: { command: 'make' },
  result: 'make: *** No rule to make target. Stop.',
  success: false,
}));
const failingTwo = failing.map((call, at) => ({ ...call, name: at < 4 ? 'read_file' : 'list_files' }));
const reading = times(30, (at) => read(`a${at}`, `text of ${at}`));
const idle = times(40, (at) => read(`a${at % 7}`, `text of ${at % 7}`));
const drifting = times(40, (at) => read(at < 10 ? `src/parser/f${at}.ts` : `menu/soup/m${at}.md`, `text ${at}`));
const one = [read('a', 'a text')];
const large = [read('a', 'a'), read('b', 'x'.repeat(50_000))];
const secret = [{ toolCallId: 'c', toolName: 'bash', args: { password: 'hunter2-hunter2' } }];
const deadline = { deadline: { atMs: NOW_MS + 60_000 } };
const full = { context: { tokens: 180_000, window: 200_000, share: 0.9 } };
const limits = { limits: [{ usedPercent: 92, windowMinutes: 300, resetsAtMs: NOW_MS + 60_000 }] };
const budget = { budget: { calls: 31 }, usage: { calls: 30 } };

/** By name: its arguments, calls at which it speaks, what else is known, and whether one call is enough. */
const CASES = {
  afterCompaction: { calls: one, known: { trajectory: { compactions: 1 } }, isAlways: true },
  allOf: { args: [cox.errorStreak()], calls: failing },
  anyOf: { args: [cox.errorStreak()], calls: failing },
  consultationPrompt: { args: [{ consultationTool: 'request_review' }], calls: failing },
  contextFeedback: { calls: one, known: full, isAlways: true },
  deadlineFeedback: { calls: one, known: deadline, isAlways: true },
  deadlineObserver: { calls: one, known: deadline, isAlways: true },
  diagnosticSignal: { args: [{ logToolName: 'view_logs' }], calls: failing },
  doomLoop: { calls: failing },
  doomLoopGuidance: { calls: failing },
  driftFeedback: { calls: drifting },
  errorCascadeFeedback: { calls: failingTwo },
  errorStreak: { calls: failing },
  highToolCount: { args: [{ threshold: 20 }], calls: reading },
  largeOutput: { calls: large },
  limitAhead: { calls: one, known: limits, isAlways: true },
  not: { args: [cox.errorStreak()], calls: one, isAlways: true },
  observerAsProvider: { args: [cox.deadlineObserver()], calls: one, known: deadline, isAlways: true },
  paceFeedback: { calls: reading, known: budget, isAlways: true },
  parallelToolReminder: { calls: reading },
  patternFeedback: { calls: failing },
  progressStall: { calls: idle },
  recentFailures: { calls: failing },
  sensitiveContentPending: { calls: one, known: { pendingToolCalls: secret }, isAlways: true },
  sequentialWhenParallel: { calls: reading },
  singleToolRepeated: { calls: reading },
  stallFeedback: { calls: idle },
  staticFeedback: { args: [{ name: 'Own', summary: 'So.' }], calls: one, isAlways: true },
  threshold: { args: [cox.errorStreak(), 0.5], calls: failing },
  toolUsageMonitor: { calls: reading, isAlways: true },
};

function speaks(name, { args = [], known = {} }, calls) {
  const made = cox[name](...args);
  const session = cox.createSession({ clock, task: 'Fix the parser.' });
  for (const call of calls) session.dispatch(cox.toolInvoked(call));
  if (made.classify !== undefined && made.provide === undefined) {
    return made.classify(cox.createGuidanceContext(session, known)).relevant;
  }
  if (made.classify !== undefined) {
    const guidanceProviders = [{ provider: made, minConfidence: 0 }];
    const prompt = cox.definePrompt({ ns: 'a', key: 'b', guidanceProviders });
    const [decisionPoint = 'pre_tool_selection'] = made.decisionPoints ?? [];
    return cox.collectGuidance(cox.createGuidanceContext(session, { prompt, decisionPoint, ...known })).length > 0;
  }
  const provider = made.observe === undefined ? made : cox.observerAsProvider(made);
  const feedbackProviders = [{ provider, trigger: made.defaultTrigger ?? { everyNCalls: 1 } }];
  const prompt = cox.definePrompt({ ns: 'a', key: 'b', feedbackProviders });
  return cox.collectFeedback({ prompt, session, ...known }) !== undefined;
}

/** Whether an export makes a provider, a classifier or an observer. */
function makesOne(make) {
  for (const args of [[{}], []]) {
    try {
      const made = make(...args);
      if (made instanceof Promise) made.catch(() => undefined);
      return [made?.classify, made?.provide, made?.observe].some((member) => typeof member === 'function');
    } catch {
      // Not with these arguments.
    }
  }
  return false;
}

const builtIns = Object.keys(cox).filter((name) => typeof cox[name] === 'function' && makesOne(cox[name]));
process.stdout.write(
  JSON.stringify({
    silent: Object.keys(CASES).filter((name) => !speaks(name, CASES[name], CASES[name].calls)),
    loud: Object.keys(CASES).filter(
      (name) => CASES[name].isAlways !== true && speaks(name, CASES[name], CASES[name].calls.slice(0, 1)),
    ),
    asked: Object.keys(CASES).length,
    notAsked: builtIns.filter((name) => CASES[name] === undefined),
  }),
);
