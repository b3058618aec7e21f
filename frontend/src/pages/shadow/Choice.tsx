/** One of the names that there are, or all. */
import { t } from "./texts";

export function Choice({
  value,
  known,
  onChange,
}: {
  value: string | undefined;
  known: readonly string[];
  onChange: (value: string) => void;
}) {
  const all = value === undefined || known.includes(value) ? known : [value, ...known];
  return (
    <select value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{t("all")}</option>
      {all.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}
