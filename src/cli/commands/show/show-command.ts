import { encodeRecord } from '../../../core/records/decode-record.ts';
import { followedText } from '../../../core/facts/followed-text.ts';
import { sentenceText } from '../../../core/facts/run-story.ts';
import type { RunView } from '../../../core/facts/run-view.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import { present } from '../../../core/base/json.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { sessionFolder, findSources } from '../../../formats/find-sources.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import { branchText, commitsText, pullRequestsText, uncommittedText } from '../../../core/facts/work-text.ts';
import { checkResult, hasFailed } from '../../../core/facts/run-verdict.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import { linesOf, listBlock, sectionOf, styled, type Block, type Text } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { printable, printableCut, printableJson, outputLine } from '../../../core/base/printable.ts';
import { inWords } from '../../../core/records/words.ts';
import { localTimeText, shellWord, timeText } from '../../terminal/time-text.ts';
import { lostAtEnd, lostAtEndText, Problems } from '../../runs/problems.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { secretRemover } from '../../runs/run-totals.ts';
import { createRunFold } from '../../runs/run-recorder.ts';
import {
  belowFacts,
  changedFiles,
  familyOf,
  isSideRun,
  namesOf,
  patternBlocks,
  titleItem,
} from '../../runs/run-blocks.ts';
import {
  lookAtRun,
  namedRun,
  type NumberedRun,
  runOfMachine,
  sessionNamed,
  viewCommandOf,
} from '../../runs/numbered-runs.ts';
import { completedBy } from '../../runs/recorded-session.ts';
import { markStanding, mayStand, standingNow } from '../../runs/run-standing.ts';
import { runsOfSources, runsOfStore } from '../../runs/runs-from.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import type { StoreReader } from '../../../core/store/trajectory-store.ts';
import { factsJson, patternJson } from '../../../core/facts/run-facts.ts';
import { checksWith, judgedWith } from '../../../core/facts/subagent-work.ts';
import { CoxswainError } from '../../../core/base/error.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { callReadingDocument, explainCall } from './show-call.ts';
import { StoredNames, withoutNumber } from '../../../core/facts/task-title.ts';

const MAX_ADVICE = 20;
const MAX_FILES = 6;
const MAX_SUBAGENTS = 6;

export interface ShowOptions {
  readonly store?: string;
  readonly call?: string;
  readonly json?: boolean;
  readonly hints?: boolean;
  readonly recompute?: boolean;
}

/** Throws CoxswainError `input-io` without such a run; `invalid-argument` if several match or the call does not exist. */
export async function showCommand(idStart: string, options: ShowOptions, terminal: Terminal): Promise<number> {
  if (options.store !== undefined) return showRecordedRun(idStart, options.store, options, terminal);
  const run = await runOfMachine(idStart, terminal);
  return run.isStore
    ? showRecordedRun(run.id, run.path, { ...options, name: idStart }, terminal)
    : showTranscriptRun(run, { ...options, idStart }, terminal);
}

async function showRecordedRun(
  idStart: string,
  file: string,
  { name, ...options }: ShowOptions & { readonly name?: string },
  terminal: Terminal,
): Promise<number> {
  const store = await openReadableStore(file);
  try {
    const run = await namedRun(store, idStart, file);
    if (options.call !== undefined) return await showCall(run.runId, store.readRun(run.runId), options, terminal);
    if (options.json === true) {
      for await (const record of store.readRun(run.runId)) await terminal.write(printableJson(encodeRecord(record)));
      return 0;
    }
    const { hints = false, recompute = false } = options;
    const fold = createRunFold(run.runId, { hints, recompute });
    for await (const record of store.readRun(run.runId)) fold.fold(record);
    const standing = mayStand(fold) ? await standingNow() : undefined;
    if (standing !== undefined) markStanding(fold, standing);
    const recorded = fold.facts(systemClock.nowMs());
    const files = options.store === undefined ? await filesOf(store, run, terminal) : undefined;
    const project = recorded.project ?? files?.get(run.runId)?.project;
    const alone = { ...completedBy(recorded, files?.get(run.runId)), ...present({ project }) };
    const below = (await familyIn(store, recorded)).map((one) => completedBy(one, files?.get(one.id)));
    const report = judgedWith(alone, below);
    const path = shownStore(file);
    const ofStore = options.store === undefined ? '' : ` --store ${shellWord(path)}`;
    const ownFile = files?.get(run.runId)?.source;
    const folder = (ownFile === undefined ? undefined : await sessionFolder(ownFile, report.id)) ?? report.project;
    const done = doneLines(report, {
      below,
      project: report.project,
      ...present({ folder }),
      ...(isNumber(name) ? { number: name } : {}),
      show: ({ id }) => `coxswain show ${shellWord(id)}${ofStore}`,
      view: ({ id }, call) => viewCommandOf({ id, path }, { call, isSession: false }),
    });
    const story = fold.story().map((sentence) => [sentence.name, sentenceText(sentence)]);
    const blocks: readonly Block[] = [
      listBlock([titleItem(report, [...headerLines(run, file), ...done])]),
      ...(story.length === 0 ? [] : [{ type: 'table', left: [1], rows: story } as const]),
      ...patternBlocks(report),
      ...adviceBlocks(fold.view),
    ];
    await terminal.write(terminalText({ blocks }, terminal));
    return 0;
  } finally {
    await store.close();
  }
}

/** What the file of a recorded session has of its runs, by their ids in the store, as the report reads it. */
async function filesOf(
  store: StoreReader,
  { conversationId, runId }: RunSummary,
  terminal: Terminal,
): Promise<ReadonlyMap<string, RunFacts>> {
  const files = new Map<string, RunFacts>();
  const sessionId = conversationId ?? withoutNumber(runId);
  const session = await sessionNamed(sessionId).catch(() => undefined);
  if (session?.id !== sessionId) return files;
  const stored = new StoredNames();
  for await (const run of allRuns(store)) stored.add(run);
  const query = { problems: new Problems(terminal), ...present({ standing: await standingNow() }) };
  for await (const found of runsOfSources(findSources([session.path]), query)) {
    const id = stored.idOf(found.id) ?? '';
    if ((files.get(id)?.calls ?? 0) <= found.calls) files.set(id, found);
  }
  return files;
}

async function familyIn(store: StoreReader, run: RunFacts): Promise<readonly RunFacts[]> {
  const ids = new Set([run.id]);
  const parents = new Map<string, string | undefined>();
  for await (const { parentRunId, runId } of allRuns(store)) parents.set(runId, parentRunId);
  // A set visits what is added while it is read.
  for (const id of ids) for (const [child, parent] of parents) if (parent === id) ids.add(child);
  const isLeftOut = (id: string): boolean => id === run.id || !ids.has(id);
  return Array.fromAsync(runsOfStore(store, { sinceMs: 0, isLeftOut }));
}

async function showTranscriptRun(
  { below = [], id, path }: NumberedRun,
  { idStart, ...options }: ShowOptions & { readonly idStart: string },
  terminal: Terminal,
): Promise<number> {
  if (options.call !== undefined) return showCall(id, recordsOfSession(path, id), options, terminal);
  const isSession = (await sessionNamed(id).catch(() => undefined))?.path === path;
  const problems = new Problems(terminal);
  const { hints = false, json = false, recompute = false } = options;
  const standing = await standingNow();
  const query = { problems, hints, recompute, reportsDamage: true, ...present({ standing }) };
  const runs: RunFacts[] = [];
  for await (const found of runsOfSources(findSources([path, ...below]), query)) runs.push(found);
  // A report on several files adds a number to an id that occurs twice.
  const alone = runs.find((one) => one.id === id || one.id === withoutNumber(id));
  if (alone === undefined)
    throw new CoxswainError('input-io', `${printable(path)}: run ${printableCut(id, 80)} is no longer in this file`);
  const family = familyOf(
    alone,
    Map.groupBy(runs, ({ parentId }) => parentId),
  );
  const run = judgedWith(alone, family);
  if (json) await terminal.write(outputLine(factsJson(run)));
  else {
    const folder = await sessionFolder(path, id);
    const done = doneLines(run, {
      below: family,
      project: projectAt(folder),
      ...present({ folder }),
      ...(isNumber(idStart) ? { number: idStart } : {}),
      show: (one) =>
        one === run
          ? `coxswain show ${shellWord(idStart)}`
          : lookAtRun({ id: one.id, path: one.source, isStore: false }),
      view: (one, call) =>
        viewCommandOf(one === run ? { id, path } : { id: one.id, path: one.source }, { call, isSession }),
    });
    await terminal.write(
      terminalText({ blocks: [listBlock([titleItem(run, done)]), ...patternBlocks(run)] }, terminal),
    );
  }
  return problems.any ? 1 : 0;
}

async function showCall(
  runId: string,
  records: AsyncIterable<TrajectoryRecord>,
  { call = '', json = false }: ShowOptions,
  terminal: Terminal,
): Promise<number> {
  const number = wholeOption('--call', call, [1, Number.MAX_SAFE_INTEGER]);
  const reading = await explainCall(runId, number, records);
  await terminal.write(
    json
      ? outputLine({ ...reading, patterns: reading.patterns.map(patternJson) })
      : terminalText(callReadingDocument(reading), terminal),
  );
  return 0;
}

/** The records of one run of a session file, without secrets. */
async function* recordsOfSession(path: string, id: string): AsyncGenerator<TrajectoryRecord> {
  const withoutSecrets = secretRemover();
  for await (const item of readRuns(importSource(path), { source: path }))
    if (item.type === 'record' && (item.run.id === id || item.run.id === withoutNumber(id)))
      yield withoutSecrets(item.record);
}

function timesText({ lastAtMs, startedAtMs, verdict }: RunFacts): readonly string[] {
  if (startedAtMs === 0) return [];
  const isOpen = /^(?:open|waiting|cut_off|unknown)$/.test(verdict.verdict);
  return [`started ${localTimeText(startedAtMs)}, ${isOpen ? 'last record' : 'ended'} ${timeText(lastAtMs)}`];
}

interface DoneParts {
  readonly project: string | undefined;
  /** Where its program runs. */
  readonly folder?: string;
  readonly below: readonly RunFacts[];
  /** Its number in the last report, if it was named so. */
  readonly number?: string;
  /** The commands that show a run here and in the browser. */
  readonly show: (one: RunFacts) => string;
  readonly view: (one: RunFacts, call: number | undefined) => string;
}

function isNumber(name: string | undefined): name is string {
  return name !== undefined && /^\d{1,4}$/.test(name);
}

/** When it ran, what to open first, what it left behind, its last words, and how its program goes on with it. */
function doneLines(run: RunFacts, parts: DoneParts): readonly Text[] {
  const { below, folder, project } = parts;
  const resume = RESUMES[run.format];
  const hasEnded = run.ending !== undefined || run.verdict.verdict === 'cut_off';
  return [
    ...timesText(run),
    ...(run.verdict.cause === 'running' || run.verdict.cause === 'silent'
      ? ['its records do not say why it ended']
      : []),
    ...belowFacts(run, below),
    ...firstLines(run, parts),
    ...subagentLines(below, parts),
    ...(run.question === undefined ? [] : [`it asks: ${printableCut(run.question, 200)}`]),
    ...refusedLines(run, project),
    ...faultLines(run),
    ...workLines(run, project),
    ...(run.lastRequest === undefined ? [] : [`last request: ${printableCut(run.lastRequest, 200)}`]),
    ...answerLines(run),
    ...(resume === undefined || !hasEnded || run.parentId !== undefined
      ? []
      : [
          `to go on${folder === undefined ? ', in its folder' : ''}:`,
          styled('code', resumeCommand(resume, run.id, folder)),
        ]),
  ];
}

/** What each subagent was to do, how it ended, and how to open it: those that failed come first. */
function subagentLines(below: readonly RunFacts[], { show }: DoneParts): readonly Text[] {
  const rank = ({ verdict }: RunFacts): number => Number(!hasFailed(verdict.verdict) && verdict.cause !== 'check');
  const subagents = below.filter((one) => !isSideRun(one)).toSorted((a, b) => rank(a) - rank(b));
  const more = subagents.length - MAX_SUBAGENTS;
  return [
    ...subagents
      .slice(0, MAX_SUBAGENTS)
      .flatMap((one) => [
        `subagent ${namesOf(one).title}: ${printableCut(one.verdict.evidence, 120)}`,
        styled('code', show(one)),
      ]),
    ...(more > 0 ? [`and ${countOf(more, 'more subagent')}`] : []),
  ];
}

/** The call at which it went wrong, if one is known, in the subagent that made it. */
function firstLines(run: RunFacts, { below, number, show, view }: DoneParts): readonly Text[] {
  const { cause, evidence, why = evidence } = run.verdict;
  const failed = cause === 'check' ? checksWith(run.checks, below).findLast((check) => check.failed) : undefined;
  const agent = below.find(({ id }) => id === failed?.agent);
  const moment = run.moments.find(({ call: at }) => at !== undefined);
  const call = agent === undefined ? moment?.call : failed?.number;
  const what = agent === undefined ? moment?.what : why;
  const hasNumber = agent === undefined && number !== undefined;
  const calls = call === undefined ? '' : ` --call ${call}`;
  const opened = hasNumber ? `coxswain ${number}` : show(agent ?? run);
  return [
    ...(call === undefined || what === undefined
      ? []
      : [
          `open first call ${countText(call)}${what === evidence ? ', its last' : `: ${printableCut(what, 200)}`}`,
          styled('code', `${opened}${calls}`),
        ]),
    styled('code', hasNumber ? `coxswain view ${number}${calls}` : view(agent ?? run, call)),
  ];
}

/** The first line of the last message, and its end, where results and questions stand. */
function answerLines({ lastMessage, lastParagraph }: RunFacts): readonly string[] {
  if (lastMessage === undefined) return [];
  if (lastParagraph === undefined) return [`“${printableCut(lastMessage, 300)}”`];
  const [first = ''] = lastMessage.split('\n', 1);
  return [`“${printableCut(first, 140)} […] ${printableCut(lastParagraph, 300)}”`];
}

function resumeCommand(resume: string, id: string, folder: string | undefined): string {
  return `${folder === undefined ? '' : `cd ${shellWord(folder)} && `}${resume} ${shellWord(withoutNumber(id))}`;
}

function refusedLines(
  { declined = 0, refused = 0, refusedCalls = [] }: RunFacts,
  project: string | undefined,
): readonly string[] {
  const more = refused - declined - refusedCalls.length;
  return refusedCalls.map(({ call, number, why }, index) => {
    const text = project === undefined ? why : why?.replaceAll(`${project}/`, '');
    const reason = text === undefined ? '' : `: ${printableCut(text, 200)}`;
    const others = more > 0 && index === refusedCalls.length - 1 ? `; and ${more} more` : '';
    return `refused: call ${number}, ${printableCut(call, 80)}${reason}${others}`;
  });
}

/** What went wrong in coxswain or in a provider. The agent saw nothing of it. */
function faultLines({ faults, faultTexts }: RunFacts): readonly string[] {
  const texts = [...new Set(faultTexts)].map((text) => `fault: ${printableCut(text, 200)}`);
  return faults > texts.length ? [...texts, `${countText(faults)} faults in all`] : texts;
}

/** The commands that go on with a session, by format. */
const RESUMES: Readonly<Record<string, string>> = {
  'claude-code': 'claude --resume',
  codex: 'codex resume',
  copilot: 'copilot --resume',
  gemini: 'gemini --resume',
  opencode: 'opencode --session',
  pi: 'pi --session',
};

function workLines(run: RunFacts, project: string | undefined): readonly string[] {
  const changed = changedFiles({ filesChanged: run.filesChanged, ...present({ project }) });
  const files = changed.slice(0, MAX_FILES).map((file) => printableCut(file, 80));
  const hidden = changed.length - files.length;
  const facts = [
    ...commitsText(run),
    ...uncommittedText(run),
    ...branchText(run).map((text) => printableCut(text, 70)),
    ...pullRequestsText(run).map((text) => printableCut(text, 200)),
  ];
  return [
    ...(files.length === 0 ? [] : [`seen to change: ${files.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`]),
    ...(facts.length === 0 ? [] : [facts.join(', ')]),
    ...run.checks.map(
      (check) =>
        `${printableCut(check.command, 80)} ${checkResult(check)} in call ${check.number}${check.error === undefined ? '' : `: ${printableCut(check.error, 160)}`}`,
    ),
  ];
}

function adviceBlocks({ advice, adviceLeftOut, heldAdvice }: RunView): readonly Block[] {
  const shown = advice.slice(0, MAX_ADVICE).map((outcome) => {
    const { delivery, callsBefore, providerName, reason } = outcome;
    const reasonText = reason === undefined ? '' : ` (${printableCut(reason, 80)})`;
    return `${printableCut(providerName, 60)} after call ${callsBefore}, ${inWords('delivery', delivery)}${reasonText}: ${followedText(outcome)}`;
  });
  const hiddenCount = advice.length - shown.length + adviceLeftOut;
  const more = hiddenCount > 0 ? [`and ${hiddenCount} more`] : [];
  const held = heldAdvice.first.map(
    ({ callsBefore, providerName, reason }) =>
      `${printableCut(providerName, 60)} after call ${callsBefore}, held back: ${inWords('held', reason)}`,
  );
  const moreHeld = heldAdvice.count > held.length ? [`and ${heldAdvice.count - held.length} more held back`] : [];
  const lines = [...shown, ...more, ...held, ...moreHeld];
  return sectionOf('Advice (what followed it, which need not be its effect)', linesOf(lines));
}

function headerLines(run: RunSummary, file: string): readonly string[] {
  const { agentName, conversationId, modelId, parentRunId, records, problem } = run;
  const lost = lostAtEnd().get(run.runId);
  const facts = [
    `${countOf(records, 'record')} in ${shownStore(file)}`,
    ...(agentName === undefined ? [] : [`agent ${printableCut(agentName, 60)}`]),
    ...(conversationId === undefined ? [] : [`conversation ${printableCut(conversationId, 60)}`]),
    ...(modelId === undefined ? [] : [`model ${printableCut(modelId, 60)}`]),
    ...(parentRunId === undefined ? [] : [`started by ${printableCut(parentRunId, 80)}`]),
  ];
  return [
    facts.join(', '),
    ...(problem === undefined ? [] : [`incomplete: ${printableCut(problem, 200)}`]),
    ...(lost === undefined ? [] : [`incomplete: ${lostAtEndText(lost)}`]),
  ];
}
