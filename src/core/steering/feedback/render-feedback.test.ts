import { expect, test } from 'vitest';
import { renderAssessment, renderFeedback } from './check-draft.ts';

const bare = { summary: 'You have 8 minutes remaining.', observations: [], suggestions: [] };

test('feedback renders as a head line, a blank line and the summary', () => {
  expect(renderFeedback({ providerName: 'Deadline', ...bare })).toBe(
    '[Feedback - Deadline]\n\nYou have 8 minutes remaining.',
  );
});

test('suggestions follow a blank line, each after an arrow', () => {
  const suggestions = ['Prioritize completing critical remaining work.'];
  expect(renderFeedback({ providerName: 'Deadline', ...bare, suggestions })).toBe(
    '[Feedback - Deadline]\n\nYou have 8 minutes remaining.\n\n→ Prioritize completing critical remaining work.',
  );
});

test('an assessment has its own head line, and observations come before suggestions, without their evidence', () => {
  const observations = [
    { category: 'loop', description: 'The same call three times.', evidence: 'calls 1, 2, 3' },
    { category: 'stall', description: 'Nothing new.' },
  ];
  expect(renderAssessment({ observerName: 'Loops', summary: 'Stuck.', observations, suggestions: ['A.', 'B.'] })).toBe(
    '[Trajectory Assessment - Loops]\n\nStuck.\n\n• loop: The same call three times.\n• stall: Nothing new.\n\n→ A.\n→ B.',
  );
});
