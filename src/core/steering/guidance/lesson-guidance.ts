import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, none, replace, type Slice } from '../../session/define-slice.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceContext, GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance } from './define-guidance.ts';

/** Why a call failed, in words that no tool wrote. */
const CLASSES: readonly (readonly [why: FailureClass, pattern: RegExp])[] = [
  ['command not found', /command not found|not recognized as|could not be found|: not found/i],
  [
    'unknown subcommand or option',
    /unrecogni[sz]ed|unknown (?:sub)?command|unknown (?:shorthand )?(?:flag|option)|(?:illegal|invalid) option|unexpected argument|no such command/i,
  ],
  ['unknown skill or tool', /unknown skill|no such tool/i],
  ['missing module', /cannot find module|no module named/i],
  ['missing script', /missing script|script not found/i],
  ['no such file', /no such file|does not exist|ENOENT/i],
  ['unsupported version', /unsupported (?:engine|environment)|bad \w+ .*version|requires .*version/i],
];

export type FailureClass =
  | 'command not found'
  | 'unknown subcommand or option'
  | 'unknown skill or tool'
  | 'missing module'
  | 'missing script'
  | 'no such file'
  | 'unsupported version';

/** What keeps failing in the project, in a form that is safe for a model: see `knownLesson`. Plain JSON. */
export interface KnownLesson {
  /** The words of the agent's own calls: two, and at most four flags, paths and usual words. */
  readonly call: string;
  readonly why: FailureClass;
  readonly sessions: number;
  readonly instead?: { readonly call: string; readonly sessions: number };
}

/** What the host knows of earlier sessions; it is recorded, so that a replay has it. */
export const LessonsKnown: EventType<{ readonly lessons: readonly KnownLesson[] }> = defineEvent<{
  readonly lessons: readonly KnownLesson[];
}>('lessons-known');

export const KnownLessons: Slice<readonly KnownLesson[]> = defineSlice<readonly KnownLesson[]>('lessons-known', {
  retain: 1,
}).on(LessonsKnown, (_view, { data }) => (data.lessons.length === 0 ? none : replace([data.lessons])));

const MAX_LESSONS = 3;
const MAX_CHARS = 400;
/** Sessions from which an exact call or command is told; a name needs two. */
const MIN_SESSIONS_OF_CALL = 3;
const MIN_SESSIONS_OF_FIX = 2;
const MAX_WORDS = 6;
const CALL_CHARS = 80;
/** A word of a command: no blank, quote, address or long token, so that a call holds no sentence and no secret. */
const WORD = /^(?!.*(?:\/\/|@[\w-]+\.|[A-Za-z\d_-]{25}|:$))(?!(?:[^_-]*[_-]){5})[\w@+=:,./~-]{1,40}$/;
/** Words of a command after its second one, so that its other words make no sentence: flags, paths, numbers, and these. */
const USUAL_WORD =
  /^(?:-{1,2}\w[\w=-]*|[\w@~.-]*[/.][\w@~./-]*|\d+|run|test|tests|build|lint|check|typecheck|format|fmt|dev|start|exec|verify|validate|compile|bench|e2e|unit|watch|help|version|list|show|status|all|src|lib|app)$/;
/** Programs and their words that delete, overwrite, publish, fetch or run what they are given. */
const UNSAFE_WORDS =
  /^(?:rm|rmdir|mv|dd|mkfs|chmod|chown|sudo|doas|su|curl|wget|ssh|scp|rsync|ftp|nc|eval|exec|source|sh|bash|zsh|fish|pwsh|powershell|xargs|kill|pkill|killall|shutdown|reboot|truncate|tee|npx|bunx|uvx|pnpx|pipx|dlx|install|add|i|ci|publish|push|pull|fetch|clone|download|deploy|apply|destroy|delete|remove|uninstall|drop|prune|reset|clean|restore|checkout|rebase|merge|commit|release|login|token|secret|secrets)$/i;
const UNSAFE_FLAG =
  /^-{1,2}(?:f|y|rf|fr|force\S*|no-verify|hard|yes|skip\S*|ignore\S*|allow\S*|privileged|dangerous\S*|unsafe\S*|insecure|no-\S*|c|e|eval|exec)(?:=|$)/i;

export interface LessonFacts {
  readonly key: { readonly kind: 'call' | 'command' | 'name'; readonly text: string };
  readonly shown: string;
  readonly cause: string;
  readonly sessions: number;
  readonly stillHappens: boolean;
  readonly worked?: { readonly shown: string; readonly sessions: number };
}

/** Undefined for a lesson that is retired, has too few sessions, a cause of no class, or a call of more than a few plain words. */
export function knownLesson({
  cause,
  key,
  sessions,
  shown,
  stillHappens,
  worked,
}: LessonFacts): KnownLesson | undefined {
  const call = key.kind === 'name' ? key.text : shown;
  const needed = key.kind === 'name' ? MIN_SESSIONS_OF_FIX : MIN_SESSIONS_OF_CALL;
  if (!stillHappens || sessions < needed || !isPlain(call)) return undefined;
  const why = CLASSES.find(([, pattern]) => pattern.test(cause))?.[0];
  // Any other failure may be the agent's own work, such as a test that fails.
  if (why === undefined) return undefined;
  const isTold = worked !== undefined && worked.sessions >= MIN_SESSIONS_OF_FIX && isSafeFix(worked.shown, shown);
  return {
    call,
    why,
    sessions,
    ...(isTold ? { instead: { call: worked.shown, sessions: worked.sessions } } : {}),
  };
}

/** Returns at most three lessons, those of most sessions first. */
export function knownLessons(lessons: readonly LessonFacts[]): readonly KnownLesson[] {
  return lessons
    .toSorted((a, b) => b.sessions - a.sessions)
    .flatMap((lesson) => knownLesson(lesson) ?? [])
    .slice(0, MAX_LESSONS);
}

function isPlain(call: string): boolean {
  const words = call.split(' ');
  const isShort = call.length <= CALL_CHARS && words.length <= MAX_WORDS;
  return isShort && words.every((word, index) => WORD.test(word) && (index < 2 || USUAL_WORD.test(word)));
}

/** True for a few plain words of which one is in the failed call, and none deletes, publishes, fetches or runs what it is given. */
function isSafeFix(fix: string, failed: string): boolean {
  const words = fix.split(' ');
  const others = new Set(failed.split(' '));
  return (
    isPlain(fix) &&
    fix !== failed &&
    words.some((word) => others.has(word)) &&
    !words.some((word) => UNSAFE_WORDS.test(word.slice(word.lastIndexOf('/') + 1)) || UNSAFE_FLAG.test(word))
  );
}

function textOf(lessons: readonly KnownLesson[]): string {
  let text = '';
  for (const { call, instead, sessions, why } of lessons) {
    const fix = instead === undefined ? '' : ` \`${instead.call}\` worked instead in ${instead.sessions}.`;
    const sentence = `In ${sessions} earlier sessions of this project \`${call}\` failed: ${why}.${fix}`;
    if (text.length + sentence.length + 1 > MAX_CHARS) break;
    text = text === '' ? sentence : `${text} ${sentence}`;
  }
  return text;
}

function lessonsIn({ session }: Pick<GuidanceContext, 'session'>): readonly KnownLesson[] {
  const told = session.slice(KnownLessons).latest() ?? [];
  return told.filter(
    ({ call, instead, why }) =>
      isPlain(call) &&
      CLASSES.some(([name]) => name === why) &&
      (instead === undefined || isSafeFix(instead.call, `${call} ${instead.call}`)),
  );
}

/**
 * Once, before the first request: `In 4 earlier sessions of this project \`rtk bun\` failed: unknown subcommand or
 * option. \`bun run test\` worked instead in 4.` Category `lessons`, priority 50, at `pre_tool_selection`; nothing
 * unless the host knows lessons.
 */
export const lessonGuidance: ProviderDefinition<object, GuidanceProvider> = defineProvider({}, (): GuidanceProvider =>
  defineGuidance({
    name: 'lesson_guidance',
    category: 'lessons',
    decisionPoints: ['pre_tool_selection'],
    classifier: {
      name: 'known_lessons',
      classify: (context) => {
        const count = textOf(lessonsIn(context)) === '' ? 0 : lessonsIn(context).length;
        return { relevant: count > 0, confidence: count > 0 ? 0.9 : 0, reason: `${count} lessons of earlier sessions` };
      },
    },
    key: 'lessons.earlier-sessions',
    priority: 50,
    content: (context) => textOf(lessonsIn(context)),
  }),
);
