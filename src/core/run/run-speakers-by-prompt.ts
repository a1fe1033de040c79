import { prepareSpeakers, feedbackSpeakers, observerSpeakers, type Speaker } from '../steering/feedback/speaker.ts';
import { checkGuidanceConfigs } from '../steering/prompt/guidance-provider.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import { definePrompt } from '../steering/prompt/define-prompt.ts';
import type { Prompt } from '../steering/prompt/prompt.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { Session } from '../session/session.ts';

export interface PromptSpeakers extends Omit<PromptTemplate, keyof Prompt> {
  readonly prompt: PromptTemplate;
  readonly speakers: readonly Speaker[];
}

export const DEFAULT_PROMPT: PromptTemplate = definePrompt({ ns: 'run', key: 'default' });

// Many runs with the same steering use the same prompt. This cache lets their speakers (providers and observers) be checked
// once.
const speakersBySteering = new WeakMap<ResolvedSteering, WeakMap<PromptTemplate, PromptSpeakers>>();

function speakersOf(steering: ResolvedSteering, prompt: PromptTemplate): PromptSpeakers {
  const byPrompt = speakersBySteering.get(steering) ?? new WeakMap<PromptTemplate, PromptSpeakers>();
  const cachedSpeakers = byPrompt.get(prompt);
  if (cachedSpeakers !== undefined) return cachedSpeakers;
  const { delivery, cadence } = steering;
  const guidanceProviders = [...steering.guidance, ...prompt.guidanceProviders];
  checkGuidanceConfigs(guidanceProviders);
  const feedbackProviders = [...steering.feedback, ...prompt.feedbackProviders];
  const observers = [...steering.observers, ...prompt.observers];
  const speakers: PromptSpeakers = {
    prompt,
    feedbackProviders,
    observers,
    speakers: [...feedbackSpeakers(feedbackProviders), ...observerSpeakers(observers)],
    guidanceProviders,
    delivery: delivery ?? prompt.delivery,
    cadence: cadence ?? prompt.cadence,
  };
  speakersBySteering.set(steering, byPrompt.set(prompt, speakers));
  return speakers;
}

export class RunSpeakersByPrompt {
  readonly #steering: ResolvedSteering;
  readonly #byName = new Map<string, PromptSpeakers>();
  readonly #first: PromptSpeakers;

  constructor(steering: ResolvedSteering, prompts: readonly PromptTemplate[], session: Session) {
    this.#steering = steering;
    for (const prompt of prompts) this.add(prompt, session);
    this.#first = this.#speakersOf(prompts[0] ?? DEFAULT_PROMPT, session);
  }

  add(prompt: PromptTemplate, session: Session): void {
    if (this.#byName.get(prompt.name)?.prompt !== prompt) this.#speakersOf(prompt, session);
  }

  /** A prompt that is not registered has the speakers of the run's first prompt, but its own counts. */
  of(promptName: string): PromptSpeakers {
    const knownSpeakers = this.#byName.get(promptName);
    if (knownSpeakers !== undefined) return knownSpeakers;
    // The record names no prompt.
    if (promptName === '') return this.#first;
    const [ns = '', key = ''] = promptName.split('/');
    const speakers = { ...this.#first, prompt: { ...this.#first.prompt, ns, key, name: promptName } };
    this.#byName.set(promptName, speakers);
    return speakers;
  }

  #speakersOf(prompt: PromptTemplate, session: Session): PromptSpeakers {
    const knownSpeakers = this.#byName.get(prompt.name);
    if (knownSpeakers?.prompt === prompt) return knownSpeakers;
    const speakers = speakersOf(this.#steering, prompt);
    prepareSpeakers(session, speakers.speakers);
    this.#byName.set(prompt.name, speakers);
    return speakers;
  }
}
