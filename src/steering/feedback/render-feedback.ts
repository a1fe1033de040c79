import type { StoredAssessment } from '../../records/assessment.ts';
import type { StoredFeedback, SpokenAdvice } from '../../records/feedback.ts';

/** What is rendered; the rest is for records. */
type RenderedParts = Pick<SpokenAdvice, 'summary'> & Partial<Pick<SpokenAdvice, 'observations' | 'suggestions'>>;

/** Feedback as the agent reads it: head line, summary, observations, suggestions. */
export function renderFeedback(feedback: RenderedParts & Pick<StoredFeedback, 'providerName'>): string {
  return render(`[Feedback - ${feedback.providerName}]`, feedback);
}

/** An assessment as the agent reads it: the same under another head line. */
export function renderAssessment(assessment: RenderedParts & Pick<StoredAssessment, 'observerName'>): string {
  return render(`[Trajectory Assessment - ${assessment.observerName}]`, assessment);
}

function render(head: string, { summary, observations = [], suggestions = [] }: RenderedParts): string {
  const lines = [head, '', summary];
  if (observations.length > 0) {
    lines.push('', ...observations.map(({ category, description }) => `• ${category}: ${description}`));
  }
  if (suggestions.length > 0) lines.push('', ...suggestions.map((suggestion) => `→ ${suggestion}`));
  return lines.join('\n');
}
