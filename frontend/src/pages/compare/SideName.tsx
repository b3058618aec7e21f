import classes from "./Compare.module.css";

/** What a side is called, cut where it is long; whole in the title. */
export function SideName({ name }: { name: string }) {
  return (
    <span className={classes.sideName} title={name}>
      {name}
    </span>
  );
}
