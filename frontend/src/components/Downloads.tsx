/** The same rows as a file, in either format. */
import { ButtonAnchor } from "./Button";

export type FileFormat = "csv" | "json";
const NAMES = [
  ["csv", "CSV"],
  ["json", "JSON"],
] as const;

export function Downloads({ address }: { address: (as: FileFormat) => string }) {
  return NAMES.map(([as, name]) => (
    <ButtonAnchor key={as} size="sm" icon="download" href={address(as)} download>
      {name}
    </ButtonAnchor>
  ));
}
