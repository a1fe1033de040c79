import { createRoot } from 'react-dom/client';

import { App } from './app.tsx';
import { openSession } from './session.ts';

// Rows get their heights as they appear, so a position in pixels has no meaning after a reload. The address names the row.
history.scrollRestoration = 'manual';
const place = document.querySelector('#app');
if (place !== null) {
  const problem = await openSession();
  createRoot(place).render(<App sessionProblem={problem} />);
}
