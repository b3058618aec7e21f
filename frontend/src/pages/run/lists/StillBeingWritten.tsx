import { t } from "../texts";

/** The board counts the pods of the beginning at once; lists are read from rows, which a large cluster gets little by little. */
export function StillBeingWritten({ unwritten, className }: { unwritten: number; className: string }) {
  return unwritten === 0 ? null : (
    <p className={className} data-tone="plain" role="status">
      {t("stillBeingWritten", { count: unwritten })}
    </p>
  );
}
