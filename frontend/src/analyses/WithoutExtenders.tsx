import { t } from "./texts";

interface Props {
  /** What was tried out. */
  answer: { without_extenders?: boolean };
  className?: string | undefined;
}

/** Said beside an answer that another one might be, had the extenders of the configuration been asked. */
export function WithoutExtenders({ answer, className }: Props) {
  return answer.without_extenders === true ? <p className={className}>{t("withoutExtenders")}</p> : null;
}
