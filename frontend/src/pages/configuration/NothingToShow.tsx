import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";

import type { DraftStore } from "./draft/draftStore";
import classes from "./Editor.module.css";
import { t } from "./texts";

interface NothingToShowProps {
  store: DraftStore;
  failure: Error | null;
  checked: boolean;
  readOnly: boolean;
}

/** Before the text is examined, when it could not be, and when nothing in it can be shown. */
export function NothingToShow({ store, failure, checked, readOnly }: NothingToShowProps) {
  if (checked)
    return (
      <Page>
        <Panel>
          <Empty action={<Button onClick={() => store.discard()}>{t("discardTheDraft")}</Button>}>
            {t("thisVersionCannotBeShown")}
          </Empty>
        </Panel>
      </Page>
    );
  if (failure === null)
    return (
      <Page>
        <Outlines count={12} height={30} label={t("checkingTheDraft")} />
      </Page>
    );
  return (
    <Page>
      <Panel className={classes.failure ?? ""}>
        <Failed
          alone
          what={t("couldNotBeCheckedYour")}
          error={failure}
          retry={() => store.start()}
          more={
            store.dirty && !readOnly ? (
              <Button size="sm" onClick={() => store.discard()}>
                {t("discardTheDraft")}
              </Button>
            ) : null
          }
        />
      </Panel>
    </Page>
  );
}
