/** The pages of who is signed in, and those of an admin: a line of links over each of them. */
import { Link } from "@tanstack/react-router";

import { useMe } from "@/api/useMe";

import classes from "./Account.module.css";
import { t } from "./texts";

export function AccountNav() {
  const { administers } = useMe();
  return (
    <nav className={classes.nav} aria-label={t("account")}>
      <Link to="/sessions">{t("sessions")}</Link>
      <Link to="/tokens">{t("tokens")}</Link>
      {administers ? (
        <>
          <Link to="/accounts">{t("accounts")}</Link>
          <Link to="/audit">{t("audit")}</Link>
        </>
      ) : null}
    </nav>
  );
}
