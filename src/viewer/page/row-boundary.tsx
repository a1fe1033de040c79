import { Component, type ReactNode } from 'react';

interface Props {
  /** What is shown where `children` cannot be. */
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

/** Keeps a record that is not of the shape its kind promises, of whatever source, from taking the page with it. */
export class RowBoundary extends Component<Props, { readonly isBroken: boolean }> {
  override state: { readonly isBroken: boolean } = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}
