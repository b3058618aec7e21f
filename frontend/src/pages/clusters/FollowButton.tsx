/** Begins a run that follows the cluster: it is read first, which takes a while of a large one. */
import type { ClusterDetails } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";

import { t } from "./texts";
import { useFollow } from "./useFollow";

export function FollowButton({ cluster }: { cluster: ClusterDetails }) {
  const { operates } = useMe();
  const follow = useFollow(cluster.name);
  if (!operates) return null;
  return (
    <>
      <Button
        sends
        disabled={follow.isPending || !cluster.is_offered || !cluster.can_be_read}
        title={cluster.can_be_read ? t("whatFollowingIs") : t("followWhenRead")}
        onClick={() => follow.mutate({})}
      >
        {follow.isPending ? t("readingToFollow") : t("follow")}
      </Button>
      {follow.error === null ? null : <Failed what={t("notFollowed")} error={follow.error} small />}
    </>
  );
}
