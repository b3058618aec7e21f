import { Icon } from "@/components/Icon";
import { useTick } from "@/components/useTick";

import classes from "./InboxTable.module.css";
import { t } from "./texts";

/** In the place of the buttons while an approval can still be cancelled. */
export function Approving({ due }: { due: number }) {
  const now = useTick();
  return (
    <span className={classes.sending}>
      <Icon name="bound" size={13} />
      {t("approvingInS", { max: Math.max(0, Math.ceil((due - now) / 1000)) })}
    </span>
  );
}
