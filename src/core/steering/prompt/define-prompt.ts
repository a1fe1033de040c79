import { type CoxswainError, invalidArgument, invalidDefinition } from '../../base/error.ts';
import { checkMembers, checkList } from '../../base/check-members.ts';
import {
  checkSpeakers,
  type FeedbackProviderConfig,
  type ObserverConfig,
  type FeedbackTrigger,
} from './feedback-provider.ts';
import { checkGuidanceConfigs, type GuidanceProviderConfig } from './guidance-provider.ts';
import { createPromptResources, type ResourceBinding } from './prompt-resources.ts';
import type { PromptParams, PromptSection, RenderedPrompt, RenderOptions, SectionContext } from './prompt.ts';
import type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from './prompt-template.ts';
import { isDefinitionName } from '../../session/define-event.ts';

function checkPromptKey(noun: string, key: string): void {
  if (isDefinitionName(key) && !key.includes('/')) return;
  const rule = 'must be 1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit';
  throw invalidDefinition(`${noun} ${JSON.stringify(key)} ${rule}`, { what: noun, key });
}

type TextPart = { readonly literal: string } | { readonly placeholder: string };

/** Matches the escape `$${`, or `${…}`, closed or not. */
const MARK = /\$\$\{|\$\{([^}]*)(\}?)/g;
const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

function isParamName(name: string): boolean {
  return PARAM_NAME.test(name);
}

/** Parses `${placeholders}`. `$${` is a literal `${`. Returns the parts, or the malformed placeholder. */
function parseTextParts(text: string): readonly TextPart[] | { readonly wrong: string } {
  const parts: TextPart[] = [];
  let start = 0;
  for (const match of text.matchAll(MARK)) {
    const [mark, name, close] = match;
    parts.push({ literal: text.slice(start, match.index) });
    start = match.index + mark.length;
    if (name === undefined) {
      parts.push({ literal: '${' });
      continue;
    }
    if (close !== '}' || !isParamName(name)) return { wrong: mark.slice(0, 40) };
    parts.push({ placeholder: name });
  }
  parts.push({ literal: text.slice(start) });
  return parts;
}

interface PreparedSection {
  readonly path: string;
  readonly section: PromptSection;
  readonly parts: readonly TextPart[];
  readonly children: readonly PreparedSection[];
}

const MAX_DEPTH = 16;

/** Throws CoxswainError "invalid-definition" for a malformed or duplicate key, a malformed placeholder, or over 16 levels. */
function prepareSections(sections: readonly PromptSection[], parentPath = ''): readonly PreparedSection[] {
  if (parentPath.split('/').length > MAX_DEPTH)
    throw invalidSection(parentPath, `is nested more than ${MAX_DEPTH} deep`);
  const keys = new Set<string>();
  return sections.map((section) => {
    const { key } = section;
    checkPromptKey('section key', key);
    const path = parentPath === '' ? key : `${parentPath}/${key}`;
    if (keys.has(key)) throw invalidSection(path, 'occurs twice; give each sibling its own key');
    keys.add(key);
    const parts = parseTextParts(section.text.trim());
    if ('wrong' in parts) {
      throw invalidSection(
        path,
        `has ${JSON.stringify(parts.wrong)}, which is not a placeholder; write \${name}, or $\${ for a literal \${`,
        { placeholder: parts.wrong },
      );
    }
    const children = prepareSections(section.sections ?? [], path);
    const nestedSections =
      section.sections === undefined ? {} : { sections: Object.freeze(children.map((child) => child.section)) };
    // The section is copied and frozen, so that a later change of the definition has no effect.
    return { path, section: Object.freeze({ ...section, ...nestedSections }), parts, children };
  });
}

function invalidSection(
  section: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CoxswainError {
  return invalidDefinition(`section "${section}" ${message}`, { section, ...details });
}

export interface PromptDefinition {
  /** Matches `^[a-z0-9][a-z0-9._-]{0,63}$`, as does `key`. */
  readonly ns: string;
  readonly key: string;
  /** Default: none. A prompt without sections only declares providers. */
  readonly sections?: readonly PromptSection[];
  /** Placeholders that sections may use. Default: the placeholders in the sections. */
  readonly params?: readonly string[];
  /** In order of priority. Default: none. */
  readonly feedbackProviders?: readonly FeedbackProviderConfig[];
  /** Default: none. */
  readonly guidanceProviders?: readonly GuidanceProviderConfig[];
  /** Observers, which run after the feedback providers, in order of priority. Default: none. */
  readonly observers?: readonly ObserverConfig[];
  /** Default: none. */
  readonly resources?: readonly ResourceBinding[];
  /** Default `first`. */
  readonly delivery?: FeedbackDelivery;
  /** Default `shared`. */
  readonly cadence?: FeedbackCadence;
}

const DEFINITION: Readonly<Record<keyof PromptDefinition, true>> = {
  ns: true,
  key: true,
  sections: true,
  params: true,
  feedbackProviders: true,
  guidanceProviders: true,
  observers: true,
  resources: true,
  delivery: true,
  cadence: true,
};

/**
 * Defines a prompt: its sections, providers and observers.
 *
 * @throws CoxswainError "invalid-argument" for an unknown member or a provider without its functions
 * @throws CoxswainError "invalid-definition" if a key is malformed or duplicate, a placeholder is malformed or not in
 *   `params` (`details.section`, `details.placeholder`), a resource is bound twice, or a provider or observer is
 *   misconfigured
 */
export function definePrompt(definition: PromptDefinition): PromptTemplate {
  checkMembers('definePrompt', definition, DEFINITION);
  const { ns, key, sections = [], feedbackProviders = [], observers = [], guidanceProviders = [] } = definition;
  checkConfigs({
    feedback: ['feedbackProviders', feedbackProviders],
    observers: ['observers', observers],
    guidance: ['guidanceProviders', guidanceProviders],
  });
  checkPromptKey('prompt ns', ns);
  checkPromptKey('prompt key', key);
  checkSpeakers(
    'feedback provider',
    feedbackProviders.map(({ provider, trigger }) => ({
      name: provider.name,
      trigger: trigger ?? provider.defaultTrigger,
    })),
  );
  checkSpeakers(
    'observer',
    observers.map(({ observer, trigger }) => ({ name: observer.name, trigger: trigger ?? observer.defaultTrigger })),
  );
  checkGuidanceConfigs(guidanceProviders);
  const preparedSections = prepareSections(sections);
  const params = paramsOf(preparedSections, definition.params);
  const renderPrompt = (values: PromptParams = {}, options: RenderOptions = {}): RenderedPrompt => {
    checkParams(`${ns}/${key}`, params, values);
    return renderSections(preparedSections, { ...options.context, params: values, guidance: options.guidance ?? [] });
  };
  return Object.freeze({
    ns,
    key,
    name: `${ns}/${key}`,
    params,
    sections: Object.freeze(preparedSections.map(({ section }) => section)),
    resources: createPromptResources(definition.resources ?? []),
    feedbackProviders: frozenCopies(feedbackProviders),
    guidanceProviders: frozenCopies(guidanceProviders),
    observers: frozenCopies(observers),
    delivery: definition.delivery ?? 'first',
    cadence: definition.cadence ?? 'shared',
    render: renderPrompt,
  });
}

function paramsOf(
  preparedSections: readonly PreparedSection[],
  declaredNames: readonly string[] | undefined,
): readonly string[] {
  for (const name of declaredNames ?? []) {
    if (isParamName(name)) continue;
    throw invalidDefinition(`parameter name ${JSON.stringify(name)} cannot be used in \${…}`, { placeholder: name });
  }
  const names = new Set(declaredNames);
  for (const { path, placeholder } of placeholdersOf(preparedSections)) {
    if (declaredNames !== undefined && !names.has(placeholder)) {
      const message = `uses \${${placeholder}}, which params does not name; add it or correct the section`;
      throw invalidSection(path, message, { placeholder });
    }
    names.add(placeholder);
  }
  return Object.freeze([...names]);
}

function placeholdersOf(
  sections: readonly PreparedSection[],
): readonly { readonly path: string; readonly placeholder: string }[] {
  return sections.flatMap(({ path, parts, children }) => [
    ...parts.flatMap((part) => ('placeholder' in part ? [{ path, placeholder: part.placeholder }] : [])),
    ...placeholdersOf(children),
  ]);
}

function checkParams(promptName: string, knownNames: readonly string[], values: PromptParams): void {
  for (const name of Object.keys(values)) {
    if (knownNames.includes(name)) continue;
    throw invalidArgument(`prompt ${promptName} has no parameter "${name}"`, {
      details: { prompt: promptName, placeholder: name },
    });
  }
}

function frozenCopies<Config extends object>(configs: readonly Config[]): readonly Config[] {
  return Object.freeze(configs.map((config) => Object.freeze({ ...config })));
}

/** Level 1 is reserved for the document around the prompt. Markdown has six levels. */
const TOP_HEADING = 2;
const LAST_HEADING = 6;

/** Renders enabled sections, then guidance. Throws CoxswainError "invalid-argument" as `Prompt.render`. */
function renderSections(sections: readonly PreparedSection[], context: SectionContext): RenderedPrompt {
  const blocks: string[] = [];
  const keys: string[] = [];
  const renderLevel = (level: readonly PreparedSection[], heading: number): void => {
    for (const preparedSection of level) {
      if (!isEnabled(preparedSection, context)) continue;
      keys.push(preparedSection.path);
      const { title } = preparedSection.section;
      if (title !== undefined) blocks.push(`${'#'.repeat(Math.min(heading, LAST_HEADING))} ${title}`);
      blocks.push(fillSection(preparedSection, context));
      renderLevel(preparedSection.children, heading + 1);
    }
  };
  renderLevel(sections, TOP_HEADING);
  blocks.push(...context.guidance.map((guidance) => guidance.content));
  return { text: blocks.filter((block) => block !== '').join('\n\n'), sections: keys };
}

function isEnabled({ section, path }: PreparedSection, context: SectionContext): boolean {
  if (section.enabled === undefined) return true;
  try {
    return section.enabled(context);
  } catch (cause) {
    throw invalidArgument(`section "${path}": enabled(context) threw; see the cause`, {
      details: { section: path },
      cause,
    });
  }
}

function fillSection({ parts, path }: PreparedSection, { params }: SectionContext): string {
  return parts
    .map((part) => {
      if ('literal' in part) return part.literal;
      const value = Object.hasOwn(params, part.placeholder) ? params[part.placeholder] : undefined;
      if (value !== undefined) return String(value);
      throw invalidArgument(
        `section "${path}" needs the parameter "${part.placeholder}"; pass it to render({ ${part.placeholder}: … })`,
        { details: { section: path, placeholder: part.placeholder } },
      );
    })
    .join('');
}

type Known<Options> = Readonly<Record<keyof Options, true>>;

// The compiler requires every member here.
const TRIGGER: Known<FeedbackTrigger> = {
  everyNCalls: true,
  everyNSeconds: true,
  onSessionEvent: true,
  onPattern: true,
  onFileCreated: true,
};
const FEEDBACK: Known<FeedbackProviderConfig> = { provider: true, trigger: true };
const OBSERVER: Known<ObserverConfig> = { observer: true, trigger: true };
const GUIDANCE: Known<GuidanceProviderConfig> = {
  provider: true,
  maxPerTurn: true,
  minConfidence: true,
  decisionPoints: true,
  cooldownTurns: true,
  maxPerRun: true,
};

/**
 * `lists` has each list under the name that messages use.
 *
 * @throws CoxswainError "invalid-argument" for a value that is not a list, an unknown member, or a provider or
 * observer without its functions
 */
export function checkConfigs(lists: {
  readonly feedback: readonly [name: string, configs: readonly FeedbackProviderConfig[] | undefined];
  readonly observers: readonly [name: string, configs: readonly ObserverConfig[] | undefined];
  readonly guidance: readonly [name: string, configs: readonly GuidanceProviderConfig[] | undefined];
}): void {
  eachConfig(lists.feedback, FEEDBACK, (name, { provider, trigger }) => {
    checkSpeaker(`${name}.provider`, provider, ['shouldRun', 'provide'], 'a provider, such as deadlineFeedback()');
    if (trigger !== undefined) checkMembers(`${name}.trigger`, trigger, TRIGGER);
  });
  eachConfig(lists.observers, OBSERVER, (name, { observer, trigger }) => {
    checkSpeaker(`${name}.observer`, observer, ['shouldRun', 'observe'], 'an observer, such as deadlineObserver()');
    if (trigger !== undefined) checkMembers(`${name}.trigger`, trigger, TRIGGER);
  });
  eachConfig(lists.guidance, GUIDANCE, (name, { provider }) => {
    checkSpeaker(`${name}.provider`, provider, [], 'a provider, such as doomLoopGuidance()');
  });
}

function eachConfig<Config>(
  [name, configs]: readonly [name: string, configs: readonly Config[] | undefined],
  known: Known<Config>,
  check: (name: string, config: Config) => void,
): void {
  checkList(name, configs);
  for (const [at, config] of (configs ?? []).entries()) {
    checkMembers(`${name}[${at}]`, config, known);
    check(`${name}[${at}]`, config);
  }
}

function checkSpeaker(name: string, speaker: unknown, functions: readonly string[], expected: string): void {
  if (typeof speaker !== 'object' || speaker === null || !('name' in speaker)) {
    throw invalidArgument(`${name} must be ${expected}`);
  }
  const missing = functions.find((member) => typeof Reflect.get(speaker, member) !== 'function');
  if (missing !== undefined) throw invalidArgument(`${name} has no function ${missing}; it must be ${expected}`);
}
