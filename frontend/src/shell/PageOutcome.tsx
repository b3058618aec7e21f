import { type ErrorComponentProps, Link } from "@tanstack/react-router";

import { ApiError } from "@/api/client";
import { Button, ButtonAnchor, ButtonLink } from "@/components/Button";
import { Page } from "@/components/Panel";

import classes from "./PageOutcome.module.css";
import { rich, t } from "./texts";

export function NotFound() {
  return (
    <Page className={classes.page ?? ""}>
      <h1>{t("thereIsNoSuchPage")}</h1>
      <p className="muted">{t("theAddressMayBeOld")}</p>
      <ButtonLink to="/" kind="primary">
        {t("home")}
      </ButtonLink>
    </Page>
  );
}

/** Something in a page threw: say it, keep the frame, offer the way back. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Page className={classes.page ?? ""} role="alert">
      <h1>{missing ? t("thisDoesNotExistOr") : t("thisPageCouldNotBe")}</h1>
      <p className="muted">{error instanceof Error ? error.message : String(error)}</p>
      <div className="row">
        <Button kind="primary" onClick={reset}>
          {t("tryAgain")}
        </Button>
        <Link to="/" className="leads">
          {t("home")}
        </Link>
      </div>
    </Page>
  );
}

/** `reason`: of a visitor, why the share link opens nothing any more. */
export function SignedOut({ reason }: { reason: string | null }) {
  return (
    <Page className={classes.page ?? ""}>
      <h1>{t("youAreNotSignedIn")}</h1>
      {reason === null ? null : <p role="alert">{reason}</p>}
      <p className="muted">
        {rich("openTheLinkThatThe", { span: (inside) => <span className="mono">{inside}</span> })}
      </p>
      <ButtonAnchor href="/login" kind="primary">
        {t("signIn")}
      </ButtonAnchor>
    </Page>
  );
}
