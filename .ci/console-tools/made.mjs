// Makes what the demo does not have, so that each page can be opened. For a vendor: a change of many assets, an upload that has
// begun, an upload grant, a group, and a listing that was changed after its approval. For an operator: a world with a fault.

/** Sends a form of a page without leaving it, and returns the path to which it leads. */
async function send(page, action, fields) {
  const sent = await page.evaluate(async ([address, values]) => {
    const form = document.querySelector("main form[method=post]");
    const body = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(values)) body.set(name, value);
    body.delete("file");
    // A field of the form can be called `action`, too.
    const response = await fetch(address ?? form.getAttribute("action"), { method: "POST", body });
    return { status: response.status, address: response.url };
  }, [action, fields]);
  if (sent.status !== 200) throw new Error(`${action ?? page.url()}: ${sent.status}`);
  return new URL(sent.address).pathname;
}

/** Carries out an operation of the operator API. */
async function operate(base, path) {
  const headers = { authorization: "Bearer mkt_demo_operator", "content-type": "application/json" };
  const response = await fetch(`${base}/operator/v1/${path}`, { method: "POST", headers, body: "{}" });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

async function changeAssets(page) {
  await page.goto("/console/inventory");
  for (const number of [0, 1, 2]) await page.locator("main tbody input[type=checkbox]").nth(number).check();
  await page.locator("main button[name=action][value=describe]").click();
  await page.waitForURL(/\/changes\/new/);
  const { pathname, search } = new URL(page.url());
  return [pathname + search, await send(page, null, { description: "Described together." })];
}

async function beginUpload(page) {
  await page.goto("/console/inventory/add/file");
  const fields = { kind: "raw_data", title: "Ledgers", file_name: "ledgers.zip", size_bytes: "90000000" };
  return send(page, "/console/inventory/add/file", fields);
}

async function changeListing(page, base) {
  await page.goto("/console/selling/listings");
  const rows = page.locator("main tbody tr").filter({ hasText: "Changes requested" });
  const listing = new URL(await rows.first().locator("th a").evaluate((link) => link.href)).pathname;
  await page.goto(`${listing}/submit`);
  await send(page, null, {});
  await operate(base, `listings/${listing.split("/").at(-1)}/approve`);
  await page.goto(`${listing}/edit`);
  await send(page, null, { description: "Another description, and another sentence.", price: "1234.50" });
  return [`${listing}/changes`, `${listing}/reviews`];
}

/** Makes a world with a fault, as an operator. Returns its address, in a list. */
export async function makeWorld(page) {
  await page.goto("/console/operator/worlds/new");
  const world = await send(page, null, { name: "looked-at" });
  await page.goto(`${world}/faults/new?kind=jobs`);
  await send(page, null, {});
  return [world];
}

/** Makes all of it as the vendor of a page. Returns the paths of the created records. */
export async function make(page, base) {
  const [form, change] = await changeAssets(page);
  const upload = await beginUpload(page);
  await page.goto("/console/settings/grants/new");
  await send(page, null, { title: "Contractor" });
  await page.goto("/console/inventory/groups/new");
  await send(page, null, { name: "Made" });
  const compared = await changeListing(page, base);
  return { form, change, upload, compared };
}
