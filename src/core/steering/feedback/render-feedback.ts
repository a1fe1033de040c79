import type { SpokenAdvice, StoredAssessment, StoredFeedback } from '../../records/feedback.ts';

type Rendered<Advice extends SpokenAdvice, Name extends keyof Advice> = Pick<Advice, Name | 'summary'> &
  Partial<Pick<Advice, 'observations' | 'suggestions'>>;

/** Renders feedback for the agent: heading, summary, observations, suggestions. */
export function renderFeedback(feedback: Rendered<StoredFeedback, 'providerName'>): string {
  return render(`[Feedback - ${feedback.providerName}]`, feedback);
}

/** Renders an assessment in the same way, with its own heading. */
export function renderAssessment(assessment: Rendered<StoredAssessment, 'observerName'>): string {
  return render(`[Trajectory Assessment - ${assessment.observerName}]`, assessment);
}

function render(
  heading: string,
  { summary, observations = [], suggestions = [] }: Rendered<SpokenAdvice, 'summary'>,
): string {
  const lines = [heading, '', summary];
  if (observations.length > 0) {
    lines.push('', ...observations.map(({ category, description }) => `• ${category}: ${description}`));
  }
  if (suggestions.length > 0) lines.push('', ...suggestions.map((suggestion) => `→ ${suggestion}`));
  return lines.join('\n');
}
