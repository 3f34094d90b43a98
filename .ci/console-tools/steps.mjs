// Common parts of the stories: steps that print their name and their duration.
import { join } from "node:path";

/** Fails with a message unless a condition holds. */
export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

/** Names a step, so that a failure mentions it. */
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

/** Downloads a link to a folder, and returns the name of the file. */
export async function save(page, link, folder) {
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const name = download.suggestedFilename();
  await download.saveAs(join(folder, name));
  return name;
}
