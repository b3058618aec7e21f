import { Button } from "./Button";
import classes from "./Pager.module.css";
import { t } from "./texts";

interface PagerProps {
  offset: number;
  limit: number;
  total: number;
  onChoose: (offset: number) => void;
}

/** The windows of a long table; nothing when there is only one. */
export function Pager({ offset, limit, total, onChoose }: PagerProps) {
  if (total <= limit) return null;
  return (
    <div className={classes.pager}>
      <Button
        size="sm"
        icon="chevronLeft"
        disabled={offset === 0}
        onClick={() => onChoose(Math.max(0, offset - limit))}
      >
        {t("before")}
      </Button>
      <span className="faint num">
        {t("windowOf", { first: offset + 1, last: Math.min(total, offset + limit), total })}
      </span>
      <Button size="sm" icon="chevronRight" disabled={offset + limit >= total} onClick={() => onChoose(offset + limit)}>
        {t("after")}
      </Button>
    </div>
  );
}
