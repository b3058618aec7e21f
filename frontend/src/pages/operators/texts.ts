import { area } from "@/languages/area";
import english from "@/languages/en/operators.json";

export const { t } = area("operators", english);
