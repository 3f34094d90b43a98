// What the stories have in common: steps that say what they did, and how long it took.
import { join } from "node:path";

/** Fails with a message unless a condition holds. */
export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

/** Says what a step does, so that a failure names it. */
export async function step(name, work) {
  const started = Date.now();
  try {
    await work();
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
  console.log(`${name}: ${Date.now() - started} ms`);
}

/** Presses a button of the content. */
export const submit = (page, name) => page.locator("main").getByRole("button", { name }).first().click();

/** Follows a link of the content. */
export const follow = (page, name) => page.locator("main").getByRole("link", { name }).first().click();

/** Saves what a link downloads in a folder, and returns the name of the file. */
export async function save(page, link, folder) {
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const name = download.suggestedFilename();
  await download.saveAs(join(folder, name));
  return name;
}
