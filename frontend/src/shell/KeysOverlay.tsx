import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";

import { useFocusBack } from "@/components/useFocusBack";
import { keyboard, SINGLE_KEYS_OFF } from "@/keys/registry";
import { useBindings } from "@/keys/useKeys";

import classes from "./KeysOverlay.module.css";
import { t } from "./texts";

/** What `?` shows: the keys that work on this page right now, and the switch that turns single keys off. */
export default function KeysOverlay({ onClose }: { onClose: () => void }) {
  useFocusBack();
  const bindings = useBindings();
  const groups = new Map<string, (typeof bindings)[number][]>();
  for (const binding of bindings) groups.set(binding.group, [...(groups.get(binding.group) ?? []), binding]);
  const setSingle = (on: boolean) => {
    keyboard.setSingleKeys(on);
    try {
      localStorage.setItem(SINGLE_KEYS_OFF, on ? "0" : "1");
    } catch {
      // Without storage the switch lasts as long as the page.
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("keys")}
      size={560}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{
        content: classes.content ?? "",
        header: classes.header ?? "",
        title: classes.title ?? "",
        overlay: classes.scrim ?? "",
      }}
    >
      <div className={classes.groups}>
        {[...groups].map(([group, members]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {members.map((binding) => (
                <div key={binding.keys}>
                  <dt>
                    {binding.keys.split(" ").map((key) => (
                      <kbd key={key}>{key === "Escape" ? "Esc" : key}</kbd>
                    ))}
                  </dt>
                  <dd>{binding.label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className={classes.switch}>
        <input
          type="checkbox"
          checked={keyboard.singleKeys}
          onChange={(event) => setSingle(event.currentTarget.checked)}
        />
        {t("singleKeysAreOnEvery")}
      </label>
    </Modal>
  );
}
