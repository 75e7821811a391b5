/** Generate reports, and run tests that open one in a browser. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const HUNG_MS = 120_000;
export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

/** Return the code of an invisible character as the report shows it. */
const code = (one) => `<U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;

/** Return a text as the report shows it, with its invisible characters replaced. */
export const seen = (text) => text.replace(/[\0\u2028\u2029\u202e]/g, code);

/** Generate reports of fixtures.py. Return by name: `url`, `bytes`, and the scan `document` that they show. */
export function reports(folder, ...names) {
  const script = join(import.meta.dirname, "fixtures.py");
  execFileSync(join(ROOT, ".venv", "bin", "python"), [script, folder, ...names], { stdio: "inherit" });
  return Object.fromEntries(
    names.map((name) => {
      const file = join(folder, `${name}.html`);
      const document = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
      return [name, { url: pathToFileURL(file).href, bytes: statSync(file).size, document }];
    }),
  );
}

/**
 * Return a function that defines a test of a report. `on(name, what, body)` calls `body(page, report)` with a new page.
 * The report has the fields of `reports`, the page's `troubles` so far, and the test `t`. All findings are visible,
 * unless `tab` is "first": then only those of the tab that a reader sees first. Whatever the body does, the page must
 * send no requests, log no errors, and run no code from names.
 */
export function browserTests(...names) {
  let browser, folder, made;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "slackwater-reports-"));
    made = reports(folder, ...names);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  return function on(name, what, body, { hash = () => "", tab = "", ...options } = {}) {
    test(what, { timeout: HUNG_MS }, async (t) => {
      const report = made[name];
      const { page, troubles } = await open(browser, report.url + hash(report.document), options);
      try {
        if (tab !== "first") await page.$$eval('[data-tab=""]', (all) => all.forEach((button) => button.click()));
        await body(page, { ...report, troubles, t });
        if (options.javaScriptEnabled !== false) assert.equal(await page.evaluate(() => window.hacked), undefined);
        assert.deepEqual(troubles, []);
      } finally {
        await page.context().close();
      }
    });
  };
}

const SETTINGS = {
  viewport: DESK, colorScheme: "light", reducedMotion: "reduce", locale: "en-GB", timezoneId: "Asia/Tokyo",
};

/** Open a page. Record what it should not do: requests (which are refused), errors and warnings, dialogs. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ ...SETTINGS, ...options });
  const troubles = [];
  const itself = url.split("#")[0];
  await context.route("**/*", (route) => {
    if (route.request().url().split("#")[0] === itself) return route.continue();
    troubles.push(`asked for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("pageerror", (error) => troubles.push(`threw ${error}`));
  page.on("websocket", (socket) => troubles.push(`asked for ${socket.url()}`));
  page.on("console", (message) => {
    if (["error", "warning", "assert"].includes(message.type())) troubles.push(`${message.type()}: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(url);
  return { page, troubles };
}
