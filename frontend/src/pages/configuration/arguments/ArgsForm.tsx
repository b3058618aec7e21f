/**
 * A plugin's arguments as a form made from its JSON Schema. Fetched with the first plugin that has arguments. The form
 * checks nothing itself: every change becomes edits, the server applies and judges them, and its errors stand under the
 * fields they are about.
 */
import Form, { type IChangeEvent } from "@rjsf/core";
import type { RJSFSchema, ValidatorType } from "@rjsf/utils";
import { useState } from "react";

import type { FormArgs, PluginDescription } from "@/api/configurationTypes";
import { Icon } from "@/components/Icon";

import { useEditing } from "../draft/editing";
import { argEdits, pruned } from "../draft/edits";
import { t } from "../texts";
import { shortMessage } from "../words";
import { argFields } from "./argFields";
import { type Data, sortErrors, uiSchemaOf, withoutDefaults } from "./argSchema";
import classes from "./ArgsForm.module.css";
import { schemaValidator } from "./schemaValidator";
import { type ArgsContext, argTemplates, argWidgets } from "./argTemplates";

interface ArgsFormProps {
  plugin: PluginDescription;
  args: FormArgs;
}

export default function ArgsForm({ plugin, args }: ArgsFormProps) {
  const { profile, state, readOnly, edit, examination, saved, shown } = useEditing();
  const [typed, setTyped] = useState<Data | null>(null);
  const schema = plugin.args_schema;
  if (schema === null) return null;
  const server = pruned(args.value) as Data;
  // What is typed stands until the server has answered; then the server's reading of the text does.
  const data = state.busy && typed !== null ? typed : server;
  const errors = examination.errors.filter(
    (error) => error.plugin === plugin.name && (error.profile ?? 0) === profile && error.field.length > 0,
  );
  const savedIndex = saved?.effective?.profiles.findIndex((one) => one.scheduler_name === shown.scheduler_name) ?? -1;
  const context: ArgsContext = { saved: saved?.form?.profiles[savedIndex]?.args[plugin.name]?.value };
  const onChange = ({ formData }: IChangeEvent<Data>) => {
    const now = (pruned(formData) ?? {}) as Data;
    const edits = argEdits(profile, plugin.name, data, now, args.written);
    if (edits.length === 0) return;
    setTyped(formData ?? {});
    edit(...edits);
  };
  const { known, others } = sortErrors(errors, schema);
  return (
    <div className={classes.form}>
      {others.map((error) => (
        <p key={error.text} className={classes.error} title={error.text}>
          <Icon name="warning" size={14} />
          <span>
            <span className="mono">{error.field.join(".")}</span> {shortMessage(error)}
          </span>
        </p>
      ))}
      <Form<Data>
        schema={withoutDefaults(schema) as RJSFSchema}
        uiSchema={uiSchemaOf(schema)}
        formData={data}
        formContext={context}
        validator={schemaValidator as ValidatorType<Data>}
        extraErrors={known}
        idPrefix="arg"
        tagName="div"
        noHtml5Validate
        showErrorList={false}
        readonly={readOnly}
        onChange={onChange}
        fields={argFields}
        templates={argTemplates}
        widgets={argWidgets}
        experimental_defaultFormStateBehavior={{
          emptyObjectFields: "skipDefaults",
          arrayMinItems: { populate: "never" },
        }}
      >
        <></>
      </Form>
      {args.written === null || readOnly ? null : (
        <button
          type="button"
          className={`${classes.reset} leads`}
          onClick={() => edit({ type: "removeArgs", profile, plugin: plugin.name, path: [] })}
        >
          {t("backToTheDefaultArguments")}
        </button>
      )}
    </div>
  );
}
