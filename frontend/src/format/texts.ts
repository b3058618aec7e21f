import { area } from "@/languages/area";
import english from "@/languages/en/format.json";

export const { t } = area("format", english);
