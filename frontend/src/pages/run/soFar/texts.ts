import { area } from "@/languages/area";
import english from "@/languages/en/soFar.json";

export const { t } = area("soFar", english);
