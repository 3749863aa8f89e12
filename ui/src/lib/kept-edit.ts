import type { BankId, EditText, ModelId } from "~/platform/bindings";

const key = (model: ModelId) => `edit.${model}`;

/** Hands a text over to the editor of a model, where a person goes on with it. */
export function keepEdit(model: ModelId, text: EditText): void {
  sessionStorage.setItem(key(model), JSON.stringify(text));
}

/** The text that was handed over, once. */
export function takeEdit(model: ModelId): EditText | null {
  const kept = sessionStorage.getItem(key(model));
  sessionStorage.removeItem(key(model));
  return kept === null ? null : (JSON.parse(kept) as EditText);
}

/** Under which the text that a person writes in the editor of a model is kept as a draft. */
export const editKey = (bank: BankId, model: ModelId) => `model ${bank} ${model}`;
