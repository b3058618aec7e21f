import { useSyncExternalStore } from "react";

import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";

import classes from "./NoticesPlace.module.css";
import { noticesPart, notifications } from "./notify";
import { t } from "./texts";

/** Where notices appear; plain ones while Mantine's cannot be fetched. */
export function NoticesPlace() {
  const { wanted, plain } = useSyncExternalStore(notifications.watch, notifications.getState);
  const fetched = useSyncExternalStore(noticesPart.watch, noticesPart.getState);
  const Notices = fetched === null || fetched === "missing" ? null : fetched.value.default;
  return (
    <>
      {wanted && Notices !== null ? <Notices /> : null}
      {plain.length === 0 ? null : (
        <div className={classes.stack}>
          {plain.map((notice, index) => (
            <div key={index} role="alert" className={classes.notice}>
              <Icon name="warning" size={18} />
              <div>
                <b>{notice.title}</b>
                {notice.text === undefined ? null : <p>{notice.text}</p>}
                {notice.action === undefined ? null : (
                  <Button
                    size="sm"
                    onClick={() => {
                      notifications.dismiss(notice);
                      notice.action?.run();
                    }}
                  >
                    {notice.action.label}
                  </Button>
                )}
              </div>
              <IconButton icon="close" label={t("close")} iconSize={14} onClick={() => notifications.dismiss(notice)} />
            </div>
          ))}
        </div>
      )}
    </>
  );
}
