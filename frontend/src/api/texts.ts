import { area } from "@/languages/area";
import english from "@/languages/en/api.json";

export const { t, rich } = area("api", english);
