/** Begins a run that follows the cluster: it is read first, which takes a while of a large one. */
import { useState } from "react";

import type { ClusterDetails } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Megabytes, megabytesIn } from "@/components/Megabytes";
import { Failed } from "@/components/Outcome";
import { Popover } from "@/components/Popover";

import classes from "./Clusters.module.css";
import { t } from "./texts";
import { useFollow } from "./useFollow";

export function FollowButton({ cluster }: { cluster: ClusterDetails }) {
  const { operates } = useMe();
  const [open, setOpen] = useState(false);
  const [kept, setKept] = useState(String(cluster.follow_megabytes));
  const follow = useFollow(cluster.name);
  if (!operates) return null;
  const megabytes = megabytesIn(kept);
  return (
    <Popover
      label={t("followThisCluster")}
      open={open}
      onOpen={setOpen}
      button={(opener) => (
        <Button
          {...opener}
          disabled={!cluster.is_offered || !cluster.can_be_read}
          title={cluster.can_be_read ? t("whatFollowingIs") : t("followWhenRead")}
        >
          {follow.isPending ? t("readingToFollow") : t("followAsk")}
        </Button>
      )}
    >
      <form
        className={classes.asked}
        onSubmit={(event) => {
          event.preventDefault();
          if (megabytes !== null && !follow.isPending) follow.mutate({ megabytes });
        }}
      >
        <p className="muted">{t("whatFollowingIs")}</p>
        <Megabytes text={kept} onText={setKept} disabled={follow.isPending} />
        <Button kind="primary" type="submit" sends disabled={follow.isPending || megabytes === null}>
          {follow.isPending ? t("readingToFollow") : t("follow")}
        </Button>
        {follow.error === null ? null : <Failed what={t("notFollowed")} error={follow.error} small />}
      </form>
    </Popover>
  );
}
