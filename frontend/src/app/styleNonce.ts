/**
 * The number by which the page's Content-Security-Policy knows the style sheets that our libraries write. The server puts
 * a new one into every page (schedweb/pages.py); without a server in front (Vite, tests) there is none.
 */
export function styleNonce(): string {
  // Browsers hide the attribute from scripts and style sheets; the property has it.
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
}

declare global {
  var __webpack_nonce__: string | undefined;
}

/** For what asks there: the style sheet that keeps the page behind a dialog from scrolling (react-remove-scroll). */
export function tellStyleNonce(): void {
  globalThis.__webpack_nonce__ = styleNonce();
}
