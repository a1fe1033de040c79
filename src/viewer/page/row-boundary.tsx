import { Component, type ReactNode } from 'react';

interface Props {
  /** Shown if rendering `children` fails. */
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

/** An error boundary that keeps a malformed record from crashing the page. */
export class RowBoundary extends Component<Props, { readonly isBroken: boolean }> {
  override state: { readonly isBroken: boolean } = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}
