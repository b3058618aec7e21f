import { type ErrorComponentProps, Link } from "@tanstack/react-router";

import { ApiError } from "@/api/client";
import { Button, ButtonAnchor, ButtonLink } from "@/components/Button";
import { Page } from "@/components/Panel";

import classes from "./PageOutcome.module.css";

export function NotFound() {
  return (
    <Page className={classes.page ?? ""}>
      <h1>There is no such page</h1>
      <p className="muted">The address may be old, or what it named was deleted.</p>
      <ButtonLink to="/" kind="primary">Home</ButtonLink>
    </Page>
  );
}

/** Something in a page threw: say it, keep the frame, offer the way back. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Page className={classes.page ?? ""} role="alert">
      <h1>{missing ? "This does not exist, or no longer" : "This page could not be shown"}</h1>
      <p className="muted">{error instanceof Error ? error.message : String(error)}</p>
      <div className="row">
        <Button kind="primary" onClick={reset}>Try again</Button>
        <Link to="/" className="leads">Home</Link>
      </div>
    </Page>
  );
}

export function SignedOut() {
  return (
    <Page className={classes.page ?? ""}>
      <h1>You are not signed in</h1>
      <p className="muted">
        Open the link that the playground printed at its start, or make another with <span className="mono">manage.py login_link</span>.
      </p>
      <ButtonAnchor href="/login" kind="primary">Sign in</ButtonAnchor>
    </Page>
  );
}
