import { useQuery } from "@tanstack/react-query";

import { storageTroubleQuery } from "@/api/keeping";
import { Icon } from "@/components/Icon";
import { shortWallTime } from "@/format/time";
import { useRefusal } from "@/live/useLive";

import classes from "./StorageTrouble.module.css";
import { t } from "./texts";

/** Stands under the top bar of every page for as long as the server can store nothing. */
export function StorageTrouble() {
  const isAway = useRefusal() !== null;
  const { data } = useQuery({ ...storageTroubleQuery, enabled: !isAway });
  const trouble = data?.trouble ?? null;
  if (trouble === null) return null;
  const time = shortWallTime(trouble.since);
  return (
    <div role="alert" className={classes.banner}>
      <Icon name="warning" size={16} />
      <p>
        <b>
          {trouble.kind.startsWith("uploads")
            ? t("nothingCanBeImportedSince", { time })
            : t("nothingCanBeStoredSince", { time })}
        </b>{" "}
        {trouble.message}
      </p>
    </div>
  );
}
