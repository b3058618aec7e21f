import { area } from "@/languages/area";
import english from "@/languages/en/configuration.json";

export const { t, rich } = area("configuration", english);
