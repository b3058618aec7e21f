import { area } from "@/languages/area";
import english from "@/languages/en/account.json";

export const { t, rich } = area("account", english);
