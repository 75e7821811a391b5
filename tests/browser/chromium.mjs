/** Choose the Chromium for the tests: CHROMIUM names an installed one. Otherwise npm's package is unpacked once. */
import { execFileSync } from "node:child_process";
import {
  accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { chromium as playwright } from "playwright-core";

const MODULES = join(import.meta.dirname, "node_modules");
const CACHE = join(MODULES, ".cache");

/** Launch a headless Chromium. The caller closes it. */
export async function launch() {
  const { executablePath, env } = await found();
  const args = ["--disable-background-networking", "--force-color-profile=srgb"];
  return playwright.launch({ executablePath, args, env: { ...process.env, ...env } });
}

async function found() {
  const installed = process.env.CHROMIUM;
  if (installed) {
    try {
      accessSync(installed, constants.X_OK);
    } catch {
      throw new Error(`CHROMIUM=${installed} cannot be run: set it to an installed Chrome's or Chromium's executable`);
    }
    return { executablePath: installed, env: {} };
  }
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(
      `npm brings a Chromium for Linux on x86_64 only, and this is ${process.platform} on ${process.arch}: ` +
        "set CHROMIUM to an installed Chrome's or Chromium's executable",
    );
  }
  const folder = await unpacked();
  return { executablePath: join(folder, "chromium"), env: environment(folder) };
}

/**
 * Return the folder with Chromium. The folder is renamed to its final name once it is complete, so an interrupted run
 * leaves no folder that looks complete. If two runs start at once, the later one uses the earlier one's folder.
 */
async function unpacked() {
  const { version } = JSON.parse(readFileSync(join(MODULES, "@sparticuz", "chromium", "package.json"), "utf8"));
  const folder = join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, "unpacking-"));
  const { default: packed } = await import("@sparticuz/chromium");
  // The package unpacks to the temporary folder. As on Lambda, it also unpacks libraries that a bare system lacks.
  const before = { TMPDIR: process.env.TMPDIR, AWS_EXECUTION_ENV: process.env.AWS_EXECUTION_ENV };
  try {
    Object.assign(process.env, { TMPDIR: fresh, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" });
    await packed.executablePath();
    const fonts = `<dir>${join(folder, "fonts")}</dir><cachedir>${join(folder, "fonts-cache")}</cachedir>`;
    writeFileSync(join(fresh, "fonts", "fonts.conf"), `<fontconfig>${fonts}</fontconfig>\n`);
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  return folder;
}

/** Return an environment that uses the libraries and fonts beside Chromium where the system has none. */
function environment(folder) {
  const env = {};
  const libraries = execFileSync("ldd", [join(folder, "chromium")], { encoding: "utf8" });
  if (libraries.includes("not found")) env.LD_LIBRARY_PATH = join(folder, "al2023", "lib");
  if (!existsSync("/etc/fonts/fonts.conf")) env.FONTCONFIG_PATH = join(folder, "fonts");
  return env;
}
