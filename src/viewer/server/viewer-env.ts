import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** The Node.js objects of a connection. */
export interface ViewerEnv {
  readonly Bindings: HttpBindings;
}

export type ApiContext = Context<ViewerEnv>;
