import { useEffect, useState } from "react";

import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { Page } from "@/components/Panel";
import { socket } from "@/live/live";

import classes from "./Missing.module.css";
import { fetchMissingParts } from "./part";
import { reloadOnce } from "./replaced";
import { t } from "./texts";

interface MissingProps {
  retry: () => void;
}

/** Stands over the page where a drawer, a dialog or a panel should be. */
export function MissingPart({ retry }: MissingProps) {
  const old = useFetchedAgain();
  return (
    <div className={classes.missing} role="alert">
      <Icon name="warning" size={16} />
      <span>{old ? t("thisPageIsOlderThan") : t("thisPartCouldNotBe")}</span>
      <Button size="sm" onClick={old ? () => location.reload() : retry}>
        {old ? t("loadAnew") : t("tryAgain")}
      </Button>
    </div>
  );
}

export function MissingPage({ retry }: MissingProps) {
  const old = useFetchedAgain();
  return (
    <Page>
      <Failed
        alone
        what={old ? t("thisPageIsOlderThan") : t("thisPageCouldNotBe")}
        retry={old ? () => location.reload() : retry}
        {...(old ? { retryLabel: t("loadAnew") } : {})}
      />
    </Page>
  );
}

/** Fetches what is missing as soon as the server answers; true when it answers and has no such file: the page is an old one. */
function useFetchedAgain(): boolean {
  const [old, setOld] = useState(false);
  useEffect(() => {
    let left = false;
    const look = async () => {
      if (!(await answers()) || (await fetchMissingParts()) || left) return;
      if (!reloadOnce(Date.now())) setOld(true);
    };
    void look();
    const forget = socket.onMessage((message) => {
      if (message.type === "hello") void look();
    });
    return () => {
      left = true;
      forget();
    };
  }, []);
  return old;
}

const ANSWERS_WITHIN = 5_000;

async function answers(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(ANSWERS_WITHIN) })).ok;
  } catch {
    return false;
  }
}
