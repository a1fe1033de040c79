/** The package has no types for its entry. */
declare module '@elastic/mockotlpserver' {
  export interface ReceivedSpan {
    readonly spanId: string;
    readonly name: string;
    readonly events?: readonly Readonly<Record<string, unknown>>[];
    readonly status?: { readonly code?: string; readonly message?: string };
    readonly [member: string]: unknown;
  }

  interface Traces {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
  }

  /** A receiver of OTLP; `onTrace` has each request as it was decoded. */
  export class MockOtlpServer {
    constructor(options: object);
    readonly httpUrl: URL;
    start(): Promise<void>;
    close(): Promise<void>;
  }

  export function normalizeTrace(request: unknown): Traces;
}
