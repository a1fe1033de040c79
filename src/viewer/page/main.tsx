import { createRoot } from 'react-dom/client';

import { App } from './app.tsx';
import { openSession } from './session.ts';
import { applyTheme, storedTheme } from './theme.ts';

applyTheme(storedTheme());
const place = document.querySelector('#app');
if (place !== null) {
  const problem = await openSession();
  createRoot(place).render(<App sessionProblem={problem} />);
}
