import { area } from "@/languages/area";
import english from "@/languages/en/tokens.json";

export const { t, rich } = area("tokens", english);
